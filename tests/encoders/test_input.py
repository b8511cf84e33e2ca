"""Words to vectors: the word itself, or the word, its n-grams, its shape and its parts of speech."""

from __future__ import annotations

import dataclasses
import math
import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from zlib import crc32

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.tricky import NAUGHTY_STRINGS, PRODUCT_STRINGS
from torch import Tensor

from batag.encoders.input import TokenEmbedding, tensors
from batag.features import featurizer as featurizer_module
from batag.features.featurizer import Batch, Featurizer
from batag.features.vocabulary import PADDING, UNKNOWN, Vocabulary
from batag.features.word import shape
from batag.heads.classifier import build_classifier

WORDS = ("nike", "air", "max", "衛衣", "コットン", "50ml", "red", "化粧水")
NEW = ("adidas", "ルモラ", "棉", "120cm", "x")
EMOJI = ("😀", "👨\u200d👩\u200d👧\u200d👦", "❤\ufe0f", "🇹🇼")
CPU = torch.device("cpu")
SURROGATES = ("\ud800", "a\udfff", "\udc00\ud800", "x" * 70 + "\ud83d")


class Input:
    """A featurizer and an embedding of its features."""

    def __init__(self, featurizer: Featurizer, **options: float) -> None:
        self.featurizer = featurizer
        self.embedding = TokenEmbedding(featurizer, **options).eval()  # type: ignore[arg-type]

    def batch(self, pages: Sequence[Sequence[str]]) -> Batch[Tensor]:
        return tensors(self.featurizer.batch(pages), CPU)

    def __call__(self, batch: Batch[Tensor]) -> Tensor:
        found: Tensor = self.embedding(batch)
        return found


