"""Keyword libraries that are measured beside ours, on the same texts: yake and rake-nltk on our tokens and stop words,
jieba.analyse on Chinese (in Simplified characters, which its dictionary has), summa on English."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

from batag.keywords.document import Document
from batag.pages.stopwords import stop_words
from batag.segmentation.chinese import simplify
from batag.segmentation.segmentation import Segmentation

Library = Callable[[Document], list[str]]
_END = re.compile(r"[。！？!?.\n]+")
_PUNCTUATION = set("。，、；：？！,.;:?!()（）「」『』《》〈〉【】[]{}/\\·・-—…\"'“”‘’％%～~|*#&+=<>")
MOST = 20


def libraries(language: str) -> dict[str, Library]:
    """The libraries that take a language, by name."""
    found = {"yake 0.7.3": _yake(language), "rake-nltk": _rake(language)}
    if language.startswith("zh"):
        import jieba
        import jieba.analyse

        jieba.setLogLevel(60)
        jieba.initialize()
        found["jieba TF-IDF"] = lambda document: jieba.analyse.extract_tags(simplify(_text(document)), topK=MOST)
        found["jieba TextRank"] = lambda document: jieba.analyse.textrank(simplify(_text(document)), topK=MOST)
    if language == "en":
        found["summa"] = _summa
    return found


def _text(document: Document) -> str:
    return ".\n".join(filter(None, document.page.fields.values()))


def _tokens(segmentation: Segmentation, document: Document) -> str:
    if document.language == "en":
        return _text(document)
    return "\n".join(" ".join(field.words) for field in segmentation(document.page))


def _yake(language: str) -> Library:
    import yake

    own = None if language == "en" else set(stop_words(language))
    extractor = yake.KeywordExtractor(lan=language[:2], n=3, top=MOST, stopwords=own)
    segmentation = Segmentation()
    return lambda document: [text for text, _ in extractor.extract_keywords(_tokens(segmentation, document))]


def _rake(language: str) -> Library:
    from rake_nltk import Rake

    extractor = Rake(
        stopwords=set(stop_words(language)),
        punctuations=_PUNCTUATION,
        include_repeated_phrases=False,
        sentence_tokenizer=_END.split,
        word_tokenizer=re.compile(r"[\w'’-]+|[^\w\s]").findall,
    )
    segmentation = Segmentation()

    def extract(document: Document) -> list[str]:
        extractor.extract_keywords_from_text(_tokens(segmentation, document))
        return list(extractor.get_ranked_phrases()[:MOST])

    return extract


def _summa(document: Document) -> list[str]:
    from summa import keywords

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return list(keywords.keywords(_text(document), words=MOST, split=True))
        except (IndexError, ZeroDivisionError, ValueError):  # what it makes of a text of a few words
            return []
