from __future__ import annotations

import json
import os
import pickle
import re
import resource
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load, save
from tests.tiny import describe, exchange, make_bundle, redescribe, tiny_run, tiny_tagger

import batag
from batag.bundles import bundle as bundles
from batag.bundles.bundle import read_bundle, write_bundle
from batag.bundles.description import FORMAT
from batag.bundles.found import find_bundle
from batag.errors import BatagError, InputError
from batag.heads.torch_heads import MIXING_WEIGHT
from batag.pages.page import Page
from batag.segmentation import DICTIONARIES
from batag.segmentation.dictionary import Dictionary

FILES = ("model.safetensors", "vocabulary.json", "dictionary.txt")
COMMITTED = Path(__file__).with_name("format-1")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bundle(tmp_path_factory.mktemp("sound") / "bundle", dictionary=["Air Max", "金門 高粱"])


@pytest.fixture
def bundle(sound: Path, tmp_path: Path) -> Path:
    """A sound bundle to spoil."""
    return shutil.copytree(sound, tmp_path / "bundle")


def refused(folder: Path, *, where: str, says: str = "") -> str:
    """The one clear error of a bundle that cannot be loaded: it names the file, says what is wrong and what to do."""
    with pytest.raises(BatagError) as caught:
        batag.load(folder, device="cpu")
    error = caught.value
    assert where in error.where
    assert error.todo
    assert says in error.what
    assert len(str(error)) < 2_000
    assert str(error).isprintable()
    return str(error)


# What a sound bundle does


def test_the_weights_are_mapped_so_that_processes_share_them(sound: Path) -> None:
    before = sound.joinpath("model.safetensors").read_bytes()
    found = read_bundle(sound)
    assert "model.safetensors" in Path("/proc/self/maps").read_text()
    for name, tensor in found.weights.items():
        assert np.shares_memory(tensor.numpy(), found.arrays[name])
    found.weights["input.words.weight"].add_(1.0)
    assert sound.joinpath("model.safetensors").read_bytes() == before
    assert not torch.equal(read_bundle(sound).weights["input.words.weight"], found.weights["input.words.weight"])


def test_what_was_written_is_what_is_read(tmp_path: Path) -> None:
    words = ["a", "\ud800", "\0", "\n", '"', "\u2028", "𠮷", "ﬁ", "a ", " ", "<b>", "\\", "\ufeff"]
    folder = make_bundle(tmp_path / "b", words=words, dictionary=["Air Max", "跑鞋"], scheme="bio", classes=["型 號", 'a"b'])
    read = read_bundle(folder)
    assert list(read.vocabulary.words) == words
    assert read.dictionary is not None
    assert read.dictionary.terms == ("air max", "跑鞋")
    assert read.scheme.labels == ("none", "B-型 號", "I-型 號", 'B-a"b', 'I-a"b')
    assert (read.description.window, read.description.overlap, read.description.format) == (64, 16, FORMAT)
    weights = load((folder / "model.safetensors").read_bytes())
    assert {name: value.tolist() for name, value in read.model().state_dict().items()} == {
        name: value.tolist() for name, value in weights.items()
    }


def test_a_dictionary_comes_back_term_by_term(tmp_path: Path) -> None:
    terms = ["air max", "a\u2028b", "c\x0bd", "e\u0085f", "# g"]
    folder = make_bundle(tmp_path / "b", dictionary=terms)
    read = read_bundle(folder)
    assert read.dictionary is not None
    assert read.dictionary.terms == Dictionary(terms).terms


