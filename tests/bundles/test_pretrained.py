from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save
from tests.tiny import QUICK, as_dict, catalogue, exchange, make_bundle, redescribe

import batag
from batag.bundles.bundle import read_bundle
from batag.bundles.description import FORMAT
from batag.engines import build_engine
from batag.engines.export import export
from batag.errors import InputError
from batag.heads.prediction import probabilities
from batag.pages.formats import write_pages


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with word vectors, which are gone afterwards: a bundle carries them."""
    folder = tmp_path_factory.mktemp("pretrained")
    rng = np.random.default_rng(0)
    words = sorted({word for page in catalogue(20) for field in page.fields.values() for word in field.split()})
    lines = [f"{word} {' '.join(f'{value:.3f}' for value in rng.normal(size=5))}" for word in words if " " not in word]
    vectors = folder / "vectors.txt"
    vectors.write_text("\n".join(lines), encoding="utf-8")
    write_pages(catalogue(20), folder / "train.jsonl")
    settings = [*QUICK, "training.epochs=1", "head.window_crf=0", f"input.vectors={vectors}"]
    dev = catalogue(5, split="dev")
    batag.train(folder / "train.jsonl", dev=dev, out=folder / "run", settings=as_dict(*settings), device="cpu")
    vectors.unlink()
    return folder / "run"


@pytest.fixture
def bundle(run: Path, tmp_path: Path) -> Path:
    import shutil

    return shutil.copytree(run / "bundle", tmp_path / "bundle")


def test_a_bundle_carries_its_vectors_and_says_so(run: Path, bundle: Path) -> None:
    described = read_bundle(bundle).description
    (feature,) = described.features
    assert (described.format, feature.kind, feature.language, feature.width) == (FORMAT, "word_vectors", None, 5)
    page = catalogue(3, split="test")[0]
    assert batag.load(bundle).tag(page) == batag.load(run).tag(page)


def test_engines_look_vectors_up_as_the_classifier_does(bundle: Path) -> None:
    found = read_bundle(bundle)
    model, engine = found.model(), build_engine("torch", found, device="cpu")
    words = [["新", "words"], [word for page in catalogue(3) for word in page["title"].split()]]
    for asked, values in zip(words, engine.probabilities(words), strict=True):
        np.testing.assert_allclose(values, probabilities(model, [asked], torch.device("cpu"))[0], atol=1e-5)


@pytest.mark.long
def test_a_bundle_with_vectors_is_exported_and_needs_no_torch(bundle: Path) -> None:
    pages = catalogue(5, split="test")
    found = read_bundle(bundle)
    words = [page["title"].split() for page in pages]
    assert not export(found, engine="onnx", pages=[(each, [-1] * len(each)) for each in words]).refused
    program = (
        "import sys, batag; tagger = batag.load(sys.argv[1], engine='onnx'); tagger.tag({'title': sys.argv[2]}); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program, bundle, pages[0]["title"]], check=False).returncode == 0
    one, other = (batag.load(bundle, engine=name).engine.probabilities(words) for name in ("torch", "onnx"))
    for left, right in zip(one, other, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-4)


def test_vectors_reach_the_tags(bundle: Path) -> None:
    pages = catalogue(5, split="test")
    before = [[tag.score for tag in tags] for tags in batag.load(bundle).tag_many(pages)]
    found = read_bundle(bundle)
    table = found.pretrained
    assert table is not None
    rows = len(json.loads((bundle / "word_vectors.json").read_bytes())) + 1
    exchange(bundle, "word_vectors.safetensors", save({"vectors": torch.full((rows, 5), 7.0).cumsum(1)}))
    assert [[tag.score for tag in tags] for tags in batag.load(bundle).tag_many(pages)] != before


@pytest.mark.parametrize("name", ["word_vectors.json", "word_vectors.safetensors"])
def test_a_vector_file_that_is_missing_changed_or_not_listed_is_refused(bundle: Path, name: str) -> None:
    data = (bundle / name).read_bytes()
    (bundle / name).write_bytes(data[:-1] + b"x")
    with pytest.raises(InputError, match=r"SHA-256"):
        read_bundle(bundle)
    (bundle / name).unlink()
    with pytest.raises(InputError, match="is missing"):
        read_bundle(bundle)
    (bundle / name).write_bytes(data)
    with pytest.raises(InputError, match=f"does not list {name}"):
        read_bundle(redescribe(bundle, lambda description: description["files"].pop(name)))


@pytest.mark.parametrize(
    "table",
    [
        {"vectors": torch.zeros(3, 5)},
        {"vectors": torch.zeros(3, 4)},
        {"other": torch.zeros(3, 5)},
        {"vectors": torch.full((3, 5), float("nan"))},
        {"vectors": torch.zeros(3, 5, dtype=torch.float64)},
    ],
)
def test_vectors_that_do_not_fit_are_refused_when_they_are_loaded(bundle: Path, table: dict[str, torch.Tensor]) -> None:
    exchange(bundle, "word_vectors.safetensors", save(table))
    with pytest.raises(InputError, match=r"vectors\.safetensors: does not fit"):
        batag.load(bundle)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"width": 6}, "does not fit"),
        ({"kind": "character_vectors"}, "does not fit"),
        ({"files": ["word_vectors.ja.json", "word_vectors.ja.safetensors"]}, r"does not list word_vectors\.ja"),
        ({"files": ["../secret.json", "word_vectors.safetensors"]}, "pattern"),
        ({"files": []}, "neither two files"),
        ({"kind": "pickle"}, "word_vectors"),
    ],
)
def test_pretrained_features_that_do_not_fit_their_files_are_refused(bundle: Path, change: dict[str, Any], says: str) -> None:
    redescribe(bundle, lambda described: described["features"][0].update(change))
    with pytest.raises(InputError, match=says):
        batag.load(bundle)


def test_files_that_somebody_put_into_the_backbone_are_refused(tmp_path: Path) -> None:
    made = make_bundle(tmp_path / "made")
    (made / "backbone").mkdir()
    (made / "backbone" / "modeling.py").write_text("raise SystemExit")
    with pytest.raises(InputError, match=r"modeling\.py: is not a file of this bundle"):
        read_bundle(made)


# The dial and the calibration


def points(*rows: tuple[float, float, float]) -> list[dict[str, Any]]:
    classes = ("goods", "brand", "feature")
    made = [{"richness": at, "beta": 1.0, "offsets": {"goods": one, "brand": other, "feature": 0.0}} for at, one, other in rows]
    assert all(set(point["offsets"]) == set(classes) for point in made)
    return made


@pytest.mark.parametrize(
    ("dial", "says"),
    [
        (points((0, 0, 0), (1, -1, 0)), "falls"),
        (points((0, 0, 0), (0.5, 1, 0)), "0 to 1"),
        (points((1, 0, 0), (0, 1, 0)), "0 to 1"),
        (points((0, 0, 0), (0, 0, 0), (1, 1, 0)), "0 to 1"),
        (
            [{"richness": 0, "beta": 1, "offsets": {"goods": 0}}, {"richness": 1, "beta": 1, "offsets": {}}],
            "classes",
        ),
        ([{"richness": at, "beta": 1, "offsets": {"goods": 0}} for at in (0, 1)], "its classes"),
    ],
)
def test_a_dial_that_is_none_is_refused(tmp_path: Path, dial: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_bundle(make_bundle(tmp_path / "b", dial=dial))


@pytest.mark.parametrize(
    "line",
    [
        {"raw": [0.0, 1.0], "probability": [0.0]},
        {"raw": [0.5, 0.1], "probability": [0, 1]},
        {"raw": [0, 1], "probability": [1, 0]},
    ],
)
def test_a_calibration_that_does_not_rise_is_refused(tmp_path: Path, line: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="increasing function"):
        read_bundle(make_bundle(tmp_path / "b", calibration={"method": "none", "errors": {}} | line))
