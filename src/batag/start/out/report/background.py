"""The sections about how the tags came about: columns, sources, problems, notes, and what to type next."""

from __future__ import annotations

from batag.start.out.report.bars import bars
from batag.start.out.report.data import ReportData
from batag.start.out.report.sections import section
from batag.start.out.report.text import plain
from batag.start.out.report.words import number, read_words, say, say_label

_EXAMPLES, _EXAMPLE, _COLUMNS, _REASONS, _COMMANDS = 3, 60, 50, 12, 10


def problems(data: ReportData) -> str:
    """Rows that could not be tagged, by reason."""
    survey = data.survey
    if not survey.errors:
        return ""
    firsts = {reason[:200]: where for where, reason in reversed(survey.problems)}
    rows = [
        f'<tr><td class="number">{number(count)}</td><td dir="auto">{plain(reason, 200)}</td>'
        f"<td>{plain(firsts.get(reason, ''), 120)}</td></tr>"
        for reason, count in survey.reasons.most_common(_REASONS)
    ]
    heads = f'<th class="number">{say("problems.rows")}</th><th>{say("problems.reason")}</th><th>{say("problems.where")}</th>'
    table = f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    text = f"<p>{say('problems.text', count=survey.errors, rows=survey.rows)}</p>"
    return section("problems", say("problems.title"), text, table)


def made(data: ReportData) -> str:
    """Columns that were read, and what the tagger learned from."""
    facts, body = data.facts, list[str]()
    if facts.columns:
        rows = []
        for each in list(facts.columns)[:_COLUMNS]:
            shown = " · ".join(plain(example, _EXAMPLE) for example in each.examples[:_EXAMPLES])
            rows.append(
                f'<tr><th>{plain(each.field, _EXAMPLE)}</th><td dir="auto">{plain(each.column, _EXAMPLE)}</td>'
                f'<td class="example" dir="auto">{shown}</td></tr>'
            )
        heads = "".join(f"<th>{say(f'made.{name}')}</th>" for name in ("field", "column", "examples"))
        table = f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
        body.append(f"<h3>{say('made.columns')}</h3>{table}")
    learned = [(source, count) for source, count in facts.learned_from.items() if count]
    if learned:
        known = read_words("en")
        named = [(say(f"source.{each}") if f"source.{each}" in known else plain(each, 60), count) for each, count in learned]
        body.append(f"<h3>{say('made.learned')}</h3>{bars(named, of=0, kind='none')}")
    if facts.scores:
        rows = [f"<tr><th>{say_label(label)}</th><td>{100 * score:.1f}</td></tr>" for label, score in facts.scores.items()]
        body.append(f"<h3>{say('made.scores')}</h3><table><tbody>{''.join(rows)}</tbody></table>")
    return section("made", say("made.title"), *body) if body else ""


def notes(data: ReportData) -> str:
    """What is to be said about the tables, in English as the command line says it."""
    if not data.notes:
        return ""
    listed = "".join(f"<li>{plain(each, 500)}</li>" for each in data.notes)
    return section("notes", say("notes.title"), f'<ul lang="en">{listed}</ul>')


def next_steps(data: ReportData) -> str:
    """Commands to type next."""
    if not data.facts.commands:
        return ""
    known = read_words("en")
    listed = []
    for each in list(data.facts.commands)[:_COMMANDS]:
        meant = f"<p>{say(f'next.{each.key}')}</p>" if f"next.{each.key}" in known else ""
        listed.append(f"<li>{meant}<pre><code>{plain(each.text, 500)}</code></pre></li>")
    return section("next", say("next.title"), f'<ol class="steps">{"".join(listed)}</ol>')