def test_a_trained_model_says_the_same_after_the_journey(tmp_path: Path) -> None:
    tagger = tiny_tagger()
    read = tagger.bundle
    write_bundle(
        tmp_path / "again",
        weights=read.weights,
        vocabulary=read.vocabulary,
        dictionary=read.dictionary,
        description=describe(tiny_run() / "bundle"),
    )
    page = Page("1", {"title": "NOTEL Smart Rice Cooker", "description": "a family business"})
    before, after = (next(each.predict([page])) for each in (tagger, batag.load(tmp_path / "again", device="cpu")))
    for old, new in zip(before.probabilities, after.probabilities, strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_bundle_describes_its_files_and_nothing_else_lies_in_it() -> None:
    folder = tiny_run() / "bundle"
    description = describe(folder)
    assert {path.name for path in folder.iterdir()} == {"bundle.json", *description["files"]}
    assert {name: (folder / name).stat().st_size for name in description["files"]} == {
        name: each["bytes"] for name, each in description["files"].items()
    }
    assert description["format"] == FORMAT


def test_a_bundle_that_was_copied_elsewhere_and_cannot_be_written_works(bundle: Path) -> None:
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in bundle.iterdir()}
    for path in (*bundle.iterdir(), bundle):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        batag.load(bundle, device="cpu").tag({"title": "running shoes"})
        assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in bundle.iterdir()} == before
    finally:
        bundle.chmod(0o755)


