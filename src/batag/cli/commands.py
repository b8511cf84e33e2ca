"""The commands in the groups that help shows, each with the file that it lives in and an example."""

PANELS = {
    "Start here": {
        "shops.start.start": "batag start shop.csv -o shop",
        "demo": "batag demo",
        "data.sample": "batag sample --pages 300 --export shop.csv",
    },
    "Prepare pages": {
        "inspect": "batag inspect pages.jsonl",
        "data.split": "batag split pages.jsonl -o split",
        "data.convert": "batag convert pages.jsonl pages.xlsx",
        "data.segment": 'batag segment "防水登山鞋 輕量透氣"',
        "words.weak.weak": "batag weak pages.jsonl --terms brands.txt=brand -o weak.jsonl",
    },
    "Train": {
        "train": "batag train pages.jsonl -o run",
        "distil": "batag distil run pages.jsonl -o small",
        "curve": "batag curve pages.jsonl -o curve",
    },
    "Tag": {
        "tag": 'batag tag starter "日立 HITACHI 570L 變頻三門冰箱"',
        "words.keywords.keywords": "batag keywords auto shop.jsonl -o keywords.xlsx",
        "export": "batag export run",
        "services.serve.serve": "batag serve starter",
    },
    "Measure": {
        "evaluate": "batag evaluate run test.jsonl",
        "show": "batag show starter",
    },
    "Research": {
        "paper": "batag paper encoders --quick",
    },
}
"""Commands by the place of their function, `FILE.NAME`; one that lives in a file of its own name is written once."""
COMMANDS = {place: example for panel in PANELS.values() for place, example in panel.items()}
GROUPS = {
    "words.terms": (
        "Tag",
        "What words mean to a shop: canonical forms, synonyms, categories.",
        {
            "explain": "batag terms explain 日立 HITACHI",
            "merge": "batag terms merge tagged.jsonl",
            "import": "batag terms import categories.csv -o ours.tsv",
            "map": "batag terms map tagged.jsonl --taxonomy ours.tsv",
        },
    ),
    "services.keys": (
        "Tag",
        "Keys of the service: who may ask, and for what.",
        {
            "add": "batag keys add website --keys keys.json",
            "list": "batag keys list --keys keys.json",
            "revoke": "batag keys revoke website --keys keys.json",
        },
    ),
}
"""Groups of commands by the file that all of a group live in: the panel, what they are about, and their examples by name."""
