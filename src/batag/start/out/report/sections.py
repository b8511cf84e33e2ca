"""The sections of the report; one without anything to show is empty."""

from __future__ import annotations

from collections.abc import Sequence

from batag.pages.duplicates import Groups, fingerprint
from batag.pages.page import Page
from batag.start.out.names import Names
from batag.start.out.report.bars import bars, chips, histogram
from batag.start.out.report.data import ReportData
from batag.start.out.report.highlight import dimmed, label_class, shown_page
from batag.start.out.report.text import plain
from batag.start.out.report.words import number, percent, say, say_label
from batag.start.out.review import unsure
from batag.tagging.top import is_shown

_NAME = 60
_TOP, _NEW, _PAGES, _REVIEW, _MISSING, _REASONS = 15, 20, 20, 10, 200, 10


def section(name: str, title: str, *body: str) -> str:
    """A section with its heading."""
    return f'<section id="{name}"><h2>{title}</h2>{"".join(body)}</section>'


def figures(data: ReportData) -> str:
    """The most important numbers."""
    survey = data.survey
    total = survey.tags.total()
    variants = say("kpi.variants", count=survey.variants) if survey.variants else ""
    tiles = [(number(survey.pages), say("kpi.pages"), variants)]
    tiles.append((number(total), say("kpi.tags"), say("kpi.tags.more", mean=f"{survey.mean_length:.1f}")))
    for label in survey.labels[:3]:
        different = say("kpi.forms", count=len(survey.forms[label].counts))
        tiles.append((percent(survey.with_label[label], survey.pages), say("kpi.with", label=label), different))
    made = "".join(f"<li><b>{value}</b><span>{name}</span><small>{more}</small></li>" for value, name, more in tiles)
    return f'<ul class="figures">{made}</ul>'


def coverage(data: ReportData) -> str:
    """Pages with each label, and with nothing."""
    survey = data.survey
    made = [
        bars(
            [(say_label(label), survey.with_label[label])], of=survey.pages, kind=label_class(label, survey.labels), share=True
        )
        for label in survey.labels
    ]
    made.append(bars([(say("coverage.nothing"), survey.tagless)], of=survey.pages, kind="none", share=True))
    return section("coverage", say("coverage.title"), f"<p>{say('coverage.text', pages=survey.pages)}</p>", *made)


def lengths(data: ReportData) -> str:
    """How many tags the pages have."""
    survey = data.survey
    text = say("lengths.text", median=survey.median_length, mean=f"{survey.mean_length:.1f}")
    return section("lengths", say("lengths.title"), f"<p>{text}</p>", histogram(survey.lengths))


def most_frequent(data: ReportData) -> str:
    """The most frequent tags of each label."""
    survey, made = data.survey, []
    for label in survey.labels:
        found = survey.forms[label].most(_TOP)
        kind = label_class(label, survey.labels)
        listed = bars([(plain(data.names.form(form), _NAME), count) for form, count in found], of=survey.pages, kind=kind)
        body = listed if found else f'<p class="quiet">{say("top.none")}</p>'
        made.append(f'<div class="column"><h3><span class="key {kind}"></span>{say_label(label)}</h3>{body}</div>')
    return section("top", say("top.title"), f"<p>{say('top.text')}</p>", f'<div class="columns">{"".join(made)}</div>')


