"""Whatever stands at a key of a sweep's file, it is taken or it is one line."""

import copy
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctm.sim.jobs.error import JobError
from ctm.sim.sweep.points import load_points
from ctm.tb.sweep.sweeps import SAXPY

WHOLE = f"""
engines = ["golden"]
area = false
impossible = "leave out"
watchdog = 1000
max_cycles = 1000
[sets.caches]
small = {{input_cache.sets = 8}}
[[configurations]]
preset = ["tiny"]
sets = ["caches"]
[configurations.settings]
array.threads = [4, 8]
memory.latency = {{first = 1, last = 4, step = 3}}
array.walk = "rows"
[[jobs]]
file = "{SAXPY}"
name = "saxpy"
sizes = [8, [4, 12]]
[[leave_out]]
preset = "tiny"
job = ["saxpy"]
engine = "fast"
height = {{above = 8}}
array.threads = {{below = "array.lanes"}}
sets.caches = "small"
"""
"""A file with every key."""
VALUES: tuple[Any, ...] = (
    None, 3, -1, 0, 10**30, 1.5, float("nan"), True, "", "x", "\0", [], [[]], [[1]], [{}], {}, {"a": 1},
    {"first": 1, "last": 10**12, "step": 1}, {"first": 1, "last": 10**40, "factor": 2}, ["x", "x"], [None],
)  # fmt: skip
"""The replacements of each value; None takes the key away."""

Path_ = tuple[str | int, ...]


def paths(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The path of every value of TOML."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*path, key))


def text_of(values: Any) -> str:
    """A value of TOML as text, all tables inline."""
    if isinstance(values, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {text_of(value)}" for key, value in values.items()) + "}"
    if isinstance(values, list):
        return "[" + ", ".join(map(text_of, values)) + "]"
    return "nan" if values != values else json.dumps(values)


def changed(path: Path_, value: Any) -> str:
    """The whole file with another value at a path."""
    values = copy.deepcopy(tomllib.loads(WHOLE))
    inner: Any = values
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = [each for each in value if each is not None] if isinstance(value, list) else value
    return "\n".join(f"{key} = {text_of(value)}" for key, value in values.items())


@pytest.mark.parametrize("path", list(paths(tomllib.loads(WHOLE))), ids=lambda path: ".".join(map(str, path)))
def test_any_value_is_taken_or_is_one_line(tmp_path: Path, path: Path_) -> None:
    file = tmp_path / "sweep.toml"
    for value in VALUES:
        file.write_text(changed(path, value))
        try:
            points = load_points(file)
        except JobError as error:
            said = str(error)
            assert said.startswith(str(file)) and "\n" not in said, said
            assert "Input should" not in said and "validation" not in said, (value, said)
        else:
            assert points.points


def test_the_whole_file_is_right(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(WHOLE)
    points = load_points(file)
    assert (len(points.points), points.left_out) == (8, 0)
