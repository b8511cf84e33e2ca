"""The sample catalogue: made-up product pages of five shops in three languages; the same seed gives the same bytes."""

from batag.sample.catalogue import LANGUAGES, SHOPS, sample_pages
from batag.sample.pool import SPLITS

__all__ = ["LANGUAGES", "SHOPS", "SPLITS", "sample_pages"]
