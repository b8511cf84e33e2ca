"""The examples of deployment agree with the service: paths, options, settings and metrics that are there."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from batag.serving.metrics import Metrics
from batag.serving.routes import ROUTES
from batag.settings import settings

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_the_kubernetes_example_names_what_is_there() -> None:
    found = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")))
    deployment, service, scaler = found
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert ROUTES["GET", container[probe]["httpGet"]["path"]].probe
    waits = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    grace = int(container["env"][0]["value"])
    assert grace == settings.serve_grace_seconds
    assert waits + grace < pod["terminationGracePeriodSeconds"]
    metric = scaler["spec"]["metrics"][0]["pods"]["metric"]["name"]
    assert f"\n{metric} " in Metrics().text().decode()
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]


def test_the_options_of_the_examples_are_options_of_the_command() -> None:
    own = (Path(__file__).parents[2] / "src/batag/cli/services/serve.py").read_text(encoding="utf-8")
    for file in ("Dockerfile", "kubernetes.yaml"):
        for option in re.findall(r"(--[a-z-]+)\b(?=[\",\]])", (DEPLOY / file).read_text(encoding="utf-8")):
            assert f'"{option}"' in own, option
