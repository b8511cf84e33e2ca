"""Every job of the page in a real browser, against a real service. All in one file, so that one worker has the only browser."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect
from tests.browser.conftest import Visit, visiting
from tests.browser.example import LOCALES, SHOWN, Example, ask, catalogue, clipboard, facts, highlighted, submit, violations
from tests.serving.service import Service, serving

ATTACK = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
TRICKY = {
    "emoji": "👟🏃🏽‍♀️ NORDVIK 🥾 hiking boots 👨‍👩‍👧‍👦 NORDVIK 🇹🇼 waterproof",
    "combining and rare characters": "𠮷野 NORDVIK é 𝒩 boots が NORDVIK",
    "CRLF and CR": "NORDVIK\r\nhiking boots\r\n\r\nNORDVIK boots\rNORDVIK",
    "full width": "ＮＯＲＤＶＩＫ　防水登山鞋　ＮＯＲＤＶＩＫ（黑色）",
    "half-width kana": "NORDVIK ﾄﾚｯｷﾝｸﾞｼｭｰｽﾞ 防水 NORDVIK",
    "HTML": "<p>NORDVIK <b>hiking</b> boots</p><br>&amp; &lt;NORDVIK&gt; <!-- x --> boots",
    "script": f"NORDVIK {ATTACK} boots {{{{x}}}} ${{1}}",
    "right to left": "NORDVIK \u202eboots\u202c שלום NORDVIK",
}


@pytest.mark.parametrize("language", LOCALES)
def test_the_empty_page_says_what_to_do_in_the_readers_language(visit: Visit, language: str) -> None:
    page, words = visit(language), catalogue(language)
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page).to_have_title(words["page.title"])
    for key in ("result.empty", "result.empty.todo", "top.none", "why.none", "editor.title"):
        expect(page.get_by_text(words[key], exact=True)).to_be_visible()
    assert page.locator("nav").count() == 0
    assert page.get_by_role("group", name=words["editor.examples"]).get_by_role("button").count() == 6
    assert violations(page) == []


def asked_of(service: Service, example: Example, **options: Any) -> list[dict[str, Any]]:
    """The tags of the example with the names of the reader's language."""
    return ask(service, example.given, canonical_language=example.language, **options)


def test_the_slider_shows_what_the_service_would_answer_without_asking_it(example: Example, service: Service) -> None:
    page = example.page
    expect(page.locator(".tagged")).to_have_attribute("lang", example.language)
    assert highlighted(page) == facts(asked_of(service, example))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    seen = set()
    for step in (0, 7, 20):
        example.turn(step)
        tags = asked_of(service, example, richness=step / 20)
        assert highlighted(page) == facts(tags)
        seen.add(len(tags))
        best = asked_of(service, example, richness=step / 20, top=8)
        assert page.locator(".top-text > bdi:first-child").all_inner_texts() == [tag["text"] for tag in best]
    assert len(seen) > 1
    assert asked == []


def test_a_tag_tells_its_score_canonical_form_and_source(example: Example, service: Service) -> None:
    page, words = example.page, example.words
    tag = asked_of(service, example)[0]
    shown, tip = page.locator(SHOWN).first, page.get_by_role("tooltip")
    for reach in (shown.hover, shown.focus):
        reach()
        for text in (f"{round(tag['score'] * 100)}%", tag["canonical"], words["source.model"], words[f"label.{tag['label']}"]):
            expect(tip).to_contain_text(text)
        expect(shown).to_have_attribute("aria-describedby", "tip")
        page.keyboard.press("Escape")
        expect(tip).to_be_hidden()
        page.mouse.move(0, 0)


def test_why_shows_the_words_that_moved_a_tag_most(example: Example, service: Service) -> None:
    page, given = example.page, example.given
    tag = asked_of(service, example)[0]
    example.choose()
    expect(page.get_by_role("tooltip")).to_be_hidden()  # the card says the same
    body = {"page": given, "tag": {key: tag[key] for key in ("field", "start", "end", "label")}}
    tokens = service.post("/v1/explain", body).json()["tokens"]
    moved = sorted((each for each in tokens if abs(each["change"]) >= 0.005), key=lambda each: -abs(each["change"]))[:6]
    assert page.locator(".bar-row th").all_inner_texts() == [each["text"] for each in moved]
    points = [int(each.replace("−", "-")) for each in page.locator(".bar-row .score").all_inner_texts()]
    assert points == pytest.approx([each["change"] * 100 for each in moved], abs=0.51)
    expect(page.locator(".why-tag")).to_have_text(tag["text"])
    expect(page.locator(".why")).to_contain_text(example.words["why.note.other"].replace("{count}", str(len(tokens))))


