from __future__ import annotations

import gzip
import json
import resource
import shutil
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save
from tests.tiny import tiny_backbone

from batag.encoders.input import TokenEmbedding, tensors
from batag.errors import InputError, UsageError
from batag.features.backbone import Backbone
from batag.features.featurizer import Featurizer
from batag.features.pretrained import PretrainedFeatures, join
from batag.features.vocabulary import Vocabulary
from batag.features.word_vectors import WordVectors, read_vectors, vector_files

WORDS = {"shoe": [1.0, 2.0, 3.0], "跑鞋": [-1.0, 0.5, 0.25]}


def as_text(heading: bool) -> bytes:
    lines = [f"{len(WORDS)} 3"] if heading else []
    return "\n".join([*lines, *(f"{word} {' '.join(map(str, row))}" for word, row in WORDS.items()), ""]).encode()


def as_binary() -> bytes:
    rows = (word.encode() + b" " + struct.pack("<3f", *row) + b"\n" for word, row in WORDS.items())
    return f"{len(WORDS)} 3\n".encode() + b"".join(rows)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("glove.txt", as_text(False)),
        ("w2v.vec", as_text(True)),
        ("tabs.txt", as_text(True).replace(b" ", b"\t")),
        ("mixed.txt", as_text(False).replace(b" ", b"\t", 1).replace(b" ", b"  ", 1)),
        ("blank.txt", as_text(False).replace(b"\n", b"\n \n") + b"\n"),
        ("w2v.bin", as_binary()),
        ("w2v.txt.gz", gzip.compress(as_text(True), mtime=0)),
        ("w2v.bin.gz", gzip.compress(as_binary(), mtime=0)),
    ],
)
def test_every_kind_of_file_gives_the_same_vectors(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    vectors = read_vectors(tmp_path / name)
    found, _ = vectors.look_up(["shoe", "跑鞋", "new", "SHOE"])
    np.testing.assert_allclose(found, [*WORDS.values(), [0.0] * 3, WORDS["shoe"]], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.txt", b"", "no word vector"),
        ("a.txt", b"shoe 1 2 3\nboot 1 2\n", "a.txt:2"),
        ("a.txt", b"shoe 1 2 x\n", "a.txt:1"),
        ("a.txt", b"shoe\n", "a.txt:1"),
        ("a.txt", b" 1 2 3\nshoe 1 2 3\n", "a.txt:1"),
        ("a.txt", b"shoe 1 2 nan\n", "not finite"),
        ("a.bin", b"no header", "binary"),
        ("a.bin", as_binary()[:-6], "binary"),
        ("a.bin", b"99999999999 99999999\n", "binary"),
        ("a.bin", b"1 1\nshoe " + struct.pack("<f", float("nan")), "not finite"),
        ("a.txt.gz", gzip.compress(as_text(True), mtime=0)[:-9], "cannot be read"),
        ("a.txt.gz", b"not gzip", "cannot be read"),
    ],
)
def test_a_file_that_is_none_is_one_clear_error(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=says):
        read_vectors(tmp_path / name)


def test_a_line_that_is_none_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"shoe 1 2 3\nboot 1 2\n")
    with pytest.raises(InputError) as raised:
        read_vectors(path)
    assert str(raised.value) == f"{path}:2: is not a word and 3 numbers. Correct or remove the line"


def made_vectors() -> WordVectors:
    return WordVectors(list(WORDS), np.array([[0.0] * 3, *WORDS.values()], dtype=np.float32))


def test_vectors_come_back_from_what_a_bundle_keeps() -> None:
    vectors = made_vectors()
    words, table = vectors.files().values()
    again = WordVectors.of_files(words, table)
    np.testing.assert_array_equal(again.look_up(["跑鞋", "shoe"])[0], vectors.look_up(["跑鞋", "shoe"])[0])
    for damaged in (json.dumps(["shoe"]), json.dumps({"shoe": 1}), json.dumps(["a", 1])):
        with pytest.raises(ValueError, match=r"the vectors|the words"):
            WordVectors.of_files(damaged.encode(), table)
    with pytest.raises(ValueError, match="finite numbers"):
        WordVectors.of_files(words, save({"vectors": np.zeros((2, 3), dtype=np.float32)}))


