"""A classifier as a recipe describes it, with fresh weights."""

from __future__ import annotations

from batag.features.featurizer import Featurizer
from batag.features.pretrained import PretrainedFeatures
from batag.features.vocabulary import Vocabulary
from batag.heads.classifier import TokenClassifier, build_classifier
from batag.labels.scheme import Scheme
from batag.training.recipe import Recipe


def fresh_classifier(
    recipe: Recipe, vocabulary: Vocabulary, scheme: Scheme, *, pretrained: PretrainedFeatures | None
) -> TokenClassifier:
    """A model that knows these words and labels; its weights are drawn by torch's seed."""
    input, encoder, head = (table.model_dump() for table in (recipe.input, recipe.encoder, recipe.head))
    featurizer = Featurizer.build(vocabulary, input=input, head=head, pretrained=pretrained)
    return build_classifier(featurizer, labels=len(scheme.labels), input=input, encoder=encoder, head=head)
