"""How a shop's tags are named: the names of brands that `batag start` took from its column, and the synonyms of people."""

import json
from collections.abc import Mapping
from pathlib import Path

from batag.bundles.shop import current_bundle, is_shop, shop_of
from batag.errors import InputError
from batag.pages.languages import LANGUAGES
from batag.terms.synonyms import Synonyms
from batag.terms.terms import Terms, read_terms

SUFFIX = ".names.json"
"""What stands behind the name of a shop's bundle in the name of the file beside it."""


def file_of(bundle: Path) -> Path:
    """The file with the names that belong to a bundle of a shop."""
    return bundle.with_name(bundle.name + SUFFIX)


def terms_for(
    bundle: Path | str,
    *,
    synonyms: Path | str | None = None,
    taxonomy: Path | str | None = None,
    language: str | None = None,
) -> Terms:
    """The terms for the tags of a bundle. For a shop they name tags as its tables do: in its language, with its brands' own
    names, and with `terms/synonyms.txt` if no other file is given. Another language has only the lexicon's names."""
    bundle = (current_bundle(Path(bundle)) if is_shop(Path(bundle)) else Path(bundle)).resolve()
    names = file_of(bundle) if bundle.name else None
    if synonyms is None and (shop := shop_of(bundle)) is not None:
        own = shop / "terms" / "synonyms.txt"
        synonyms = own if own.is_file() else None
    found, brands = _read(names) if names is not None and names.is_file() else (None, {})
    read = read_terms(synonyms=synonyms, taxonomy=taxonomy, language=language or found or "en")
    if not brands or read.language != found:
        return read
    joined = Synonyms(_joined(brands, read.synonyms.canonical), read.synonyms.notes)
    return Terms(synonyms=joined, taxonomy=read.taxonomy, language=read.language)


def _joined(brands: Mapping[str, str], people: Mapping[str, str]) -> dict[str, str]:
    """The canonical forms of both, by match key. Where people name a brand, all its names follow."""
    renamed = {brands[key]: name for key, name in people.items() if key in brands}
    return {key: renamed.get(name, name) for key, name in brands.items()} | dict(people)


def _read(path: Path) -> tuple[str, dict[str, str]]:
    """The language and the names (match key to canonical form) in a file."""
    try:
        found = json.loads(path.read_bytes())
        if found["language"] not in LANGUAGES or not all(isinstance(name, str) for name in found["brands"].values()):
            raise ValueError("it has other names than batag writes")
        return found["language"], found["brands"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"is damaged ({error})", where=str(path), todo="Run batag start again: it writes it anew") from error