@pytest.fixture
def spacy_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed package as spaCy makes it, in which two words share a vector."""
    import spacy

    nlp = spacy.blank("en")
    for word, row in WORDS.items():
        nlp.vocab.set_vector(word, np.array(row, dtype=np.float32))
    nlp.vocab.vectors.add(nlp.vocab.strings.add("boot"), row=nlp.vocab.vectors.find(key="shoe"))
    package = tmp_path / "en_of_ours"
    package.mkdir()
    nlp.to_disk(package / "en_of_ours-1.0")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    return package.name


def test_the_vectors_of_an_installed_spacy_model_are_read_and_kept(spacy_model: str) -> None:
    vectors = read_vectors(*vector_files(spacy_model))
    asked = ["shoe", "跑鞋", "boot", "new"]
    expected = [WORDS["shoe"], WORDS["跑鞋"], WORDS["shoe"], [0.0] * 3]
    np.testing.assert_allclose(vectors.look_up(asked)[0], expected, rtol=1e-6)
    words, table = vectors.files().values()
    np.testing.assert_allclose(WordVectors.of_files(words, table).look_up(asked)[0], expected, rtol=1e-6)
    damaged = save({"vectors": np.zeros((3, 3), dtype=np.float32), "rows": np.array([0, 1, 3], dtype=np.int32)})
    with pytest.raises(ValueError, match="no row for each"):
        WordVectors.of_files(words, damaged)


def test_a_model_without_vectors_and_a_name_of_nothing_are_clear_errors(spacy_model: str) -> None:
    for path in vector_files(spacy_model):
        path.unlink()
    for name in (spacy_model, "no_such_model"):
        with pytest.raises(InputError, match="neither a file of word vectors nor an installed spaCy model"):
            vector_files(name)
    assert vector_files("some/where.txt") == (Path("some/where.txt"),)


def test_a_module_that_was_never_installed_is_a_name_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)  # as in a script
    with pytest.raises(InputError, match="neither a file of word vectors nor an installed spaCy model"):
        vector_files("__main__")


def test_a_spacy_model_without_spacy_says_what_to_install(spacy_model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy.strings", None)
    with pytest.raises(UsageError, match=r"needs? spaCy\. pip install 'batag\[vectors\]'"):
        read_vectors(*vector_files(spacy_model))


def test_a_damaged_spacy_model_is_one_clear_error(spacy_model: str) -> None:
    files = vector_files(spacy_model)
    files[0].write_bytes(b"no numbers")
    with pytest.raises(InputError, match="no word vectors that can be read"):
        read_vectors(*files)


@pytest.mark.parametrize("kind", ["word", "rich"])
def test_the_input_adds_pretrained_features(kind: str) -> None:
    torch.manual_seed(0)
    features = PretrainedFeatures(made_vectors())
    featurizer = Featurizer.build(Vocabulary(["shoe"]), input={"kind": kind}, pretrained=features)
    made = TokenEmbedding(featurizer, width=8, pretrained_width=3).eval()
    plain = made(tensors(featurizer.batch([["shoe", "boot"]], pretrained=False), torch.device("cpu")))
    batch = tensors(featurizer.batch([["shoe", "boot"]]), torch.device("cpu"))
    assert made.pretrained is not None
    assert batch.pretrained is not None
    torch.testing.assert_close(made(batch), plain + made.pretrained(batch.pretrained))
    assert not torch.allclose(made(batch)[0, 0], plain[0, 0])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_backbone(tmp_path_factory.mktemp("bert"))


def test_a_backbone_gives_the_mean_of_hidden_states_over_the_pieces_of_each_token(model: Path) -> None:
    from transformers import AutoModel

    backbone = Backbone(model)
    found = torch.from_numpy(backbone.read([["shoe", "x"]]))
    letters = "abcdefghijklmnopqrstuvwxyz"
    ids = [2, 4 + letters.index("s"), *(30 + letters.index(c) for c in "hoe"), 4 + letters.index("x"), 3]
    states = AutoModel.from_pretrained(model).eval()(torch.tensor([ids]), output_hidden_states=True).hidden_states
    mean = torch.stack(states).mean(0)[0].detach()
    torch.testing.assert_close(found[0], torch.stack([mean[1:5].mean(0), mean[5]]), atol=2e-3, rtol=2e-3)


def test_what_a_backbone_says_does_not_depend_on_neighbours_or_on_memory(model: Path) -> None:
    pages = [["shoe"], ["red", "shoe", "é", "", "跑鞋"], list("abcdefghij" * 9), ["x" * 200]]
    backbone = Backbone(model)
    together = backbone.read(pages)
    for number, page in enumerate(pages):
        np.testing.assert_array_equal(together[number, : len(page)], Backbone(model).read([page])[0])
    np.testing.assert_array_equal(backbone.read(pages), together)
    assert np.abs(together[2, :90]).sum(1).min() > 0  # longer than the model can hold at once
    assert np.abs(together[0, 1:]).sum() == 0


def test_a_backbone_and_what_is_known_of_words_stand_side_by_side(model: Path) -> None:
    backbone, words = Backbone(model), made_vectors()
    joined = join(words, backbone)
    assert joined is not None
    assert ([part.kind for part in joined.parts], joined.width) == (["backbone", "word_vectors"], 16 + 3)
    assert joined.words is words
    pages = [["shoe", "new"], ["跑鞋"]]
    found = Featurizer(vocabulary=Vocabulary([]), pretrained=joined).batch(pages).pretrained
    assert found is not None
    assert found.shape == (2, 2, 19)
    of_words = np.stack([words.look_up(["shoe", "new"])[0], np.concatenate((words.look_up(["跑鞋"])[0], np.zeros((1, 3))))])
    for part, own in ((backbone.read(pages), found[..., :16]), (of_words, found[..., 16:])):
        expected = torch.nn.functional.layer_norm(torch.from_numpy(part).float(), part.shape[-1:])
        np.testing.assert_allclose(own, expected.numpy(), atol=1e-3, rtol=1e-3)
    assert not found[0, 1, 16:].any()
    assert join(None) is None


def test_a_word_may_have_a_space_in_it_and_the_first_of_two_counts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("shoe 1 2\n. . 3 4\nshoe 5 6\n\xa0 7 8\n".encode())
    vectors = read_vectors(tmp_path / "a.txt")
    assert vectors.words == ["shoe", ". .", "\xa0"]
    assert vectors.look_up(["shoe", ". ."])[0].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        ({"vocab_size": 10**9}, "claims a model of"),
        ({"num_hidden_layers": 10**9}, "layers"),
        ({"hidden_size": 10**6}, "claims a model of"),
    ],
    ids=str,
)
def test_what_a_backbone_claims_to_be_costs_nothing_before_its_weights_are_there(
    model: Path, tmp_path: Path, claim: dict[str, int], says: str
) -> None:
    folder = shutil.copytree(model, tmp_path / "bert")
    config = json.loads((folder / "config.json").read_bytes())
    (folder / "config.json").write_text(json.dumps(config | claim))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match=says):
        Backbone(folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 200_000


def test_a_folder_that_is_no_model_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Hugging Face"):
        Backbone(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "no such"}))
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be loaded"):
        Backbone(tmp_path)
