"""Trains and evaluates recipes on corpora through the ordinary commands, several seeds each, and prints mean and spread.

Run `python benchmarks/corpora.py FOLDER_OF_CORPORA taobao-words-rich` (no name: all); the best epoch is chosen on dev, test is
scored once. Runs stay in --out; a finished one is not trained again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from place import new_folder

RECIPES = Path(__file__).parent.parent / "recipes"
FILES = {
    "taobao-words-bat": "taobao-zh/words.{}.tsv",
    "taobao-words-transformer": "taobao-zh/words.{}.tsv",
    "taobao-words-rich": "taobao-zh/words.{}.tsv",
    "taobao-chars": "taobao-zh/chars.{}.txt",
    "conll2003": "conll2003-en/{}.txt",
}
SHOWN = ("macro_f1", "macro_f2", "macro_f1_without_none", "macro_f2_without_none")


def run(name: str, seed: int, *, data: Path, out: Path) -> dict[str, Any]:
    """One training and its scores on test."""
    folder = out / f"{name}-{seed}"
    files = {split: str(data / FILES[name].format(split)) for split in ("train", "dev", "test")}
    began = time.monotonic()
    batag = [sys.executable, "-m", "batag"]
    if not (folder / "bundle").exists():
        command = [*batag, "train", files["train"], "--dev", files["dev"], "--out", str(folder)]
        command += ["--recipe", str(RECIPES / f"{name}.toml"), "--set", f"training.seed={seed}", "--json"]
        if (folder / "recipe.toml").exists():
            command = [*batag, "train", "--resume", str(folder), "--json"]
        subprocess.run(command, check=True, capture_output=True)
    seconds = time.monotonic() - began
    command = [*batag, "evaluate", str(folder), files["test"], "--json", "--wrong", str(folder / "wrong.jsonl")]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    scores = {key: 100 * report["tokens"][key] for key in SHOWN}
    scores |= {f"tags_{mean}_{key}": 100 * report["tags"][mean][key] for mean in ("micro", "macro") for key in ("f1", "f2")}
    epoch = json.loads((folder / "bundle" / "bundle.json").read_text(encoding="utf-8"))["metrics"]["dev"]["epoch"]
    print(
        f"{name} seed {seed}: epoch {epoch}, {seconds:.0f} s,",
        *(f"{key} {value:.2f}" for key, value in scores.items()),
        flush=True,
    )
    return {"recipe": name, "seed": seed, "epoch": epoch, "seconds": round(seconds)} | scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("recipes", nargs="*", choices=[*FILES, []])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=new_folder, default="runs")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    names = options.recipes or list(FILES)
    jobs = [(name, seed) for seed in range(options.seeds) for name in names]
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda job: run(*job, data=options.data, out=options.out), jobs))
    print("\n| recipe | seeds | macro F1 | macro F2 | without none F1 | F2 | tags micro F1 | F2 |")
    print("|---|---|---|---|---|---|---|---|")
    for name in names:
        rows = [result for result in results if result["recipe"] == name]
        keys = (*SHOWN, "tags_micro_f1", "tags_micro_f2")
        columns = [[row[key] for row in rows] for key in keys]
        cells = [f"{statistics.mean(c):.1f} ± {statistics.stdev(c) if len(c) > 1 else 0:.1f}" for c in columns]
        print(f"| {name} | {len(rows)} | {' | '.join(cells)} |")
    (options.out / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
