"""How a shop's tags are named: the names of brands that `batag start` took from its column, and the synonyms of people."""

import json
from contextlib import suppress
from pathlib import Path

from batag.bundles.shop import current_bundle, is_shop
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
    bundle = Path(bundle)
    if is_shop(bundle):
        bundle = current_bundle(bundle)
    folder = bundle.absolute().parent
    if synonyms is None and folder.name == "bundles" and is_shop(folder.parent):
        own = folder.parent / "terms" / "synonyms.txt"
        synonyms = own if own.is_file() else None
    found, brands = _read(file_of(bundle)) if bundle.name else (None, {})
    read = read_terms(synonyms=synonyms, taxonomy=taxonomy, language=language or found or "en")
    if not brands or read.language != found:
        return read
    return Terms(
        synonyms=Synonyms(brands | dict(read.synonyms.canonical), read.synonyms.notes),
        taxonomy=read.taxonomy,
        language=read.language,
    )


def _read(path: Path) -> tuple[str | None, dict[str, str]]:
    """The language and the names (match key to canonical form) in a file; nothing if it is not there or damaged."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        found = json.loads(path.read_bytes())
        brands = {key: name for key, name in found["brands"].items() if isinstance(name, str) and name}
        return (found["language"], brands) if found["language"] in LANGUAGES else (None, {})
    return None, {}