def test_tags_are_copied_as_json_and_csv(example: Example, service: Service) -> None:
    page, words, tags = example.page, example.words, asked_of(service, example)
    page.get_by_role("button", name=words["copy.as"].format(format="JSON")).click()
    expect(page.locator(".result-head [role=status]")).to_have_text(words["copy.done"])
    written = {"language": example.language, **example.given, "error": None, "tags": tags, "reviewed": False}
    assert json.loads(clipboard(page)) == written
    page.get_by_role("button", name=words["copy.as"].format(format="CSV")).click()
    expect(page.locator(".copies .done")).to_have_count(1)
    expect(page.get_by_role("button", name="CSV").locator(".done")).to_be_visible()
    rows = list(csv.DictReader(io.StringIO(clipboard(page))))
    assert [(row["field"], row["label"], int(row["start"]), row["text"]) for row in rows] == facts(tags)
    assert [float(row["score"]) for row in rows] == [tag["score"] for tag in tags]


def test_the_drawer_has_the_same_request_for_curl_and_python(example: Example, service: Service) -> None:
    page, words = example.page, example.words
    example.turn(13)
    page.get_by_text(words["drawer.title"]).click()
    command = shlex.split(page.locator("pre").inner_text().replace("\\\n", " "))
    body = json.loads(command[command.index("-d") + 1])
    assert command[2] == f"{service.url}/v1/tag"
    assert service.post("/v1/tag", body).json()["pages"][0]["tags"] == asked_of(service, example, richness=0.65)
    page.get_by_role("button", name="Python").click()
    code = page.locator("pre").inner_text()
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    tags = asked_of(service, example, richness=0.65)
    assert printed.getvalue() == "".join(f"{tag['label']} {tag['text']} {tag['score']}\n" for tag in tags)
    page.get_by_role("button", name=words["copy.copy"], exact=True).click()
    expect(page.get_by_role("button", name=words["copy.done"], exact=True)).to_be_visible()
    assert clipboard(page).strip() == code.strip()
    page.get_by_text(words["drawer.title"]).click()


def test_axe_finds_nothing_wrong_in_any_language_theme_and_width(example: Example) -> None:
    page = example.page
    example.choose()
    page.locator("summary").click()
    page.locator(SHOWN).last.hover()
    expect(page.get_by_role("tooltip")).to_be_visible()
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 740})
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("summary").click()


@pytest.mark.parametrize("language", LOCALES)
def test_what_went_wrong_is_said_in_the_readers_language_and_can_be_tried_again(visit: Visit, language: str) -> None:
    refusals: list[Any] = [
        ("full", "1", lambda route: route.fulfill(status=503, headers={"Retry-After": "1"}, json=problem("full", 503))),
        ("unreachable", "1", lambda route: route.abort()),
        ("unreadable", "1", lambda route: route.fulfill(status=502, body="<html>")),
    ]
    waiting = list(refusals)
    answer = lambda route: waiting.pop(0)[2](route) if waiting else route.continue_()  # noqa: E731
    page, words = visit(language, routes={"/v1/tag": answer}, errors=False), catalogue(language)
    page.locator("#title").fill("NORDVIK hiking boots")
    for kind, seconds, _ in refusals:
        box = page.get_by_role("alert")
        expect(box).to_contain_text(words[f"problem.{kind}"])
        expect(box).to_contain_text(words.get(f"problem.{kind}.todo", "").replace("{seconds}", seconds))
        page.get_by_role("button", name=words["problem.retry"]).click()
    expect(page.locator(SHOWN).first).to_be_visible()
    assert page.get_by_role("alert").count() == 0