def new_brands(data: ReportData) -> str:
    """Brands that no list and no column has."""
    survey, check = data.survey, data.facts.new_brands
    if not any(label in survey.labels for label in ("brand",)) and not survey.brands:
        return ""
    kind = label_class("brand", survey.labels)
    rows = []
    for each in survey.new_brands(_NEW):
        example = f'{dimmed(each.before)}<mark class="{kind}">{plain(each.text, _NAME)}</mark>{dimmed(each.after)}'
        rows.append(
            f'<tr><th dir="auto">{plain(each.text, _NAME)}</th><td class="number">{number(each.pages)}</td>'
            f'<td class="number">{each.score:.2f}</td><td class="example" dir="auto">{example}</td></tr>'
        )
    count = len(survey.brands)
    heads = "".join(
        f'<th class="{kind}">{say(f"new.{name}")}</th>'
        for name, kind in (("brand", ""), ("pages", "number"), ("score", "number"), ("example", "example"))
    )
    body = [f"<p>{say('new.text', count=count) if rows else say('new.none')}</p>"]
    if rows:
        body.append(f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>')
    if count > _NEW:
        body.append(f'<p class="quiet">{say("new.more", count=count - _NEW)}</p>')
    if check is not None:
        shares = {"found": f"{100 * check.found:.0f}%", "right": f"{100 * check.right:.0f}%"}
        body.append(f'<p class="aside">{say("new.check", brands=check.brands, **shares)}</p>')
    return section("new", say("new.title"), *body)


def tagged_pages(data: ReportData) -> str:
    """Pages drawn at random with their tags in the text."""
    pages = unlike(data.pages, _PAGES)
    if not pages:
        return ""
    labels = data.survey.labels
    cards = [
        f"<article><header>{plain(page.id, 80)}</header>{shown_page(page, labels)}{_forms(page, labels, data.names)}</article>"
        for page in pages
    ]
    text = f"<p>{say('pages.text')}</p>"
    return section(
        "pages",
        say("pages.title", count=len(pages)),
        text,
        legend(labels),
        f'<div class="cards flowing">{"".join(cards)}</div>',
    )


def legend(labels: Sequence[str]) -> str:
    """Which colour and mark is which label."""
    marks = "".join(f'<mark class="{label_class(label, labels)}">{say_label(label)}</mark>' for label in labels)
    return f'<p class="legend">{marks}</p>'


def _forms(page: Page, labels: Sequence[str], names: Names) -> str:
    """The canonical forms of a page."""
    found = dict.fromkeys((tag.label, names.of(tag)) for tag in page.tags if is_shown(tag))
    ordered = sorted(found, key=lambda each: labels.index(each[0]) if each[0] in labels else len(labels))
    made = [f'<span class="key {label_class(label, labels)}"></span>{plain(name, _NAME)}' for label, name in ordered]
    return chips(made[:20]) if made else f'<p class="quiet">{say("pages.notags")}</p>'


def dial(data: ReportData) -> str:
    """How many tags there are at each setting."""
    if not data.dial:
        return ""
    labels = data.survey.labels
    most = max(sum(point.a_page.values()) for point in data.dial) or 1
    rows, examples = [], []
    for point in data.dial:
        total = sum(point.a_page.values())
        shares = [(label_class(label, labels), 100 * point.a_page.get(label, 0) / most) for label in labels]
        pieces = "".join(f'<span class="bar {kind}" style="width:{share:.2f}%"></span>' for kind, share in shares)
        name = say(f"dial.{point.name}")
        rows.append(
            f'<li><span class="name">{name}</span><span class="track">{pieces}</span>'
            f'<span class="value"><b>{total:.1f}</b></span></li>'
        )
        if point.example is not None:
            examples.append(f"<article><header>{name}</header>{shown_page(point.example, labels)}</article>")
    text = f"<p>{say('dial.text', count=len(data.pages))}</p>"
    shown = f'<h3>{say("dial.example")}</h3><div class="cards three">{"".join(examples)}</div>' if examples else ""
    return section(
        "dial", say("dial.title"), text, legend(labels), f'<ol class="bars shares stacked">{"".join(rows)}</ol>', shown
    )


def to_review(data: ReportData) -> str:
    """The pages to label first."""
    pages = data.to_review[:_REVIEW]
    if not pages:
        return ""
    labels = data.survey.labels
    cards = []
    for page in pages:
        doubtful = unsure(page)
        why = [
            f'<span class="key {label_class(tag.label, labels)}"></span><span dir="auto">{plain(tag.text, _NAME)}</span> '
            f"{tag.score or 0:.2f}"
            for tag in doubtful
        ]
        there = {tag.label for tag in page.tags}
        why += [say("review.missing", label=label) for label in labels[:2] if label not in there]
        head = f'<span class="quiet">{say("review.unsure")}</span>' if doubtful else ""
        cards.append(
            f"<article><header>{plain(page.id, 80)}</header>{shown_page(page, labels, unsure=doubtful)}"
            f'<div class="why">{head}{chips(why)}</div></article>'
        )
    text = f"<p>{say('review.text', count=len(data.to_review), shown=len(pages))}</p>"
    return section("review", say("review.title"), text, legend(labels), f'<div class="cards">{"".join(cards)}</div>')


def missing(data: ReportData) -> str:
    """Terms that stand on no page, by label."""
    terms, survey = data.facts.not_found, data.survey
    if not terms:
        return ""
    key = "missing.text" if data.facts.terms >= len(terms) else "missing.text.some"
    body = [f"<p>{say(key, count=len(terms), terms=data.facts.terms)}</p>"]
    by_label: dict[str, list[str]] = {}
    for each in terms:
        by_label.setdefault(each.label, []).append(each.text)
    room = _MISSING // max(len(by_label), 1)
    for label, texts in list(by_label.items())[:_REASONS]:
        left = len(texts) - room
        more = f'<p class="quiet">{say("missing.more", count=left)}</p>' if left > 0 else ""
        shown = chips([f'<span dir="auto">{plain(text, _NAME)}</span>' for text in texts[:room]])
        key = f'<span class="key {label_class(label, survey.labels)}"></span>'
        body.append(f"<h3>{key}{say_label(label)} <small>{number(len(texts))}</small></h3>{shown}{more}")
    return section("missing", say("missing.title"), *body)


def unlike(pages: Sequence[Page], most: int) -> list[Page]:
    """The first pages without near-duplicates of earlier ones."""
    groups = Groups()
    for page in pages:
        groups.add(fingerprint(page))
    firsts: dict[int, Page] = {}
    for page, group in zip(pages, groups.of(), strict=True):
        firsts.setdefault(group, page)
    return list(firsts.values())[:most]
