"""Write and read bundles. Any damage is one clear error, and nothing in a bundle can run code."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from batag.bundles.description import AGAIN, DESCRIPTION, DICTIONARY, FORMAT, KNOWN, MODEL, TERMS, VOCABULARY, Description
from batag.bundles.digest import check_digest, with_digest
from batag.bundles.exported import engines_of
from batag.bundles.file import check_file, checked_bytes, read_bytes
from batag.bundles.found import find_bundle as find_bundle
from batag.bundles.pretrained import check_backbone, feature_files, load_pretrained
from batag.bundles.weights import Floats, check_finite, check_weights, empty_classifier, map_arrays, wanted_weights
from batag.errors import BatagError, InputError
from batag.evaluation.operating_point import Dial
from batag.features.featurizer import Featurizer
from batag.features.pretrained import PretrainedFeatures
from batag.features.term_lists import TermLists, parse_names
from batag.features.vocabulary import Vocabulary
from batag.labels.scheme import Scheme
from batag.pages.file import open_output, sync_folder
from batag.segmentation.dictionary import Dictionary
from batag.segmentation.segmentation import Segmentation
from batag.terms.lexicon import lexicon_digest

if TYPE_CHECKING:
    from torch import Tensor

    from batag.heads.classifier import TokenClassifier

_LONGEST_DESCRIPTION = 16 << 20


@dataclass(frozen=True)
class Bundle:
    """A bundle that was read and verified: description, vocabulary and weights."""

    folder: Path
    description: Description
    vocabulary: Vocabulary
    dictionary: Dictionary | None
    arrays: Mapping[str, Floats]

    @cached_property
    def weights(self) -> Mapping[str, Tensor]:
        """The weights as torch tensors."""
        import torch

        return {name: torch.from_numpy(value) for name, value in self.arrays.items()}

    @property
    def scheme(self) -> Scheme:
        return Scheme(self.description.scheme.name, tuple(self.description.scheme.classes))

    @property
    def dial(self) -> Dial | None:
        """Its operating points, if it has any."""
        points = [point.model_dump() for point in self.description.dial]
        return Dial.from_dicts(points, self.scheme.classes) if points else None

    @property
    def segmentation(self) -> Segmentation:
        described = self.description.segmentation
        return Segmentation(
            described.name, rules=described.rules, dictionary=self.dictionary, spaces=self.description.input.spaces
        )

    @cached_property
    def pretrained(self) -> PretrainedFeatures | None:
        """The pretrained features of the bundle, or None."""
        return load_pretrained(self.folder, self.description)

    @cached_property
    def terms(self) -> TermLists | None:
        """The term lists of the bundle, or None. The lexicon is the installed one, even if it is newer than the bundle."""
        described = self.description.terms
        own: tuple[tuple[str, str], ...] = ()
        if described.own:
            lines = checked_bytes(self.folder, self.description, TERMS).decode(errors="replace").split("\n")
            own = parse_names(lines, where=str(self.folder / TERMS))
        return TermLists(bool(described.lexicon), own) or None

    @cached_property
    def featurizer(self) -> Featurizer:
        """The featurizer of the bundle, for the model and for engines."""
        input, head = self.description.input.model_dump(), self.description.head.model_dump()
        return Featurizer.build(self.vocabulary, input=input, head=head, pretrained=self.pretrained, terms=self.terms)

    @cached_property
    def known(self) -> Mapping[str, Floats] | None:
        """Precomputed vectors of frequent training words for engines, or None if the bundle has none."""
        if KNOWN not in self.description.files:
            return None
        found = map_arrays(self.folder / KNOWN)
        check_finite(found, self.folder / KNOWN)
        return found

    def model(self) -> TokenClassifier:
        """The classifier with its weights, in evaluation mode; names, shapes and types of all weights are checked."""
        check_weights(
            self.weights, wanted_weights(self.description, self.vocabulary, self.arrays, self.folder), self.folder / MODEL
        )
        model = empty_classifier(self.description, self.featurizer)
        model.load_state_dict(dict(self.weights), strict=True, assign=True)
        return model.requires_grad_(False).eval()


def write_bundle(
    folder: Path,
    *,
    weights: Mapping[str, Tensor],
    vocabulary: Vocabulary,
    dictionary: Dictionary | None,
    description: Mapping[str, Any],
    pretrained: PretrainedFeatures | None = None,
    terms: TermLists | None = None,
) -> None:
    """Write a bundle to a temporary folder and move it into place. It replaces an older bundle there, whose exported engines
    are kept if they were made from the same weights."""
    folder = folder.resolve()
    from safetensors.torch import save as save_tensors

    making = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    try:
        plain = {name: value.detach().cpu().contiguous() for name, value in weights.items()}
        contents: dict[str, bytes] = {
            MODEL: save_tensors(plain),
            VOCABULARY: json.dumps({"words": vocabulary.words}, ensure_ascii=False).encode(errors="surrogatepass"),
        }
        if dictionary is not None:
            contents[DICTIONARY] = "".join(f"{term}\n" for term in dictionary.terms).encode()
        if terms is not None and terms.own:
            contents[TERMS] = terms.text().encode()
        features, files_of_features = feature_files(pretrained)
        contents |= files_of_features
        engines, kept = engines_of(folder, contents)
        contents |= kept
        files = {name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in contents.items()}
        lists = {"lexicon": lexicon_digest() if terms and terms.lexicon else "", "own": len(terms.own) if terms else 0}
        made = {"features": features, "terms": lists, "engines": engines, "files": files}
        whole = {"format": FORMAT} | dict(description) | made
        contents[DESCRIPTION] = with_digest(whole)
        for name, data in contents.items():
            (making / name).parent.mkdir(exist_ok=True)
            with open_output(making / name) as stream:
                stream.write(data)
        if folder.exists():
            old = folder.with_name(f".{folder.name}.old")
            shutil.rmtree(old, ignore_errors=True)
            folder.rename(old)
            making.rename(folder)
            shutil.rmtree(old)
        else:
            making.rename(folder)
        sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise


def read_bundle(folder: Path | str) -> Bundle:
    """Read and verify a bundle (or the bundle of a run): format, checksums and vocabulary. Shapes of weights are checked where
    they are used."""
    folder = find_bundle(Path(folder))
    description = read_description(folder)
    vocabulary = _vocabulary(checked_bytes(folder, description, VOCABULARY), folder / VOCABULARY)
    terms = None
    if DICTIONARY in description.files:
        terms = checked_bytes(folder, description, DICTIONARY).decode(errors="replace").split("\n")
    check_file(folder, description, MODEL)
    arrays = map_arrays(folder / MODEL)
    check_finite(arrays, folder / MODEL)
    dictionary = None if terms is None else Dictionary(terms)
    bundle = Bundle(folder, description, vocabulary, dictionary, arrays)
    try:
        _ = bundle.segmentation
    except BatagError as error:
        raise InputError(error.what, where=str(folder / DESCRIPTION), todo=error.todo or AGAIN) from error
    for name in description.files.keys() - {MODEL, VOCABULARY, DICTIONARY}:
        check_file(folder, description, name)
    check_backbone(folder, description)
    return bundle


def read_description(folder: Path) -> Description:
    """Read and validate `bundle.json` alone."""
    path = folder / DESCRIPTION
    data = read_bytes(path, limit=_LONGEST_DESCRIPTION)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error})", where=str(path), todo=AGAIN) from error
    version = found.get("format") if isinstance(found, dict) else None
    if type(version) is not int or version < 1:
        raise InputError(f"has no bundle format (`format` is {version!r})", where=str(path), todo=AGAIN)
    if version > FORMAT:
        todo = "Install a newer batag, or train the bundle with this one"
        raise InputError(f"is of bundle format {version}; this batag reads up to {FORMAT}", where=str(path), todo=todo)
    check_digest(found, path)
    try:
        return Description.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"] if part != "[key]")
        raise InputError(f"{key}: {first['msg']}" if key else first["msg"], where=str(path), todo=AGAIN) from error


def _vocabulary(data: bytes, path: Path) -> Vocabulary:
    try:
        words = json.loads(data)["words"]
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or len(set(words)) < len(words):
            raise TypeError("`words` is not a list of different texts")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"is not a vocabulary ({error})", where=str(path), todo=AGAIN) from error
    return Vocabulary(words)
