"""The model of a run before training: its pretrained features, and a classifier with fresh weights."""

from pathlib import Path

from batag.features.backbone import Backbone, backbone_files
from batag.features.featurizer import Featurizer
from batag.features.pretrained import PretrainedFeatures, join
from batag.features.shipped import words_for
from batag.features.term_lists import TermLists
from batag.features.vocabulary import Vocabulary
from batag.features.word_vectors import read_vectors, vector_files
from batag.heads.classifier import TokenClassifier, build_classifier
from batag.labels.scheme import Scheme
from batag.training.data import Data, DataFiles
from batag.training.recipe import AUTO, Recipe


def pretrained_files(recipe: Recipe) -> tuple[Path, ...]:
    """The files of the word vectors or the backbone that a recipe names."""
    if recipe.input.pretrained is None:
        return ()
    kind, source = recipe.input.pretrained
    return vector_files(source) if kind == "vectors" else tuple(backbone_files(Path(source)))


def choose_pretrained(recipe: Recipe, files: DataFiles, data: Data) -> PretrainedFeatures | None:
    """The pretrained features of the recipe (from the files that were hashed), of the base bundle, or those that come with
    batag."""
    chosen = recipe.input
    named = chosen.pretrained[0] if chosen.pretrained is not None else ""
    if named == "vectors":
        return join(read_vectors(*files.pretrained))
    if not named and data.base is not None and data.base.pretrained is not None:
        return data.base.pretrained
    backbone = Backbone(files.pretrained[0].parent) if named else None
    words = words_for(data.statistics["train"]["languages"]) if chosen.vectors == AUTO and chosen.kind == "rich" else None
    return join(words, backbone)


def fresh_classifier(
    recipe: Recipe,
    vocabulary: Vocabulary,
    scheme: Scheme,
    *,
    pretrained: PretrainedFeatures | None,
    terms: TermLists | None = None,
) -> TokenClassifier:
    """A classifier for this vocabulary and these labels; its weights are drawn with torch's current seed."""
    input, encoder, head = (table.model_dump() for table in (recipe.input, recipe.encoder, recipe.head))
    featurizer = Featurizer.build(vocabulary, input=input, head=head, pretrained=pretrained, terms=terms)
    model = build_classifier(
        featurizer,
        labels=len(scheme.labels),
        input=input,
        encoder=encoder,
        head=head,
        continuation=scheme.continuation,
    )
    model.forbid(scheme.allowed_before)
    return model
