"""What the service answers is what the tagger says."""

from __future__ import annotations

import pytest
from tests.serving.service import BUNDLE, PAGE, Service

from batag.evaluation.operating_point import steps
from batag.pages.page import Page
from batag.tagging.tagger import Tagger, distinct
from batag.tagging.top import top
from batag.terms.terms import Terms


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger.load(BUNDLE, device="cpu")


PAGES = [
    PAGE,
    {"title": "ACME レインコート 赤", "language": "ja", "id": "2"},
    {"fields": {"title": "紅色連帽外套", "specs": "棉 100%"}, "id": "3"},
    {"title": "NORDVIK 👟 <b>running</b> shoes\r\n&amp; socks"},
    {"title": ""},
]


def test_one_page_is_tagged_as_the_tagger_does(service: Service, tagger: Tagger) -> None:
    for page in PAGES:
        (found,) = service.tag(page).json()["pages"]
        assert found["tags"] == [tag.to_dict() for tag in tagger.tag(page)]
        assert found["id"] == page.get("id")
        assert found["error"] is None


def test_many_pages_are_tagged_in_order(service: Service, tagger: Tagger) -> None:
    found = service.post("/v1/tag", {"pages": PAGES}).json()["pages"]
    assert [each["tags"] for each in found] == [[tag.to_dict() for tag in tagger.tag(page)] for page in PAGES]


def test_offsets_are_those_of_the_text_that_was_sent(service: Service) -> None:
    for page in PAGES:
        texts = page.get("fields", page)
        for tag in service.tag(page, richness="rich").json()["pages"][0]["tags"]:
            assert texts[tag["field"]][tag["start"] : tag["end"]] == tag["text"]


@pytest.mark.parametrize("richness", ["clean", "rich", 0, 0.3, 1])
def test_richness_is_the_taggers(service: Service, tagger: Tagger, richness: str | float) -> None:
    found = service.tag(richness=richness).json()["pages"][0]["tags"]
    assert found == [tag.to_dict() for tag in tagger.tag(PAGE, richness)]


def test_labels_scores_top_and_distinct_choose_among_the_tags(service: Service, tagger: Tagger) -> None:
    every = tagger.tag(PAGE, "rich")
    score = sorted(tag.score or 0 for tag in every)[1]
    rich = {"richness": "rich"}

    def texts(**options: object) -> list[str]:
        return [tag["text"] for tag in service.tag(**rich, **options).json()["pages"][0]["tags"]]

    assert texts(labels=["brand"]) == [tag.text for tag in every if tag.label == "brand"]
    assert texts(labels=[]) == []
    assert texts(min_score=score) == [tag.text for tag in every if (tag.score or 0) >= score]
    assert texts(distinct=True) == [tag.text for tag in distinct(every)]
    assert len(distinct(every)) < len(every)
    assert texts(top=1) == [tag.text for tag in top(every, 1)]


def test_one_answer_has_the_tags_of_all_21_steps(service: Service, tagger: Tagger) -> None:
    found = service.tag(steps=21).json()["pages"][0]["tags"]
    assert len({tag["richness"] for tag in found}) > 1
    for step in steps():
        there = [{key: value for key, value in tag.items() if key != "richness"} for tag in found if tag["richness"] <= step]
        assert there == [tag.to_dict() for tag in tagger.tag(PAGE, step)]


def test_canonical_forms_are_in_the_language_that_a_request_asks_for(service: Service, tagger: Tagger) -> None:
    plain = service.tag(richness="rich").json()["pages"][0]["tags"]
    names: dict[str, list[str | None]] = {}
    for language in ("en", "ja"):
        terms = Terms(language=language)
        expected = [terms.meaning(tag["text"], label=tag["label"], language="en").canonical for tag in plain]
        for more in ({"richness": "rich"}, {"steps": 21}):
            found = service.tag(canonical_language=language, **more).json()["pages"][0]["tags"]
            places = [(tag["field"], tag["start"], tag["end"], tag["label"], tag["score"]) for tag in found]
            assert places == [(tag["field"], tag["start"], tag["end"], tag["label"], tag["score"]) for tag in plain]
            assert [tag.get("canonical") for tag in found] == expected
        names[language] = expected
    assert names["en"] != names["ja"]