@pytest.fixture(params=["word", "rich"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def featurized(kind: str = "rich", words: Sequence[str] = WORDS, **sizes: int) -> Featurizer:
    return Featurizer.build(Vocabulary(words), input={"kind": kind, **sizes})


def made(
    kind: str = "rich", words: Sequence[str] = WORDS, *, width: int = 8, seed: int = 0, parts: int = 0, **options: float
) -> Input:
    torch.manual_seed(seed)
    return Input(featurized(kind, words, part_of_speech_buckets=parts), width=width, **options)


def vectors(input: Input, *pages: tuple[str, ...] | list[str]) -> Tensor:
    with torch.no_grad():
        return input(input.batch(pages))


def vector(input: Input, word: str) -> Tensor:
    return vectors(input, [word])[0, 0]


def test_pages_stand_side_by_side_and_the_shorter_are_padded(kind: str) -> None:
    input = made(kind)
    batch = input.batch([["nike", "air", "max"], ["red"], [], ["air", "air"]])
    assert batch.mask.tolist() == [[True] * 3, [True, False, False], [False] * 3, [True, True, False]]
    assert batch.mask.dtype == torch.bool
    assert batch.words.tolist() == [[2, 3, 4], [8, 0, 0], [0, 0, 0], [3, 3, 0]]
    assert input(batch).shape == (4, 3, 8)


def test_a_word_has_the_same_vector_in_any_batch_and_place(kind: str) -> None:
    input = made(kind)
    alone = {word: vector(made(kind), word) for word in (*WORDS, *NEW, *EMOJI)}
    chooser = random.Random(1)
    for _ in range(20):
        pages = [chooser.choices(list(alone), k=chooser.randint(0, 6)) for _ in range(4)] + [["nike"]]
        out = vectors(input, *pages)
        for place, words in enumerate(pages):
            for at, word in enumerate(words):
                torch.testing.assert_close(out[place, at], alone[word], rtol=0, atol=1e-6)


def test_known_words_differ(kind: str) -> None:
    out = vectors(made(kind), WORDS)[0]
    assert (torch.cdist(out, out) + 100 * torch.eye(len(WORDS)) > 0.5).all()


def test_unknown_words_are_all_one_for_word_and_each_its_own_for_rich() -> None:
    plain = vectors(made("word"), NEW)[0]
    assert (plain == plain[0]).all()
    rich = vectors(made("rich"), NEW)[0]
    assert (torch.cdist(rich, rich) + 100 * torch.eye(len(NEW)) > 0.1).all()


def test_an_unknown_word_is_like_the_words_that_it_is_written_like() -> None:
    input = made("rich", width=64)
    like, other = vector(input, "化粧水用"), vector(input, "adidas")
    written = vector(input, "化粧液")
    assert (like - written).norm() < (other - written).norm()


def test_vectors_start_with_a_deviation_of_one() -> None:
    """N(0, 1/D) times sqrt(D)."""
    words = tuple(f"w{number}" for number in range(3000))
    for width in (16, 64):
        input = made("word", words, width=width)
        out = vectors(input, words)[0]
        assert float(out.std()) == pytest.approx(1, abs=0.02)
        assert float(out.mean()) == pytest.approx(0, abs=0.02)
        # Of a normal distribution 68 % lie within one deviation.
        assert float((out.abs() < 1).float().mean()) == pytest.approx(0.683, abs=0.01)
        assert float(input.embedding.words.weight.detach().std()) == pytest.approx(width**-0.5, rel=0.02)
    rich = made("rich", words, width=64).embedding
    for table in (rich.words, rich.ngrams, rich.shapes):
        assert table is not None
        assert float(table.weight.detach().std()) == pytest.approx(1 / 8, rel=0.02)


def test_the_vector_of_padding_starts_as_zero(kind: str) -> None:
    assert (made(kind).embedding.words.weight[PADDING] == 0).all()


def test_padding_is_a_zero_vector_of_word() -> None:
    assert (vectors(made("word"), ["nike", "air"], ["red"])[1, 1] == 0).all()


def test_rich_is_the_word_the_mean_of_its_n_grams_and_its_shape() -> None:
    """Computed here from the tables and CRC-32: a bundle's hashes must mean the same for ever."""
    input = made("rich")
    tables = input.embedding
    assert tables.ngrams is not None
    assert tables.shapes is not None
    ngrams = {
        "Ab": ["a", "b", "<a", "ab", "b>", "<ab", "ab>", "<ab>"],
        "nike": [*"nike", "<n", "ni", "ik", "ke", "e>", "<ni", "nik", "ike", "ke>", "<nik", "nike", "ike>"],
        "棉": ["棉", "<棉", "棉>", "<棉>"],
    }
    shapes = {"Ab": "Xx", "nike": "x", "棉": "c"}
    with torch.no_grad():
        for word, pieces in ngrams.items():
            written = torch.stack([tables.ngrams.weight[crc32(piece.encode()) % 20_000] for piece in pieces]).mean(0)
            number = {"nike": 2}.get(word, UNKNOWN)
            shaped = tables.shapes.weight[crc32(shapes[word].encode()) % 1_000]
            expected = math.sqrt(8) * (tables.words.weight[number] + written + shaped)
            torch.testing.assert_close(vector(input, word), expected)


def test_rich_adds_what_dictionaries_say_of_a_word() -> None:
    input, without = made(parts=50), made()
    table = input.embedding.parts_of_speech
    assert table is not None
    for word, parts in {"京都": ["zh:ns", "ja:名詞/固有名詞/地名"], "nike": [], "": []}.items():
        with torch.no_grad():
            expected = sum((table.weight[crc32(part.encode()) % 50] for part in parts), torch.zeros(8))
            torch.testing.assert_close(vector(input, word), vector(without, word) + math.sqrt(8) * expected)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("NORDVIK", "X"),
        ("120cm", "dx"),
        ("ルモラ", "k"),
        ("コーヒー", "k"),
        ("ひらがな", "h"),
        ("無印良品", "c"),
        ("iPhone15", "xXxd"),
        ("L'Oréal", "X'Xx"),
        ("Tシャツ", "Xk"),
        ("!!--", "!-"),
        ("😀😀", "😀"),
        ("", ""),
    ],
)
def test_the_shape_of_a_word(word: str, expected: str) -> None:
    assert shape(word) == expected


