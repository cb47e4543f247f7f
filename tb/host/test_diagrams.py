"""The timing diagrams of docs/integration.md are what the machine does."""

import json
import re

import pytest

from ctm.tb.host.diagrams import DIAGRAMS, FOLDER, drawn


@pytest.mark.long
def test_diagrams_are_what_the_ports_do() -> None:
    assert drawn() == {name: (FOLDER / f"{name}.json").read_text() for name in DIAGRAMS}


@pytest.mark.parametrize("name", DIAGRAMS)
def test_pictures_are_of_them(name: str) -> None:
    """The picture must be drawn again with its text: every name, value and title of the one is in the other."""
    text = json.loads((FOLDER / f"{name}.json").read_text())
    picture = (FOLDER / f"{name}.svg").read_text()
    shown = set(re.findall(r">([^<>]+)</tspan>", picture))
    values = {value for lane in text["signal"] for value in lane.get("data", ())}
    assert {text["head"]["text"], *(lane["name"] for lane in text["signal"]), *values} <= shown
    assert [lane["name"] for lane in text["signal"]] == ["clk", *DIAGRAMS[name].signals]