def test_offsets_hold_and_markup_is_shown_as_text_whatever_is_pasted(visit: Visit, service: Service) -> None:
    page = visit()
    page.locator(".under select").select_option("en")
    counts = {}
    for name, text in TRICKY.items():
        submit(page, text)
        given = page.locator("#description").input_value()
        assert page.locator(".tagged-description").evaluate(
            "field => { const copy = field.cloneNode(true);"
            " copy.querySelectorAll('.hidden').forEach(each => each.remove()); return copy.textContent; }"
        ) == re.sub(r"\r\n?", "\n", text), name
        tags = ask(service, {"language": "en", "description": given})
        assert highlighted(page) == facts(tags), name
        assert all(given[tag["start"] : tag["end"]] == tag["text"] for tag in tags)
        counts[name] = len(tags)
        page.locator(SHOWN).first.hover()
        assert page.locator("img, main script, .tagged b").count() == 0
    assert min(counts.values()) >= 1
    assert page.title() == catalogue("en")["page.title"]
    with page.expect_response("**/v1/tag"):  # half of a pair, which fill() would not type
        page.locator("#description").evaluate("area => area.value = 'NORDVIK \\ud83d NORDVIK'")
        page.locator("#description").dispatch_event("input")
    expect(page.locator(".tagged-description")).to_contain_text("\ufffd")
    assert highlighted(page) == facts(ask(service, {"language": "en", "description": "NORDVIK \ufffd NORDVIK"}))


def test_markup_in_labels_terms_and_errors_is_shown_as_text(visit: Visit) -> None:
    tag = {"field": "description", "start": 2, "end": 9, "label": ATTACK, "text": "NORDVIK", "score": 0.9, "richness": 0}
    tag |= {"normal": ATTACK, "canonical": ATTACK, "category": ATTACK, "source": ATTACK}
    model = {"name": ATTACK, "bundle": "0", "labels": [ATTACK], "dial": True, "limits": {"page_characters": 1000}}
    explained = {"score": 0.9, "tokens_of_page": 1, "tokens": [{**tag, "text": ATTACK, "inside": True, "change": 0.5}]}
    tagged = {"id": None, "language": ATTACK, "error": None, "tags": [tag]}
    routes = {
        "/v1/models": lambda route: route.fulfill(json={"models": [model]}),
        "/v1/tag": lambda route: route.fulfill(json={"pages": [tagged]}),
        "/v1/explain": lambda route: route.fulfill(json=explained),
    }
    page = visit(routes=routes, errors=False)
    submit(page, "🥾 NORDVIK")
    assert highlighted(page) == [("description", ATTACK, 2, "NORDVIK")]
    page.locator(SHOWN).click()
    for place in (".tip", ".facts", ".legend", ".top-list", ".bar-row th"):
        expect(page.locator(place).first).to_contain_text(ATTACK)
    page.unroute_all()
    page.context.unroute_all()
    page.context.route("**/v1/tag", lambda route: route.fulfill(status=422, json=problem(ATTACK, 422)))
    page.locator("#description").fill("again")
    expect(page.get_by_role("alert")).to_contain_text(ATTACK)
    assert page.locator("img, main script").count() == 0
    assert page.title() == catalogue("en")["page.title"]


def test_no_line_moves_when_the_slider_does_and_labels_can_be_hidden(visit: Visit) -> None:
    example = Example.pick(visit(), "en")
    page, places = example.page, set()
    for step in range(0, 21, 4):
        example.turn(step)
        boxes = [page.locator(each).bounding_box() for each in (".tagged", ".tagged-description", ".parts", ".drawer")]
        places.add(json.dumps(boxes))
    assert len(places) == 1
    example.turn(10)
    brand = page.get_by_role("button", name="Brand 1")
    brand.click()
    expect(brand).to_have_attribute("aria-pressed", "false")
    assert "brand" not in {label for _, label, *_ in highlighted(page)}
    brand.click()
    assert "brand" in {label for _, label, *_ in highlighted(page)}


