"""The notebook of the examples, cell by cell, and what its last values show."""

import ast
import copy
import io
import json
import linecache
import pickle
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ctm import kernel
from ctm.examples.catalogue import FOLDER
from ctm.language import vec2
from ctm.rtl.dpp.watch import Wait
from ctm.sim.kernels.profiling import KernelProfile
from ctm.sim.runtime import Device
from ctm.tb.lib.machines import BEATS

NOTEBOOK = FOLDER / "notebook" / "profile.ipynb"


def executed(path: Path) -> list[Any]:
    """The value of each code cell: that of its last expression, None if it ends otherwise."""
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    scope: dict[str, Any] = {"__name__": "__main__"}
    values = []
    for number, cell in enumerate(cells):
        assert cell["outputs"] == []
        text, name = "".join(cell["source"]), f"<cell {number}>"
        # As a notebook does it, so that the source of a function is there.
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        tree = ast.parse(text, name)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), scope)
        is_value = isinstance(last, ast.Expr)
        values.append(eval(compile(ast.Expression(last.value), name, "eval"), scope) if is_value else None)  # type: ignore[union-attr]
    return values


@pytest.fixture(scope="module")
def values() -> list[Any]:
    return executed(NOTEBOOK)


def test_its_values_show_themselves(values: list[Any]) -> None:
    _, shape, image, r5xx, r700, profile, table = values
    assert shape == (100, 160)
    with Image.open(io.BytesIO(image._repr_png_())) as picture:
        assert picture.size == (160, 100) and len(np.unique(np.asarray(picture))) > 10
    assert "REP" in r5xx._repr_html_() and "LOOP_START_DX10" in r700._repr_html_()
    for text in (r5xx, r700):
        shown = text._repr_html_()
        assert "\n.line " in text and ".line " not in shown and ".file " not in shown and "&lt;cell 1&gt;:" in shown
    HTMLParser().feed(profile._repr_html_())
    assert "square" not in str(profile) and "x * x + y * y" in profile._repr_html_()
    rows = table if isinstance(table, list) else table.to_dict("records")
    assert sum(row["issues"] for row in rows) == profile.report.instructions
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert table._repr_html_().count("<tr") == len(rows) + 1 and "for _ in range" in table._repr_html_()


@kernel
def shade(pixel: vec2) -> float:
    """Something short."""
    return pixel.x * 0.5 + pixel.y


@pytest.mark.slow
def test_a_profile_on_hardware_says_what_wavefronts_waited_for() -> None:
    found = shade[16, 16].profile(engine="rtl", config=BEATS, isa="r5xx")
    golden = shade[16, 16].profile(isa="r5xx")
    assert isinstance(found, KernelProfile) and found.report.cycles
    assert np.array_equal(found.result, golden.result) and np.array_equal(found.result, shade[16, 16]())
    assert found.program.figures.waited[Wait.RESULT] > 0 and not golden.program.figures.waited
    assert found.program.figures.issues == golden.program.figures.issues == found.report.instructions
    assert f"{found.report.cycles:,} cycles" in found._repr_html_()


def test_an_engine_that_cannot_be_watched_is_an_error() -> None:
    with pytest.raises(ValueError, match="engine 'fast' cannot be watched"):
        shade[16, 16].profile(engine="fast")
    with pytest.raises(TypeError, match="has a device of its own, which is watched: give engine= and config="):
        shade[16, 16].profile(device=Device())


def test_a_kernel_is_pickled_and_copied_as_a_function_is() -> None:
    assert pickle.loads(pickle.dumps(shade)) is shade
    assert copy.deepcopy([shade])[0] is shade
