"""The tables and figures of the paper (with its printed numbers), and ablations for the claims of its text."""

from collections.abc import Sequence
from dataclasses import replace

from batag.errors import unknown_name
from batag.objectives import PAPER
from batag.paper import published
from batag.paper.definition import Choice, Definition
from batag.training.schedule import VERSIONS, deeper

_NAMES = {name: name.lower() for name in published.SEVEN}


def _encoders(*names: str) -> tuple[Choice, ...]:
    return tuple(Choice(name, (f"encoder.name={_NAMES[name]}",)) for name in names)


def _objectives(names: Sequence[str]) -> tuple[Choice, ...]:
    return tuple(Choice(name, (f"objective.name={name}",)) for name in names)


_BAT = _encoders("BAT")

ENCODERS = Definition(
    "encoders",
    "Encoders and objectives, Chinese",
    "tables 3 and 4",
    _objectives(published.FOUR),
    _encoders(*_NAMES),
    base="BAT",
    also="CE",
    published=published.CHINESE,
    amounts={},
)

JAPANESE = Definition(
    "encoders-ja",
    "Encoders and objectives, Japanese",
    "tables 5 and 6",
    # The paper slows CE down and takes v2 for CECLA here, for all encoders alike.
    (
        Choice("CE", ("objective.name=CE", "schedule.scale=0.465")),
        *_objectives(published.FOUR[1:3]),
        Choice("CLA(1,20)", ("objective.name=CLA(1,20)", "schedule.version=v2")),
    ),
    _encoders(*published.FIVE),
    base="BAT",
    also="CE",
    # A number instead of "peak" for CE's scale: 0.93 of what keeps the peak with a warm-up of 1000 steps.
    settings=("schedule.warmup=1000",),
    published=published.JAPANESE,
    amounts={},
)

_DEPTHS = dict(zip(published.DEPTHS, (4, 6, 12, 24), strict=True))
LAYERS = Definition(
    "layers",
    "Layers",
    "tables 7 and 8",
    tuple(Choice(name, (f"encoder.depth={depth}",)) for name, depth in _DEPTHS.items()),
    _encoders(*_NAMES),
    base="BAT",
    epochs=100,
    settings=("objective.name=CLA(1,20)",),
    special={
        (row, column): (
            f"schedule.warmup={deeper(encoder, depth)[0]}",
            f"schedule.scale={deeper(encoder, depth)[1]:.6f}",
        )
        for row, depth in _DEPTHS.items()
        for column, encoder in _NAMES.items()
    },
    published=published.LAYERS,
)


RATES = Definition(
    "rates",
    "Learning-rate strategies",
    "table 1",
    tuple(Choice(version, (f"schedule.version={version}",)) for version in VERSIONS),
    _BAT,
    base="v1",
    settings=("objective.name=CLA(1,20)",),
    published=published.RATES,
)

BOOST = Definition(
    "boost",
    "Boost lambda of CECLA",
    "table 9",
    _objectives([row for row, _ in published.BOOST["macro_f1"]]),
    _BAT,
    base="CLA(1,20)",
    epochs=100,
    published=published.BOOST,
)

OBJECTIVES = Definition(
    "objectives",
    "Sixteen objectives",
    "tables 10 and 11",
    _objectives(PAPER),
    _BAT,
    base="CE",
    published=published.OBJECTIVES,
    amounts=published.AMOUNTS,
    without_none=True,
)
OBJECTIVES_LONG = replace(
    OBJECTIVES,
    name="objectives-long",
    title="Sixteen objectives, trained twice as long",
    paper="tables 12 and 13",
    epochs=100,
    published=published.OBJECTIVES_LONG,
    amounts=published.AMOUNTS_LONG,
)

CURVES = Definition(
    "curves",
    "Scores and amounts over epochs",
    "figures",
    _objectives(published.FOUR),
    _BAT,
    base="CE",
    amounts={},
    curves=True,
)

ABLATIONS = Definition(
    "ablations",
    "Ablations",
    "claims of the text",
    (
        Choice("as it is"),
        Choice("attention scale by head", ("encoder.options.attention_scale=head",)),
        Choice("Pre-LN", ("encoder.options.norm=pre",)),
        Choice("identity residual in FFTS", ("encoder.options.residual=identity",)),
        Choice("MFSA without attention", ('encoder.options.branches="conv1,conv3"',)),
        Choice("MFSA without 1x1 convolution", ('encoder.options.branches="attention,conv3"',)),
        Choice("MFSA without 3x1 convolution", ('encoder.options.branches="attention,conv1"',)),
        Choice("position left out", ("encoder.position=none",)),
        Choice("position, learned linear", ("encoder.position=linear",)),
        Choice("position, learned affine", ("encoder.position=affine",)),
        Choice("dynamic weights", ("objective.weights=dynamic",)),
        Choice("Evolved Transformer", ("encoder.name=evolved",)),
    ),
    (Choice("CE", ("objective.name=CE",)), Choice("CLA(1,20)", ("objective.name=CLA(1,20)",))),
    base="as it is",
    # Cross entropy has no weights.
    empty=frozenset({("dynamic weights", "CE")}),
)

TABLES = {
    table.name: table for table in (RATES, ENCODERS, JAPANESE, LAYERS, BOOST, OBJECTIVES, OBJECTIVES_LONG, CURVES, ABLATIONS)
}


def quick(definition: Definition) -> Definition:
    """A small version of a table, three columns and two rows, that takes some minutes."""
    names = {choice.name for choice in definition.columns}
    columns = ";".join(name for name in ("BAT", "Transformer", "Admin") if name in names) or None
    rows = ";".join(choice.name for choice in definition.rows[:2])
    small = ("encoder.width=64", "encoder.inner=256", "encoder.depth=2", "training.batch=16")
    # Its few steps would not get out of the paper's warm-ups.
    rate = tuple(setting for setting in definition.settings if not setting.startswith("schedule."))
    smaller = replace(definition.only(rows, columns), settings=(*rate, *small), special={}, epochs=12)
    plain = [
        replace(row, settings=tuple(s for s in row.settings if not s.startswith("schedule.scale"))) for row in smaller.rows
    ]
    return replace(smaller, rows=tuple(plain))


def find_table(name: str) -> Definition:
    """The definition of that name."""
    if name not in TABLES:
        raise unknown_name(name, ("parameters", "schedules", "thresholds", *TABLES), "a table")
    return TABLES[name]
