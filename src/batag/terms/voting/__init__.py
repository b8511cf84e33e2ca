"""Votes of names for categories: what each name counts, and which category wins."""

from batag.terms.voting.voting import ANCHOR, BROADER, FIRST, NAME, PART, SUFFIX, SURE, SYNONYM, Match, Voting

__all__ = ["ANCHOR", "BROADER", "FIRST", "NAME", "PART", "SUFFIX", "SURE", "SYNONYM", "Match", "Voting"]
