"""`batag terms`: what words mean to a shop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from batag.cli import options
from batag.cli.terminal import cell, console, counted, one_line, print_json, watched
from batag.errors import InputError, UsageError

if TYPE_CHECKING:
    from batag.terms.terms import Terms

_SHOWN = 20
_PROPOSED = ".proposed"
Tagged = Annotated[str, typer.Argument(metavar="TAGGED", help="File of tagged pages; - for standard input.")]


def explain(
    texts: Annotated[list[str], typer.Argument(metavar="TEXT", help="Texts of tags; with several, whether they are the same.")],
    label: Annotated[
        str | None, typer.Option("--label", help="Label of the tag, such as brand or goods: Apple is one or the other.")
    ] = None,
    language: options.Language = None,
    synonyms: options.Synonyms = None,
    taxonomy: options.Taxonomy = None,
    canonical_language: options.CanonicalLanguage = None,
    as_json: options.Json = False,
) -> None:
    """Say step by step what batag makes of a tag: match key, canonical form, entry of the lexicon, category."""
    from batag.pages.languages import check_language
    from batag.terms.explanation import are_same
    from batag.terms.explanation import explain as explained

    terms = _terms(synonyms, taxonomy, canonical_language or "en")
    known = None if language is None else check_language(language)
    found = [explained(terms, text, label=label, language=known) for text in texts]
    same = are_same(found) if len(found) > 1 else None
    if as_json:
        print_json(found[0] if len(found) == 1 else {"same": same, "terms": found})
        return
    for each in found:
        _show(each)
    if same is not None:
        console().print("the same" if same else "not the same", style="bold green" if same else "bold yellow")


def merge(
    tagged: Tagged,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write; its name ends in .proposed, because a person has to accept it.")
    ] = Path(f"synonyms{_PROPOSED}"),
    synonyms: options.Synonyms = None,
    taxonomy: options.Taxonomy = None,
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Propose synonyms from tagged pages, with the evidence for each, as a file to edit and accept."""
    from batag.pages.file import check_targets, open_output
    from batag.terms.forms import collect_forms
    from batag.terms.merging import as_file, propose

    if out.suffix != _PROPOSED:
        raise UsageError(
            f"--out {out} does not end in {_PROPOSED}", todo=f"Name it {out.stem}{_PROPOSED}, and accept it by renaming it"
        )
    check_targets([out, reading.problems], [tagged, synonyms, taxonomy])
    if out.exists():
        raise InputError("is there already", where=str(out), todo="Accept it by renaming it, delete it, or name another file")
    terms = _terms(synonyms, taxonomy, "en")
    with reading.collected() as found:
        forms = collect_forms(watched(reading.pages(tagged, found)), terms)
    _check_tags(len(forms), tagged)
    proposals = propose(forms)
    if proposals:
        with open_output(out) as stream:
            stream.write(as_file(proposals, source=tagged).encode())
    if as_json:
        print_json(
            {"forms": len(forms), "out": str(out) if proposals else None, "proposals": [_record(each) for each in proposals]}
        )
        return
    where = f": look at {out}" if proposals else ", so nothing was written"
    console().print(f"{counted(len(forms), 'form')} of tags, {counted(len(proposals), 'proposal')}{where}")


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Shopify's categories.txt or Google's taxonomy as downloaded (one file per language), or a CSV of paths.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Taxonomy file to write, for --taxonomy.")],
    language: options.Language = None,
    as_json: options.Json = False,
) -> None:
    """Make one taxonomy file of categories as others distribute them; files in several languages are joined by id."""
    from batag.pages.file import check_targets
    from batag.pages.languages import check_language
    from batag.terms.sources import import_taxonomy
    from batag.terms.taxonomy import write_taxonomy

    if language is not None and len(files) > 1:
        raise UsageError("--language is for one file", todo="Leave it out: the language of each file is detected")
    check_targets([out], files)
    taxonomy = import_taxonomy(files, language=None if language is None else check_language(language))
    write_taxonomy(taxonomy, out)
    if len(taxonomy) > 1 and not any(taxonomy.parents.values()):
        note = f"no path has a second level: all {len(taxonomy):,} categories are at the top. Paths are like Shoes > Boots"
        console(error=True).print(note, style="yellow")
    report = {"source": taxonomy.source, "version": taxonomy.version, "languages": list(taxonomy.languages)}
    if as_json:
        print_json(report | {"categories": len(taxonomy), "out": str(out)})
        return
    version = f" {taxonomy.version}" if taxonomy.version else ""
    console().print(
        f"{len(taxonomy):,} {'category' if len(taxonomy) == 1 else 'categories'} of {taxonomy.source}{version} in "
        f"{', '.join(taxonomy.languages)}, written to {out}"
    )