def test_an_explanation_says_what_the_score_is_without_each_token(service: Service, tagger: Tagger) -> None:
    for tag in service.tag(richness="rich").json()["pages"][0]["tags"]:
        place = {key: tag[key] for key in ("field", "start", "end", "label")}
        found = service.post("/v1/explain", {"page": PAGE, "tag": place}).json()
        assert found["tag"] == tag
        assert found["score"] == pytest.approx(tag["score"], abs=1e-5)
        assert found["tokens_of_page"] == len(found["tokens"])
        assert any(token["inside"] for token in found["tokens"])
        for token in found["tokens"]:
            assert PAGE[token["field"]][token["start"] : token["end"]] == token["text"]
            assert token["change"] == pytest.approx(found["score"] - token["score"], abs=2e-6)
        assert any(abs(token["change"]) > 0.001 for token in found["tokens"])


def test_an_explanation_replaces_the_token_that_it_names(service: Service, tagger: Tagger) -> None:
    """The page with the token exchanged by hand, as its own tokens, has the same score."""
    page = {"title": "NORDVIK waterproof hiking boots"}
    tag = service.tag(page, richness="rich").json()["pages"][0]["tags"][0]
    place = {key: tag[key] for key in ("field", "start", "end", "label")}
    for token in service.post("/v1/explain", {"page": page, "tag": place}).json()["tokens"]:
        words = ["□" if word == token["text"] else word for word in page["title"].split()]
        text = " ".join(words)
        places, start = [], 0
        for word in words:
            places.append((start, start + len(word)))
            start += len(word) + 1
        own = Page("1", {"title": text}, language="en", tokens={"title": tuple(places)})
        spans = {(each.text, each.label): each.score for each in tagger.tags_of(next(tagger.predict([own])), 1)}
        first = words[0], tag["label"]
        if first in spans:
            assert token["score"] == pytest.approx(spans[first], abs=1e-5)


def test_a_tag_that_is_not_there_cannot_be_explained(service: Service) -> None:
    wrong = {"field": "title", "start": 8, "end": 9, "label": "brand"}
    answer = service.post("/v1/explain", {"page": PAGE, "tag": wrong})
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:batag:wrong-value")


def test_keywords_are_spans_of_the_page(service: Service) -> None:
    answer = service.post("/v1/keywords", {"pages": [PAGE, {"title": "紅色連帽外套 保暖"}], "top": 3})
    for page, found in zip([PAGE, {"title": "紅色連帽外套 保暖"}], answer.json()["pages"], strict=True):
        assert 0 < len(found["keywords"]) <= 3
        for keyword in found["keywords"]:
            place = keyword["places"][0]
            assert page[place["field"]][place["start"] : place["end"]] == keyword["text"]


def test_terms_are_explained_as_the_command_does(service: Service) -> None:
    found = service.post("/v1/terms/explain", {"texts": ["LEVIS", "リーバイス"], "label": "brand"}).json()
    assert found["same"] is True
    assert [each["canonical"] for each in found["terms"]] == ["Levi's", "Levi's"]


def test_the_bundle_says_what_it_is(service: Service, tagger: Tagger) -> None:
    (model,) = service.client.get("/v1/models").json()["models"]
    assert model["labels"] == list(tagger.labels)
    assert model["bundle"] == service.tag().json()["bundle"]
    assert model["limits"]["pages"] == 32
    assert model["engines"] == 1


def test_health_readiness_and_metrics_are_there(service: Service) -> None:
    service.tag()
    assert service.client.get("/healthz").json() == {"alive": True}
    assert service.client.get("/readyz").json() == {"ready": True, "engines": 1}
    before = service.metric("batag_pages_total")
    service.post("/v1/tag", {"pages": PAGES})
    assert service.metric("batag_pages_total") == before + len(PAGES)
    assert service.metric("batag_tags_total") > 0
    assert service.metric("batag_cache_hits_total") > 0
    assert service.metric("batag_queue_tokens") == 0
    assert service.client.head("/healthz").content == b""