def test_a_run_and_a_link_to_a_bundle_are_loaded_like_the_bundle(tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(tiny_run() / "bundle", target_is_directory=True)
    page = {"title": "ACME 跑鞋 running shoes"}
    assert batag.load(tmp_path / "latest").tag(page) == batag.load(str(tiny_run())).tag(page) == tiny_tagger().tag(page)


def test_keys_that_a_later_batag_adds_within_the_format_do_no_harm(bundle: Path) -> None:
    def add(description: dict[str, Any]) -> None:
        for part in (
            description,
            description["scheme"],
            description["segmentation"],
            description["input"],
            description["encoder"],
            description["files"][FILES[0]],
        ):
            part["quantum"] = {"nested": [1, 2.5, None, "x"]}

    assert batag.load(redescribe(bundle, add)).labels == ("goods", "brand", "feature")


def test_a_byte_order_mark_before_the_description_does_no_harm(bundle: Path) -> None:
    path = bundle / "bundle.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert batag.load(bundle).labels == ("goods", "brand", "feature")


def test_a_new_bundle_takes_the_place_of_an_old_one(bundle: Path) -> None:
    make_bundle(bundle, classes=["color"])
    assert batag.load(bundle).labels == ("color",)
    assert [path.name for path in bundle.parent.iterdir()] == ["bundle"]
    assert sorted(path.name for path in bundle.iterdir()) == ["bundle.json", "model.safetensors", "vocabulary.json"]


def test_a_disk_that_is_full_leaves_the_old_bundle_and_nothing_else(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> Any:
        if path.name == "vocabulary.json":
            raise OSError(28, "No space left on device", str(path))
        return real(path)

    real = bundles.open_output
    monkeypatch.setattr(bundles, "open_output", full)
    with pytest.raises(OSError, match="No space left"):
        make_bundle(bundle, classes=["color"])
    assert batag.load(bundle).labels == ("goods", "brand", "feature")
    assert [path.name for path in bundle.parent.iterdir()] == ["bundle"]


def test_no_source_of_ours_can_unpickle_anything() -> None:
    root = Path(batag.__file__).parent
    sources = {path: path.read_text(encoding="utf-8") for path in root.rglob("*.py")}
    assert len(sources) > 50
    reading = re.compile(r"pickle|torch\.load|torch\.save|\bjoblib\b|\bmarshal\b|import shelve|(?<![.\w])(?:eval|exec)\(")
    assert [str(path) for path, text in sources.items() if reading.search(text)] == []


# The format's version


@pytest.mark.parametrize(
    "version", [FORMAT + 1, 99, 10**30, 0, -1, None, "1", True, 1.0, [1], "x" * 100_000], ids=lambda value: str(value)[:10]
)
def test_a_version_that_this_batag_does_not_read_is_refused(bundle: Path, version: Any) -> None:
    message = refused(
        redescribe(bundle, lambda description: description.update(format=version)), where="bundle.json", says="format"
    )
    if type(version) is int and version > FORMAT:
        assert "newer batag" in message


def test_a_description_without_a_version_is_refused(bundle: Path) -> None:
    refused(redescribe(bundle, lambda description: description.pop("format")), where="bundle.json", says="format")


# Files that are not what was written


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(bundle: Path, name: str) -> None:
    (bundle / name).unlink()
    refused(bundle, where=name, says="is missing")


def test_a_folder_without_a_description_is_no_bundle(bundle: Path) -> None:
    (bundle / "bundle.json").unlink()
    refused(bundle, where=str(bundle), says="bundle.json")


def test_a_path_that_leads_nowhere_or_to_a_file_is_no_bundle(tmp_path: Path) -> None:
    refused(tmp_path / "nothing", where="nothing", says="is not there")
    (tmp_path / "file").write_bytes(b"x")
    refused(tmp_path / "file", where="file", says="is not a folder")
    refused(tmp_path, where=str(tmp_path), says="bundle.json")


def test_an_unfinished_run_says_how_to_finish_it(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text("")
    assert f"batag train --resume {tmp_path}" in refused(tmp_path, where=str(tmp_path), says="run without a bundle")


@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.json"])
def test_a_description_that_leaves_out_a_file_is_refused(bundle: Path, name: str) -> None:
    refused(redescribe(bundle, lambda description: description["files"].pop(name)), where="bundle.json", says=name)


@pytest.mark.parametrize("place", [0, 8, -1])
@pytest.mark.parametrize("name", FILES)
def test_one_flipped_bit_is_noticed(bundle: Path, name: str, place: int) -> None:
    data = bytearray((bundle / name).read_bytes())
    data[place] ^= 1
    (bundle / name).write_bytes(data)
    refused(bundle, where=name, says="SHA-256")


def test_one_flipped_bit_in_the_description_is_never_another_description(sound: Path, bundle: Path) -> None:
    data = (sound / "bundle.json").read_bytes()
    for place in range(0, len(data), 5):
        spoilt = bytearray(data)
        spoilt[place] ^= 1 << place % 8
        (bundle / "bundle.json").write_bytes(spoilt)
        refused(bundle, where="bundle.json")


def test_a_description_that_was_changed_by_hand_is_refused_and_says_how_to_change_it(bundle: Path) -> None:
    description = describe(bundle)
    for value in ("made", "mine"):
        (bundle / "bundle.json").write_text(json.dumps(description | {"name": value}), encoding="utf-8")
        if value == description["name"]:
            assert batag.load(bundle).labels == ("goods", "brand", "feature")  # only laid out otherwise
    message = refused(bundle, where="bundle.json", says="edited by hand")
    assert "batag export" in message
    assert "dial.rich" in message


@pytest.mark.parametrize("sha256", [None, 5, [], "", "0" * 64])
def test_a_description_without_its_checksum_is_refused(bundle: Path, sha256: Any) -> None:
    (bundle / "bundle.json").write_text(json.dumps(describe(bundle) | {"sha256": sha256}), encoding="utf-8")
    refused(bundle, where="bundle.json", says="SHA-256")
    description = {key: value for key, value in describe(bundle).items() if key != "sha256"}
    (bundle / "bundle.json").write_text(json.dumps(description), encoding="utf-8")
    refused(bundle, where="bundle.json", says="SHA-256")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("size", [0, 5, -1])
def test_a_file_that_was_cut_is_refused_by_its_size(bundle: Path, name: str, size: int) -> None:
    (bundle / name).write_bytes((bundle / name).read_bytes()[:size])
    refused(bundle, where=name, says="bytes where")


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_grew_is_refused_without_being_read(bundle: Path, name: str) -> None:
    with open(bundle / name, "ab") as stream:
        stream.truncate(1 << 40)
    refused(bundle, where=name, says="bytes where")


def test_a_file_that_claims_more_than_memory_is_refused(bundle: Path) -> None:
    """A sparse file of a terabyte, announced as such: the process has 6 GB of address space."""
    with open(bundle / "model.safetensors", "ab") as stream:
        stream.truncate(1 << 40)
    redescribe(bundle, lambda description: description["files"]["model.safetensors"].update(bytes=1 << 40))
    program = (
        "import resource, sys, batag\n"
        "from batag.errors import InputError\n"
        "from batag.bundles.bundle import read_bundle\n"
        "resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))\n"
        "try: read_bundle(sys.argv[1])\n"
        "except InputError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(bundle)], capture_output=True, text=True, timeout=60, check=False)
    assert "Error" not in done.stderr, done.stderr[-500:]
    assert "model.safetensors" in done.stdout


@pytest.mark.parametrize("name", FILES)
def test_a_folder_or_a_pipe_in_place_of_a_file_is_refused_at_once(bundle: Path, name: str) -> None:
    (bundle / name).unlink()
    (bundle / name).mkdir()
    refused(bundle, where=name, says="is not a file")
    (bundle / name).rmdir()
    os.mkfifo(bundle / name)
    refused(bundle, where=name, says="is not a file")


def test_a_folder_or_a_pipe_in_place_of_the_description_is_refused_at_once(bundle: Path) -> None:
    (bundle / "bundle.json").unlink()
    (bundle / "bundle.json").mkdir()
    refused(bundle, where=str(bundle))
    (bundle / "bundle.json").rmdir()
    os.mkfifo(bundle / "bundle.json")
    refused(bundle, where=str(bundle))


# Names that lead elsewhere


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/etc/passwd",
        "a/b",
        "..",
        ".",
        "",
        "model.safetensors\0",
        "\0",
        "bundle.json",
        "C:\\x",
        "\x1b[31mred\nline",
        "x" * 9999,
    ],
    ids=lambda name: repr(name)[:15],
)
def test_a_file_name_that_is_not_one_of_a_bundles_is_refused(bundle: Path, name: str) -> None:
    (bundle.parent / "x").write_bytes(b"")
    entry = {"sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "bytes": 0}
    refused(redescribe(bundle, lambda found: found["files"].update({name: entry})), where="bundle.json", says="files")


@pytest.mark.parametrize("name", FILES)
def test_a_link_that_leads_out_of_the_bundle_is_refused(bundle: Path, name: str) -> None:
    shutil.move(bundle / name, bundle.parent / "elsewhere")
    (bundle / name).symlink_to(bundle.parent / "elsewhere")
    refused(bundle, where=name, says="link to a file outside")
    (bundle / name).unlink()
    (bundle / name).symlink_to("../elsewhere")
    refused(bundle, where=name, says="link to a file outside")
    (bundle / name).unlink()
    (bundle / name).symlink_to("/dev/zero")
    refused(bundle, where=name, says="link to a file outside")


def test_a_link_inside_the_bundle_is_followed(bundle: Path) -> None:
    (bundle / "model.safetensors").rename(bundle / "weights")
    (bundle / "model.safetensors").symlink_to("weights")
    assert batag.load(bundle).labels == ("goods", "brand", "feature")


def test_a_link_to_itself_is_refused(bundle: Path) -> None:
    (bundle / "model.safetensors").unlink()
    (bundle / "model.safetensors").symlink_to("model.safetensors")
    refused(bundle, where="model.safetensors")


@pytest.mark.parametrize(
    "file",
    [
        {},
        {"sha256": "0" * 64},
        {"sha256": "0" * 64, "bytes": -1},
        {"sha256": "0" * 64, "bytes": 10**30},
        {"sha256": "0" * 64, "bytes": "many"},
        {"sha256": "0" * 63, "bytes": 1},
        {"sha256": "Z" * 64, "bytes": 1},
        {"sha256": None, "bytes": 1},
        [],
        None,
        "x",
    ],
    ids=str,
)
def test_what_is_said_of_a_file_must_be_a_size_and_a_digest(bundle: Path, file: Any) -> None:
    message = refused(
        redescribe(bundle, lambda description: description["files"].update({"model.safetensors": file})), where=str(bundle)
    )
    assert "model.safetensors" in message


# A description that is none


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"null",
        b"[]",
        b'"bundle"',
        b"7",
        b"{}",
        b"{",
        b'{"format": 1',
        b'{"format": 1}',
        b"\xff\xfe\x00",
        b'{"format": 1, "name": "\xff"}',
        b"\x80\x04\x95",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'{"format": ' + b"9" * 100_000 + b"}",
        b"NaN",
        b'{"format": NaN}',
    ],
    ids=lambda data: repr(data[:12]),
)
def test_a_description_that_is_not_one_is_refused(bundle: Path, data: bytes) -> None:
    (bundle / "bundle.json").write_bytes(data)
    refused(bundle, where="bundle.json")


def test_a_description_of_gigabytes_is_refused_without_being_read(bundle: Path) -> None:
    with open(bundle / "bundle.json", "ab") as stream:
        stream.truncate(1 << 40)
    refused(bundle, where="bundle.json", says="bytes where at most")


def _set(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(description: dict[str, Any]) -> None:
        *parents, key = path.split(".")
        for parent in parents:
            description = description[parent]
        description[key] = value

    return change


NOT_FITTING: list[tuple[str, Any]] = [
    ("encoder.width", 10**9),
    ("encoder.width", 0),
    ("encoder.width", -8),
    ("encoder.width", 8.5),
    ("encoder.width", 10**400),
    ("encoder.width", 16),
    ("encoder.width", None),
    ("encoder.heads", 3),
    ("encoder.heads", 0),
    ("encoder.depth", 2),
    ("encoder.depth", 1_000),
    ("encoder.depth", 10**6),
    ("encoder.inner", 65_536),
    ("encoder.inner", 10**12),
    ("encoder.dropout", 1.0),
    ("encoder.dropout", "NaN"),
    ("encoder.position", "relative"),
    ("encoder.position", "affine"),
    ("encoder.name", "transformer"),
    ("encoder.name", "bta"),
    ("encoder.name", ""),
    ("encoder.name", "os"),
    ("encoder.name", "../bat"),
    ("encoder.name", "x" * 100_000),
    ("encoder.name", None),
    ("encoder.options", {"attention_scale": "none"}),
    ("encoder.options", {"unheard": 1}),
    ("encoder.options", {"width": 8}),
    ("encoder.options", {"name": "bat"}),
    ("encoder.options", {"self": 1}),
    ("encoder.options", {"attention_scale": ["head"]}),
    ("encoder.options", {"": 1}),
    ("encoder.options", []),
    ("encoder", []),
    ("input.kind", "word"),
    ("input.kind", "deep"),
    ("input.ngram_buckets", 10_000_000),
    ("input.ngram_buckets", 10**12),
    ("input.ngram_buckets", 0),
    ("input.shape_buckets", 1_000_000),
    ("input.max_ngram", 0),
    ("input.max_ngram", 10**9),
    ("input", None),
    ("window", 10**12),
    ("window", 100_000),
    ("window", 1),
    ("window", -5),
    ("window", "wide"),
    ("overlap", -1),
    ("overlap", 10**12),
    ("overlap", 64),
    ("overlap", 65),
    ("segmentation.name", "klingon"),
    ("segmentation.name", "os"),
    ("segmentation.name", ""),
    ("segmentation.rules", ["html", "magic"]),
    ("segmentation.rules", "html"),
    ("segmentation.rules", None),
    ("scheme.name", "iobes"),
    ("scheme.name", "bio"),
    ("scheme.classes", []),
    ("scheme.classes", ["goods", "goods", "brand"]),
    ("scheme.classes", ["goods", "none", "brand"]),
    ("scheme.classes", ["goods", "", "brand"]),
    ("scheme.classes", "goods"),
    ("scheme.classes", [f"c{number}" for number in range(20_000)]),
    ("files", []),
    ("files", {}),
    ("name", 5),
    ("metrics", []),
]


@pytest.mark.parametrize(
    ("key", "value"), NOT_FITTING, ids=[f"{key}={str(value)[:20]}-{number}" for number, (key, value) in enumerate(NOT_FITTING)]
)
def test_a_description_that_does_not_fit_is_refused(bundle: Path, key: str, value: Any) -> None:
    message = refused(redescribe(bundle, _set(key, value)), where=str(bundle))
    assert "bundle.json" in message


def test_a_description_of_the_largest_network_there_may_be_takes_no_memory(bundle: Path) -> None:
    def grow(description: dict[str, Any]) -> None:
        description["encoder"] |= {"width": 65_536, "heads": 2, "inner": 65_536}
        description["input"] |= {"ngram_buckets": 10_000_000, "shape_buckets": 1_000_000}

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(redescribe(bundle, grow), where="model.safetensors", says="does not fit")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


BOMBS: list[tuple[str, dict[str, Any]]] = [
    ("switch", {"experts": 10**9}),
    ("switch", {"experts": 10**18}),
    ("switch", {"experts": 10**30}),
    ("switch", {"experts": 2_000}),
    ("performer", {"features": 10**9}),
    ("performer", {"features": 10**30}),
    ("informer", {"factor": 10**400}),
    ("muse", {"kernels": "999999999"}),
    ("muse", {"kernels": "9" * 30}),
]


@pytest.mark.parametrize(("name", "options"), BOMBS, ids=[f"{name}-{str(options)[:24]}" for name, options in BOMBS])
def test_what_an_encoder_claims_to_be_costs_nothing_before_its_weights_are_there(
    tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    """The process may take no more than 300 MB on top of what a sound bundle takes."""
    sizes = {"name": name, "width": 8, "depth": 1, "heads": 2, "inner": 16}
    bundle = make_bundle(tmp_path / "bundle", encoder=sizes | {"options": {"experts": 2} if name == "switch" else {}})
    read_bundle(bundle)
    redescribe(bundle, lambda description: description["encoder"].update(options=options))
    allowed = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + 300_000
    tracemalloc.start()
    try:
        refused(bundle, where=str(bundle))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < allowed


def test_layers_are_not_made_before_there_are_weights_for_them(bundle: Path) -> None:
    refused(
        redescribe(bundle, _set("encoder.depth", 1_000)), where="model.safetensors", says="too little for encoder.depth = 1000"
    )


# Words that are none


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'"words"',
        b"{}",
        b'{"words": {}}',
        b'{"words": "abc"}',
        b'{"words": null}',
        b'{"words": [1, 2]}',
        b'{"words": ["a", null]}',
        b'{"words": ["a", "a"]}',
        b'{"words": [["a"]]}',
        b"[" * 200_000,
        b'{"words": ["\xff"]}',
    ],
    ids=lambda data: repr(data[:20]),
)
def test_a_vocabulary_that_is_none_is_refused(bundle: Path, data: bytes) -> None:
    refused(exchange(bundle, "vocabulary.json", data), where="vocabulary.json", says="not a vocabulary")


@pytest.mark.parametrize("words", [["only"], [str(number) for number in range(1000)], []], ids=len)
def test_a_vocabulary_of_another_model_is_refused(bundle: Path, words: list[str]) -> None:
    refused(exchange(bundle, "vocabulary.json", json.dumps({"words": words}).encode()), where=str(bundle), says="does not fit")


# Weights that are none


def _header(header: Any, body: bytes = b"", *, length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + body


def _tensor(shape: list[Any], start: Any, end: Any, dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "seven bytes": b"1234567",
    "no header": (0).to_bytes(8, "little"),
    "huge header": _header({}, length=2**63),
    "largest header": _header({}, length=2**64 - 1),
    "header past the end": _header({}, length=1_000),
    "header that is not JSON": _header(b"{not json}"),
    "header that is a list": _header([]),
    "header that is not UTF-8": _header(b"\xff\xfe{}"),
    "deep header": _header(b"[" * 100_000),
    "overlap": _header({"a": _tensor([2], 0, 8), "b": _tensor([2], 4, 12)}, bytes(12)),
    "hole": _header({"a": _tensor([1], 0, 4), "b": _tensor([1], 8, 12)}, bytes(12)),
    "past the end": _header({"a": _tensor([100], 0, 400)}, bytes(4)),
    "backwards": _header({"a": _tensor([1], 4, 0)}, bytes(4)),
    "negative offset": _header({"a": _tensor([1], -4, 0)}, bytes(4)),
    "negative shape": _header({"a": _tensor([-1], 0, 4)}, bytes(4)),
    "huge shape": _header({"a": _tensor([2**62, 2**62], 0, 4)}, bytes(4)),
    "huge empty shape": _header({"a": _tensor([0, 2**62], 0, 0)}),
    "too huge shape": _header({"a": _tensor([10**30], 0, 4)}, bytes(4)),
    "fraction": _header({"a": _tensor([1.5], 0, 4)}, bytes(4)),
    "wrong size": _header({"a": _tensor([3], 0, 4)}, bytes(4)),
    "unknown dtype": _header({"a": _tensor([1], 0, 4, "F33")}, bytes(4)),
    "odd dtype": _header({"a": _tensor([4], 0, 4, "F8_E8M0")}, bytes(4)),
    "tiny dtype": _header({"a": _tensor([8], 0, 4, "F4")}, bytes(4)),
    "trailing": _header({"a": _tensor([1], 0, 4)}, bytes(400)),
    "metadata that is a list": _header({"__metadata__": [1]}),
    "no tensor": _header({}),
    "name of a thousand letters": _header({"x" * 100_000: _tensor([1], 0, 4)}, bytes(4)),
    "name that is no line": _header({"\x1b[31mred\n": _tensor([1], 0, 4)}, bytes(4)),
    "numpy": b"\x93NUMPY" + bytes(100),
    "zip": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_weights_that_are_none_are_refused_even_with_the_right_digest(bundle: Path, data: bytes) -> None:
    refused(exchange(bundle, "model.safetensors", data), where="model.safetensors")


def test_truncated_weights_are_refused_even_with_the_right_digest(bundle: Path) -> None:
    data = (bundle / "model.safetensors").read_bytes()
    for size in (1, 8, 100, len(data) // 2, len(data) - 1):
        refused(exchange(bundle, "model.safetensors", data[:size]), where="model.safetensors", says="safetensors")


def _reshaped(name: str) -> Callable[[dict[str, torch.Tensor]], object]:
    return lambda weights: weights.update({name: weights[name].reshape(1, -1)})


NOT_THESE: dict[str, Callable[[dict[str, torch.Tensor]], object]] = {
    "a spare tensor": lambda weights: weights.update(spare=torch.zeros(1)),
    "a spare tensor whose name is no line": lambda weights: weights.update({"\x1b[31mred\n": torch.zeros(1)}),
    "a missing tensor": lambda weights: weights.pop("head.weight"),
    "another shape": _reshaped("head.weight"),
    "transposed": lambda weights: weights.update({"head.weight": weights["head.weight"].T.contiguous()}),
    "double": lambda weights: weights.update({"head.weight": weights["head.weight"].double()}),
    "a scale of nothing": lambda weights: weights.update({"nothing.scale": torch.ones(1)}),
    "a scale of other rows": lambda weights: weights.update({"head.weight.scale": torch.ones(1_000)}),
    "a scale without rows": lambda weights: weights.update({"head.weight.scale": torch.tensor(1.0)}),
    "brain": lambda weights: weights.update({"head.weight": weights["head.weight"].bfloat16()}),
    "whole": lambda weights: weights.update({"head.weight": weights["head.weight"].int()}),
    "complex": lambda weights: weights.update({"head.weight": weights["head.weight"].to(torch.complex64)}),
    "NaN": lambda weights: weights["head.bias"].fill_(float("nan")),
    "infinite": lambda weights: weights["input.words.weight"].view(-1)[-1:].fill_(float("inf")),
    "empty": lambda weights: weights.update({"head.weight": torch.zeros(0)}),
}


@pytest.mark.parametrize("spoil", NOT_THESE.values(), ids=NOT_THESE.keys())
def test_weights_that_are_not_those_of_the_encoder_are_refused(bundle: Path, spoil: Callable[..., object]) -> None:
    weights = load((bundle / "model.safetensors").read_bytes())
    spoil(weights)
    refused(exchange(bundle, "model.safetensors", save(weights)), where="model.safetensors")


class _Trap:
    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> Any:
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.json", "bundle.json"])
def test_a_pickle_in_place_of_a_file_runs_nothing(bundle: Path, tmp_path: Path, name: str) -> None:
    torch.save({"head.weight": _Trap(tmp_path / "sprung")}, tmp_path / "model.pt")
    for data in (pickle.dumps(_Trap(tmp_path / "sprung")), (tmp_path / "model.pt").read_bytes()):
        if name == "bundle.json":
            (bundle / name).write_bytes(data)
        else:
            exchange(bundle, name, data)
        refused(bundle, where=name)
    assert not (tmp_path / "sprung").exists()
    pickle.loads(pickle.dumps(_Trap(tmp_path / "sprung")))  # it would have, had anybody unpickled it
    assert (tmp_path / "sprung").exists()


def test_weights_of_a_sound_bundle_may_carry_metadata(bundle: Path) -> None:
    weights = load((bundle / "model.safetensors").read_bytes())
    exchange(bundle, "model.safetensors", save(weights, metadata={"made": "by hand"}))
    assert batag.load(bundle).labels == ("goods", "brand", "feature")


# The committed bundle, which tests/bundles/remake.py made


@pytest.mark.parametrize("engine", ["onnx", "torch"])
def test_the_committed_bundle_loads_and_tags_as_recorded(engine: str) -> None:
    tagger = batag.load(COMMITTED, engine=engine, device="cpu")
    description = tagger.bundle.description
    assert description.format == FORMAT
    cases = json.loads(COMMITTED.with_suffix(".expected.json").read_text(encoding="utf-8"))
    if description.dictionaries != {name: version(name) for name in DICTIONARIES}:
        # Other dictionaries may know other parts of speech of Chinese and Japanese words.
        cases = [case for case in cases if case["page"]["language"] == "en"]
    assert sum(len(case["tags"]) for case in cases) > 10
    for case, tags in zip(cases, tagger.tag_many(case["page"] for case in cases), strict=True):
        found = [[tag.field, tag.start, tag.end, tag.label, tag.text] for tag in tags]
        assert found == [each[:5] for each in case["tags"]]
        assert [tag.score for tag in tags] == pytest.approx([each[5] for each in case["tags"]], abs=1e-4)


def test_the_committed_bundle_has_all_that_a_bundle_may_have_and_is_small() -> None:
    description = read_bundle(COMMITTED).description
    assert set(description.engines) == {"torch", "onnx"}
    assert [each.kind for each in description.features] == ["word_vectors"]
    assert description.fields == ["title", "description"]
    assert set(description.languages) == {"zh-Hant", "ja", "en"}
    assert len(description.dial) == 3
    assert sum(path.stat().st_size for path in COMMITTED.iterdir()) < 500_000


@pytest.mark.parametrize("mixing_weight", [-0.1, 1.5, 3e38])
def test_a_mixing_weight_outside_0_to_1_is_refused(tmp_path: Path, mixing_weight: float) -> None:
    folder = make_bundle(tmp_path / "bundle", head={"window_crf": 1, "window_crf_buckets": 50})
    weights = dict(read_bundle(folder).weights)
    assert weights[MIXING_WEIGHT] == 0.5
    exchange(folder, "model.safetensors", save(weights | {MIXING_WEIGHT: torch.tensor(mixing_weight)}))
    with pytest.raises(InputError, match=r"window_crf\.mixing_weight is .*, not from 0 to 1"):
        read_bundle(folder).model()


@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.json"])
def test_a_bundle_that_does_not_list_what_every_bundle_has_is_refused_whichever_engine_it_claims(
    bundle: Path, name: str
) -> None:
    def change(description: dict[str, Any]) -> None:
        del description["files"][name]
        description["engines"] = {"torch": {"tokens_per_second": 1.0}, "torch-int8": {"tokens_per_second": 2.0}}

    redescribe(bundle, change)
    with pytest.raises(InputError, match=f"does not list {name}"):
        batag.load(bundle)


def test_a_name_that_is_misspelt_is_answered_with_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_bundle(tmp_path / "shop")
    monkeypatch.chdir(tmp_path)
    for name, meant in (("shp", "Did you mean shop?"), ("stater", "Did you mean starter?"), ("nope", "Name the folder")):
        with pytest.raises(InputError) as caught:
            find_bundle(Path(name))
        assert caught.value.todo.startswith(meant)
        assert "a bundle, a finished run or a shop, or starter" in caught.value.todo
    with pytest.raises(InputError, match=r"Did you mean .*/shop\?"):
        find_bundle(tmp_path / "shp")