def map_(
    tagged: Tagged,
    taxonomy: Annotated[
        Path, typer.Option("--taxonomy", help="Categories for the tags: a file that `batag terms import` wrote.")
    ],
    label: Annotated[
        str | None, typer.Option("--label", help="Label of the tags to map (default: those that mean goods, else all).")
    ] = None,
    synonyms: options.Synonyms = None,
    reading: options.Reading = options.READING,
    as_json: options.Json = False,
) -> None:
    """Print the share of tags that have a category, and the tags without one by count."""
    from batag.terms.coverage import cover
    from batag.terms.forms import collect_forms

    terms = _terms(synonyms, taxonomy, "en")
    with reading.collected() as found:
        forms = collect_forms(watched(reading.pages(tagged, found)), terms)
    _check_tags(len(forms), tagged)
    report = cover(forms, label=label)
    if as_json:
        print_json(report)
        return
    _show_coverage(report, terms)


def _terms(synonyms: Path | None, taxonomy: Path | None, language: str) -> Terms:
    from batag.terms.terms import read_terms

    terms = read_terms(synonyms=synonyms, taxonomy=taxonomy, language=language)
    show_notes(terms)
    return terms


def show_notes(terms: Terms) -> None:
    """Say what is odd in the shop's synonyms, though they can be used."""
    for note in terms.synonyms.notes:
        console(error=True).print(one_line(note), style="yellow")


def _check_tags(forms: int, tagged: str) -> None:
    if not forms:
        raise InputError("has no tags", where=tagged, todo="Tag the pages first: batag tag BUNDLE PAGES --out tagged.jsonl")


def _record(proposal: Any) -> dict[str, Any]:
    evidence = [{"kind": each.kind, "words": each.words} for each in proposal.evidence]
    return {"label": proposal.label, "texts": list(proposal.texts), "tags": list(proposal.counts), "evidence": evidence}


def _show(explained: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    rows = [("text", explained["text"], "")]
    rows += [("", step["text"], step["rule"]) for step in explained["steps"]]
    rows.append(("key", explained["key"], ""))
    entry, category = explained["entry"], explained["category"]
    why = {
        "stop": "a word of advertising or no word: no tag",
        "key": "not in the lexicon: the key",
        "synonyms": "your synonyms",
    }
    said = why.get(explained["by"], "lexicon")
    rows.append(("canonical", explained["canonical"] or "-", said))
    if entry is not None:
        rows.append(("entry", f"{entry['kind']} {entry['id']}", " | ".join(entry["names"])))
    rows += [("may also be", f"{each['kind']} {each['id']}", " | ".join(each["names"][:4])) for each in explained["others"]]
    if category is not None:
        how = f"{category['by']} {category['name']}, confidence {category['confidence']:.2f}"
        rows.append(("category", f"{category['id']}  {category['path']}", how))
    for name, value, note in rows:
        table.add_row(cell(name), cell(value), cell(note))
    console().print(table)


def _show_coverage(report: dict[str, Any], terms: Terms) -> None:
    from rich.table import Table

    out = console()
    tags, forms = report["tags"], report["forms"]
    out.print(
        f"{100 * tags['mapped'] / max(tags['all'], 1):.1f} % of {counted(tags['all'], 'tag')} and "
        f"{100 * forms['mapped'] / max(forms['all'], 1):.1f} % of {counted(forms['all'], 'form')} have a category"
    )
    if report["mapped"]:
        table = Table("mapped", "tags", "category", "confidence", "by")
        for each in report["mapped"][:_SHOWN]:
            path = terms.taxonomy.path(each["category"]) if terms.taxonomy is not None else each["category"]
            table.add_row(cell(each["text"]), f"{each['tags']:,}", cell(path), f"{each['confidence']:.2f}", each["by"])
        out.print(table)
    if report["unmapped"]:
        table = Table("without a category", "tags")
        for each in report["unmapped"][:_SHOWN]:
            table.add_row(cell(each["text"]), f"{each['tags']:,}")
        out.print(table)