def test_case_is_folded_by_rich_but_for_the_shape() -> None:
    input = made("rich")
    batch = input.batch([["nike"], ["NIKE"], ["Nike"]])
    assert batch.words.tolist() == [[2], [2], [2]]
    assert batch.ngrams is not None
    assert batch.ngram_offsets is not None
    assert batch.shapes is not None
    pieces = [part.tolist() for part in batch.ngrams.tensor_split(batch.ngram_offsets[1:])]
    assert pieces[0] == pieces[1] == pieces[2]
    assert len(set(batch.shapes.tolist())) == 3
    assert len({tuple(vector(input, word).tolist()) for word in ("nike", "NIKE", "Nike")}) == 3


def test_case_is_kept_by_word() -> None:
    assert made("word").batch([["nike", "NIKE", "Nike"]]).words.tolist() == [[2, UNKNOWN, UNKNOWN]]


def test_words_are_hidden_in_training_only(kind: str) -> None:
    input = made(kind, word_dropout=0.25)
    pages = [list(WORDS) * 60] * 4
    batch = input.batch(pages)
    assert torch.equal(input.embedding._seen(batch.words), batch.words)
    input.embedding.train()
    torch.manual_seed(0)
    first, second = (input.embedding._seen(batch.words) for _ in range(2))
    assert float((first == UNKNOWN).float().mean()) == pytest.approx(0.25, abs=0.03)
    assert not torch.equal(first, second)
    kept = first != UNKNOWN
    assert torch.equal(first[kept], batch.words[kept])
    assert torch.equal(batch.words, input.batch(pages).words)


def test_a_hidden_word_has_the_vector_of_an_unknown_one() -> None:
    input = made("word", word_dropout=0.5)
    unknown = vector(input, "adidas")
    known = vector(input, "nike")
    torch.manual_seed(0)
    with torch.no_grad():
        out = input.embedding.train()(input.batch([["nike"] * 50]))[0]
    hidden = (out == unknown).all(-1)
    assert 10 < hidden.sum() < 40
    assert (out[~hidden] == known).all()


def test_padding_is_never_hidden(kind: str) -> None:
    input = made(kind, word_dropout=0.9)
    input.embedding.train()
    batch = input.batch([["nike"] * 200, ["air"]])
    assert (input.embedding._seen(batch.words)[~batch.mask] == PADDING).all()


def test_hiding_trains_the_unknown_word_and_nothing_trains_padding(kind: str) -> None:
    for word_dropout, trained in ((0.5, True), (0.0, False)):
        input = made(kind, word_dropout=word_dropout)
        input.embedding.train()
        torch.manual_seed(0)
        input(input.batch([WORDS, ["nike"]])).square().sum().backward()
        assert input.embedding.words.weight.grad is not None
        gradient = input.embedding.words.weight.grad.to_dense()
        assert bool(gradient[UNKNOWN].any()) is trained
        assert not gradient[PADDING].any()
        assert gradient[2:].any()


def test_without_word_dropout_training_sees_what_evaluation_sees(kind: str) -> None:
    input = made(kind)
    batch = input.batch([WORDS, NEW])
    torch.testing.assert_close(input.embedding.train()(batch), input.embedding.eval()(batch))


def test_dropout_of_values_acts_in_training_only(kind: str) -> None:
    input = made(kind, dropout=0.5)
    batch = input.batch([WORDS * 20])
    whole = input(batch)
    torch.testing.assert_close(whole, made(kind)(batch))
    out = input.embedding.train()(batch)
    assert float((out == 0).float().mean()) == pytest.approx(0.5, abs=0.05)
    torch.testing.assert_close(out[out != 0], 2 * whole[out != 0])


