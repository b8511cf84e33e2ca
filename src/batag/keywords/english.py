"""English words that end a noun phrase, because there is no part-of-speech tagger: verbs, adverbs, and adjectives that say
nothing of a thing itself. Our own lists."""

import re

_VERBS = """
accept access achieve acquire adapt add adopt affect agree aim allow analyse analyze announce apply appear argue arise
arrive ask assess assume attain attempt avoid become begin believe belong bring build calculate call carry cause choose
claim combine come compare compute concern conclude conduct confirm connect consider consist constitute construct contain
continue contribute convert correspond create deal decide define deliver demonstrate denote depend derive describe determine
develop devise differ discover discuss display eliminate emerge emphasize employ enable encounter encourage enhance enjoy
ensure establish evaluate evolve examine exceed exhibit exist expand expect explain exploit explore express extend
facilitate fail fall feel fill find fit follow form formulate fulfil gain generalize generate give go grow guarantee handle
happen help hold identify illustrate imply improve include incorporate increase indicate induce integrate intend interact
introduce investigate involve keep know lead learn leave let lie live look lose make manage mean meet minimize modify move
need obtain occur offer operate outline overcome perform permit play possess predict prefer present preserve prevent proceed
produce promote propose prove provide publish put quantify raise reach realize receive recognize reduce refer reflect relate
rely remain remove replace report represent require result reveal run satisfy say see seek seem select send serve show solve
specify speak stand start state stay study suffer suggest suit supply suppose take talk tell tend think transform treat try
turn undergo understand undertake use utilize validate vary verify want wear work yield
"""
_ALSO_NOUNS = """
access aim attempt call cause claim concern deal display fall fit form gain guarantee help increase lead live look move need
offer play present report result run show stand start state study supply talk turn use wear work yield
"""
_IRREGULAR = """
arose became become began begun bought brought built came caught chose chosen dealt did done drawn drew fallen fell felt
found gave given gone got gotten grew grown had heard held kept knew known laid led left lost made meant met paid put ran
said sat saw seen sent shown sold sought spent spoke stood taken taught thought told took undergone understood undertaken
went won wore worn written wrote
"""
_OTHERS = """
able according across actual actually additional adequate ago al albeit alike almost alone along already although among
another anyone anything apart apparent appropriate apt around aside available away bad basic being below beneath besides
best better beyond big brief broad cannot capable certain cf clear clearly close closer common complete comprehensive
considerable consistent conventional corresponding couldn't couple crucial current currently despite detailed didn't
different difficult doesn't due during e.g earlier early easier easy effective efficient either else enormous enough entire
especially essential et eventually ever excellent except existing expected experimental extensive extent far faster few
fewer final finally fine following former forth forward fully further furthermore general good great greater greatest hard
hasn't having hence herself high higher highest highly himself hope however huge i.e ibid ideal important impossible indeed
inner instead interesting isn't kind kinds large larger largest last late later latter least less lesser let's likely little
long longer low lower lowest main mainly maybe meanwhile mere merely might million million's mine minor modern moreover
mostly myself namely near nearly necessary neither never nevertheless newly next nobody nor notable nothing novel numerous
obvious often ones only onto oneself original others' otherwise ought ours ourselves outer outside overall own part
particular past perhaps plus poor possible potential powerful practical present previous previously primary prior probably
promising proper quick quickly quite rather ready real really reasonable recent recently regarding related relative
relatively relevant required respective respectively right same satisfactory several shall short significant similar simple
simpler simply slightly slow small smaller so-called somebody someone something sometimes somewhat somewhere soon specific
straightforward strong sub subsequent substantial successful such suitable superior sure that's there's thereby therefore
they're thing things though thousand throughout thus timely today today's together tomorrow toward towards traditional true
truly typical typically undesirable unless unlike upon useful usual usually valuable variety various vs way ways we're we've
well-known whatever whenever where whereas whereby wherever whether whichever whole whom whose why wide wider widespread
worse worst yes yesterday yet you're yours yourself
"""
_BOTH = """
brand brands color colour count customer day deal delivery description edition features guarantee item items lot model month
order pack pair payment piece price prices product products quality rating refund review reviews sale seller series set sets
shop size stock store style type warranty week year years present potential part kind past
"""
NOUNS = frozenset(_BOTH.split())
"""Stop words and words of `BREAKS` that are nouns: part of a phrase, but none alone."""
_LY_NOUNS, _ED_NOUNS = """
anomaly assembly belly butterfly family fly italy jelly july monopoly reply supply
bed bleed breed creed exceed feed need red seed shed speed steed weed
""".strip().splitlines()
_NOUNS_IN_LY, _NOUNS_IN_ED = frozenset(_LY_NOUNS.split()), frozenset(_ED_NOUNS.split())


def _inflected(verb: str) -> set[str]:
    """The forms in -s, -ed and -ing of a regular verb."""
    if verb.endswith("e"):
        stem = verb[:-1]
        return {f"{verb}s", f"{verb}d", f"{stem}ing"}
    if verb[-1] == "y" and verb[-2] not in "aeiou":
        return {f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"}
    ending = "es" if verb.endswith(("s", "x", "ch", "sh", "o")) else "s"
    doubled = {f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"}
    return {f"{verb}{ending}", f"{verb}ed", f"{verb}ing"} | doubled


def _verbs() -> frozenset[str]:
    nouns = frozenset(_ALSO_NOUNS.split())
    forms: set[str] = set()
    for verb in _VERBS.split():
        own = _inflected(verb)
        # The plural of a noun looks like the verb: results, studies.
        forms |= {each for each in own if each.endswith("ed")} if verb in nouns else own | {verb}
    return frozenset(forms | {*_IRREGULAR.split()})


BREAKS = _verbs() | frozenset(_OTHERS.split())
"""Words that are never part of a phrase."""
_LY = re.compile(r"[a-z]{3,}ly")
_ED = re.compile(r"[a-z]{2,}ed")
_PLURAL = re.compile(r"[a-z]{3,}(?<![suix])s")


def breaks(word: str) -> bool:
    """Whether a word (in lower case) cannot be part of a noun phrase."""
    return word in BREAKS or (_LY.fullmatch(word) is not None and word not in _NOUNS_IN_LY)


def is_gerund(word: str) -> bool:
    """Whether a word is the -ing form of a verb that breaks phrases: decision making."""
    return word.endswith("ing") and word in BREAKS


def cannot_end(word: str) -> bool:
    """Whether a word can stand in a noun phrase but not at its end: a participle such as distributed."""
    return _ED.fullmatch(word) is not None and word not in _NOUNS_IN_ED


def singular(word: str) -> str:
    """A word without the plural's ending, so that service and services are counted together."""
    if _PLURAL.fullmatch(word) is None:
        return word
    return f"{word[:-3]}y" if word.endswith("ies") and len(word) > 4 else word[:-1]
