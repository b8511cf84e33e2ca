"""The description of the API: all paths, examples that hold, and requests made from it by the thousand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS
from schemathesis.generation import GenerationMode
from schemathesis.schemas import APIOperation
from tests.serving.service import Service, serving

from batag.serving.access.keys import add_key
from batag.serving.openapi import asked
from batag.serving.openapi.answered import TAG
from batag.serving.problem import KINDS
from batag.serving.routes import ROUTES
from batag.terms.terms import Terms

DOCS = Path(__file__).parents[2] / "docs" / "serving.md"
NOT_HERE = ("/v1/models/reload",)
"""Asked for once, not hundreds of times: it starts processes."""
MAY_REFUSE = ("/v1/explain",)
"""Only a tag that the page has can be explained, which no schema says."""


@pytest.fixture(scope="module")
def description(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = service.client.get("/openapi.json").json()
    return found


def operations(description: dict[str, Any]) -> list[APIOperation[Any, Any, Any, Any]]:
    return [found.ok() for found in schemathesis.openapi.from_dict(description).get_all_operations()]


def test_every_path_is_described(description: dict[str, Any]) -> None:
    described = {(method.upper(), path) for path, each in description["paths"].items() for method in each}
    assert described == {*ROUTES}


def test_every_path_and_every_kind_of_problem_stands_in_the_docs() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert [path for _, path in ROUTES if f"`{path}`" not in text] == []
    assert [kind for kind in KINDS if f"`{kind}`" not in text] == []


def test_the_description_is_openapi_and_its_examples_fit_their_schemas(description: dict[str, Any]) -> None:
    schemathesis.openapi.from_dict(description).validate()
    seen = 0
    for name, schema in description["components"]["schemas"].items():
        whole = schema | {"components": description["components"], "$schema": "https://json-schema.org/draft/2020-12/schema"}
        for example in schema.get("examples", ()):
            jsonschema_rs.validate(whole, example)
            seen += 1
        assert "examples" in schema or not name.endswith("Request")
    assert seen >= 12


def test_what_is_described_by_hand_is_what_the_engine_knows() -> None:
    from batag.pages.languages import LANGUAGES
    from batag.serving.engines.body import METHODS

    assert tuple(LANGUAGES) == asked.LANGUAGES
    assert METHODS == asked.METHODS


def test_keys_stand_in_the_description_of_a_service_that_needs_them(tmp_path: Path) -> None:
    add_key(tmp_path / "keys.json", "one", ["tag"])
    with serving(tmp_path, "--engines", 1, "--keys", tmp_path / "keys.json") as service:
        found = service.client.get("/openapi.json").json()
    assert {*found["components"]["securitySchemes"]} == {"key", "session"}
    assert found["paths"]["/v1/tag"]["post"]["security"]
    assert "security" not in found["paths"]["/healthz"]["get"]
    assert "401" in found["paths"]["/v1/tag"]["post"]["responses"]


def test_the_examples_are_answered(service: Service, description: dict[str, Any]) -> None:
    for path, name in (("/v1/tag", "TagRequest"), ("/v1/keywords", "KeywordsRequest"), ("/v1/terms/explain", "TermsRequest")):
        for example in description["components"]["schemas"][name]["examples"]:
            assert service.post(path, example).status_code == 200


class Asking:
    """Asks for what a description allows, and for what it does not; every answer is checked against it."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.asked = 0

    def ask(self, operation: APIOperation[Any, Any, Any, Any], mode: GenerationMode, *, cases: int) -> None:
        left_out = {"positive_data_acceptance"} if operation.path in MAY_REFUSE else set()
        checks = [CHECKS.get_one(name) for name in CHECKS.get_all_names() if name not in left_out]

        def one(case: Any) -> None:
            self.asked += 1
            case.call_and_validate(base_url=self.service.url, checks=checks)

        how = settings(
            max_examples=cases, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
        )
        how(given(case=operation.as_strategy(generation_mode=mode))(one))()


def check_answers(service: Service, description: dict[str, Any], *, cases: int) -> int:
    """Ask for so many cases of all paths; returns how many were asked."""
    asking = Asking(service)
    chosen = [each for each in operations(description) if each.path not in NOT_HERE]
    share = cases // sum(bool(each.body) for each in chosen) // 2
    for operation in chosen:
        asking.ask(operation, GenerationMode.POSITIVE, cases=share if operation.body else 2)
        if operation.body:
            asking.ask(operation, GenerationMode.NEGATIVE, cases=share)
    return asking.asked


def test_a_few_hundred_made_requests_have_answers_of_the_described_shape(service: Service, description: dict[str, Any]) -> None:
    assert check_answers(service, description, cases=300) >= 250


@pytest.mark.long
def test_ten_thousand_made_requests_have_answers_of_the_described_shape(service: Service, description: dict[str, Any]) -> None:
    assert check_answers(service, description, cases=11_000) >= 10_000


def test_the_reload_is_answered_as_described(service: Service, description: dict[str, Any]) -> None:
    (operation,) = (each for each in operations(description) if each.path == "/v1/models/reload")
    operation.Case().call_and_validate(base_url=service.url)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(title=st.text(max_size=60), rest=st.text(max_size=200))
def test_any_text_is_tagged_and_every_tag_of_it_can_be_explained(service: Service, title: str, rest: str) -> None:
    page = {"title": title, "description": rest + " NORDVIK boots 靴"}
    answer = service.tag(page, steps=21)
    assert answer.status_code == 200, answer.text
    for tag in answer.json()["pages"][0]["tags"][:3]:
        assert page[tag["field"]][tag["start"] : tag["end"]] == tag["text"]
        place = {key: tag[key] for key in ("field", "start", "end", "label")}
        assert service.post("/v1/explain", {"page": page, "tag": place}).status_code == 200


def test_the_canonical_form_of_the_example_is_the_real_one() -> None:
    assert Terms().meaning(TAG["text"], label="brand", language="en").canonical == TAG["canonical"]
    assert f'"canonical": "{TAG["canonical"]}"' in DOCS.read_text(encoding="utf-8")