@pytest.mark.parametrize("limit", [0, 1, 5, 40])
def test_forgetting_words_changes_no_result(kind: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(featurizer_module, "_REMEMBERED", limit)
    input = made(kind)
    chooser = random.Random(2)
    words = [*WORDS, *NEW, *EMOJI, *(f"new{number}" for number in range(100))]
    most = 0
    for _ in range(40):
        pages = [chooser.choices(words, k=chooser.randint(1, 6)) for _ in range(3)]
        torch.testing.assert_close(vectors(input, *pages), vectors(made(kind), *pages))
        most = max(most, len(input.featurizer._rows), len(input.featurizer._known) - 1)
    assert most <= limit + 18


def test_a_very_long_word_costs_no_more_than_a_long_one(kind: str) -> None:
    input = made(kind)
    batch = input.batch([["a" * 1_000_000]])
    assert batch.ngrams is None or len(batch.ngrams) < 4 * 140
    assert input(batch).isfinite().all()


def test_very_long_words_are_told_apart_by_their_ends() -> None:
    input = made("rich")
    start, end = "".join(map(chr, range(0x4E00, 0x4E40))), "".join(map(chr, range(0x5E00, 0x5E40)))
    words = (start + 100 * "a" + end, start + 90 * "b" + end, start + 100 * "a" + end[::-1])
    one, other, different = (vector(input, word) for word in words)
    assert torch.equal(one, other)
    assert not torch.equal(one, different)


@pytest.mark.parametrize("word", [*EMOJI, *SURROGATES, "", " ", "\x00", "\n\n", "İ", "ß", "<", ">", "<>"], ids=ascii)
def test_any_word_has_a_vector(kind: str, word: str) -> None:
    input = made(kind)
    out = vectors(input, ["nike", word, word])[0]
    assert out.isfinite().all()
    assert torch.equal(out[1], out[2])


@given(words=st.lists(st.text(max_size=8) | st.sampled_from([*NAUGHTY_STRINGS, *PRODUCT_STRINGS]), min_size=1, max_size=5))
@example(words=["\ud83d"])
@example(words=["ΑΣ", "ας"])
@settings(max_examples=60)
def test_any_words_have_vectors(words: list[str]) -> None:
    input = made("rich")
    out = vectors(input, words)
    assert out.shape == (1, len(words), 8)
    assert out.isfinite().all()
    assert input.batch([words]).mask.all()


def test_a_word_that_looks_like_padding_is_still_a_real_token(kind: str) -> None:
    assert made(kind).batch([["", "\x00"]]).mask.all()


def test_a_batch_moves_whole() -> None:
    for kind in ("word", "rich"):
        moved = made(kind).batch([["nike", "new"]]).map(lambda value: value.to("meta"))
        assert all(value is None or value.device.type == "meta" for value in vars(moved).values())


def test_the_saved_input_is_its_tables_alone(kind: str) -> None:
    state = made(kind).embedding.state_dict()
    expected = {"words.weight"} if kind == "word" else {"words.weight", "ngrams.weight", "shapes.weight"}
    assert set(state) == expected
    other = made(kind, seed=5)
    other.embedding.load_state_dict(state)
    assert torch.equal(vectors(other, WORDS, NEW), vectors(made(kind), WORDS, NEW))


def test_the_vocabulary_numbers_frequent_words_first() -> None:
    vocabulary = Vocabulary.of("bacbabd")
    assert vocabulary.words == ("b", "a", "c", "d")
    assert [vocabulary.number(word) for word in "bacd"] == [2, 3, 4, 5]
    assert vocabulary.number("e") == UNKNOWN
    assert len(vocabulary) == 6
    assert Vocabulary.of("bacbabd", min_count=2).words == ("b", "a")
    assert len(Vocabulary([])) == 2


def test_a_featurizer_of_an_empty_vocabulary_knows_no_word() -> None:
    assert Featurizer(vocabulary=Vocabulary([])).batch([["nike"]]).words.tolist() == [[UNKNOWN]]


def test_sizes_that_only_rich_has_are_left_out_for_word() -> None:
    made = featurized("word", ngram_buckets=50, max_ngram=3, part_of_speech_buckets=7)
    assert (made.ngram_buckets, made.part_of_speech_buckets) == (0, 0)
    assert set(TokenEmbedding(made, width=8).state_dict()) == {"words.weight"}


def test_a_featurizer_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        featurized().window = 2  # type: ignore[misc]


def test_a_classifier_gives_the_same_logits_alone_and_in_a_batch(kind: str) -> None:
    torch.manual_seed(0)
    small = {"width": 16, "depth": 1, "heads": 2, "inner": 16}
    model = build_classifier(
        featurized(kind), labels=5, input={"kind": kind}, encoder={"name": "bat", **small, "options": {"position": "linear"}}
    ).eval()
    pages = [list(WORDS), list(NEW), ["nike"]]
    with torch.no_grad():
        together = model(tensors(model.featurizer.batch(pages), CPU)).logits_BLC
        assert together.shape == (3, len(WORDS), 5)
        for place, words in enumerate(pages):
            alone = model(tensors(model.featurizer.batch([words]), CPU)).logits_BLC[0]
            torch.testing.assert_close(together[place, : len(words)], alone, rtol=0, atol=1e-5)
    model(tensors(model.featurizer.batch(pages), CPU)).logits_BLC.square().sum().backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    assert all(gradient is not None and gradient.to_dense().isfinite().all() for gradient in gradients)


def test_characters_are_known_with_the_word_that_they_lie_in() -> None:
    input = made(parts=50)
    alone, joined = vectors(input, list("北京")), vectors(input, ["北京", "市民"])
    assert not torch.allclose(alone[0, 0], vector(input, "北"))
    assert torch.equal(alone, vectors(input, list("北京"), ["市"])[:1, :2])  # whoever stands beside it
    assert torch.equal(joined[0, 0], vector(input, "北京"))  # words stay as they are


def test_without_parts_of_speech_a_character_is_only_itself() -> None:
    input = made("rich")
    assert torch.equal(vectors(input, list("北京"))[0, 0], vector(input, "北"))


def test_which_pages_are_of_characters() -> None:
    featurizer = featurized(part_of_speech_buckets=50)
    assert featurizer.keys(list("北京")) == [("北", "北京", "B"), ("京", "北京", "E")]
    assert featurizer.keys([*"北京的天气很好", "<description>"])[0] == ("北", "北京", "B")
    for words in (["S", "M", "L"], ["2", "-", "1"], ["北京", "市"], ["北", "京", "天气", "很好"], []):
        assert featurizer.keys(words) == words


def test_a_word_that_could_not_be_looked_up_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    input = made(parts=50)
    fresh = vectors(input, ["京都", "北京"])
    input.featurizer = featurized(part_of_speech_buckets=50)

    def fail(word: str) -> tuple[str, ...]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(featurizer_module, "parts_of_speech", fail)
        with pytest.raises(KeyboardInterrupt):
            input.batch([["京都"]])
    assert torch.equal(vectors(input, ["京都", "北京"]), fresh)


def test_threads_see_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    input = made(parts=50)
    pages = [[f"{word}{number}" for word in ("京都", "ソニー", "耐克")] for number in range(300)]
    shared = featurized(part_of_speech_buckets=50)

    def slow_shape(word: str) -> str:
        time.sleep(1e-4)  # another thread comes in between
        return shape(word)

    with monkeypatch.context() as patched, ThreadPoolExecutor(4) as pool:
        patched.setattr(featurizer_module, "shape", slow_shape)
        list(pool.map(lambda page: shared.batch([page]), pages * 2))
    expected = vectors(input, *pages)
    input.featurizer = shared
    assert torch.equal(vectors(input, *pages), expected)