def test_everything_can_be_done_with_the_keyboard(visit: Visit) -> None:
    page = visit()
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to content")).to_be_focused()
    page.locator("#title").focus()
    page.keyboard.insert_text("NORDVIK hiking boots trail running shoes")
    expect(page.locator(SHOWN).first).to_be_visible()  # typing alone is enough
    page.keyboard.press("Control+Enter")
    page.locator("#dial").focus()
    page.keyboard.press("End")
    assert page.locator(f"{SHOWN}[tabindex='0']").count() == 1
    page.locator(f"{SHOWN}[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    second = page.locator(SHOWN).nth(1)
    expect(second).to_be_focused()
    page.keyboard.press("Enter")
    expect(second).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".bar-row th").first).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator(SHOWN).first).to_be_focused()
    page.get_by_role("button", name="Clear").press("Enter")
    expect(page.get_by_text("No page yet")).to_be_visible()
    expect(page.locator("#title")).to_be_focused()
    assert page.locator("#title").input_value() == ""


def test_another_language_of_the_page_has_its_own_canonical_names(visit: Visit, service: Service) -> None:
    example = Example.pick(visit(), "en")
    names = example.page.locator(".top-text .muted")
    before = names.all_inner_texts()
    example.page.get_by_label("Language of this page").select_option("ja")
    best = ask(service, example.given, top=8, canonical_language="ja")
    shown = [tag["canonical"] for tag in best if tag["canonical"].lower() != tag["text"].lower()]
    assert shown != before
    expect(names).to_have_text(shown)


def test_language_and_theme_are_remembered(visit: Visit) -> None:
    page, words = visit(), catalogue("ja")
    page.get_by_label("Language of this page").select_option("ja")
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    page.get_by_role("button", name=words["theme.system"]).click()
    page.get_by_role("button", name=words["theme.light"]).click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_text(words["result.empty"], exact=True)).to_be_visible()


def test_a_text_over_the_limit_is_refused_before_it_is_sent(visit: Visit) -> None:
    sent: list[Route] = []
    page = visit(routes={"/v1/tag": lambda route: sent.append(route)})
    expect(page.locator(".legend-label").first).to_be_visible()
    page.locator("#description").fill("🥾" * 100_001)
    expect(page.get_by_role("alert")).to_contain_text(catalogue("en")["problem.too-long"])
    assert sent == []


@pytest.mark.parametrize("language", LOCALES)
def test_a_service_with_keys_asks_for_one_and_says_that_it_is_wrong(visit: Visit, language: str) -> None:
    def session(route: Route) -> None:
        if route.request.method == "POST":
            route.fulfill(status=401, json=problem("no-key", 401))
        else:
            route.fulfill(json={"open": False, "scopes": [], "csrf": None})

    page, words = visit(language, routes={"/v1/session": session}, errors=False), catalogue(language)
    field = page.get_by_label(words["sign-in.key"], exact=True)
    field.fill("batag_wrong")
    page.get_by_role("button", name=words["sign-in.enter"]).click()
    expect(page.get_by_role("alert")).to_contain_text(words["problem.wrong-key"])
    expect(field).to_be_focused()
    assert violations(page) == []


@pytest.mark.long
def test_a_key_becomes_a_session_that_outlives_a_reload_and_ends(
    browser: Browser, batag: Callable[..., Any], tmp_path: Path
) -> None:
    keys = tmp_path / "keys.json"
    made = batag("keys", "add", "anna", "--scope", "tag", "--keys", keys, "--json")
    (key,) = re.findall(r"batag_[\w-]+", made.stdout)
    with serving(tmp_path, "--engines", 1, "--keys", keys) as service, visiting(browser, service.url) as visit:
        page, words = visit(), catalogue("en")
        page.get_by_label(words["sign-in.key"], exact=True).fill(key)
        page.keyboard.press("Enter")
        Example.pick(page, "en").choose()
        assert key not in page.evaluate("JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])")
        page.reload()
        example = Example.pick(page, "en")
        assert "$BATAG_KEY" in page.locator("pre").text_content()
        page.get_by_role("button", name=words["sign-in.leave"]).click()
        expect(page.get_by_label(words["sign-in.key"], exact=True)).to_be_visible()
        assert service.tag(example.given).status_code == 401


def problem(kind: str, status: int) -> dict[str, Any]:
    return {"type": f"urn:batag:{kind}", "title": kind, "status": status, "detail": kind, "where": "", "todo": ""}
