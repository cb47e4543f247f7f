"""A file of a sweep gives the points that it says, and what is wrong with it is one line that names the key."""

import re
from pathlib import Path

import pytest

from ctm.examples.catalogue import FOLDER
from ctm.sim.jobs.error import JobError
from ctm.sim.sweep.points import Points, load_points
from ctm.tb.cli.invocation import ctm, error_line, report
from ctm.tb.sweep.sweeps import SAXPY, SMALL, sweep_in

JOB = f'[[jobs]]\nfile = "{SAXPY}"\n'


def points_of(folder: Path, text: str) -> Points:
    return load_points(sweep_in(folder, text))


def settings(points: Points, *names: str) -> list[tuple[object, ...]]:
    return [tuple(point.changed.get(name) for name in names) for point in points.points]


def test_settings_of_a_section_are_multiplied_and_sections_are_added(tmp_path: Path) -> None:
    text = f"""
engines = ["golden"]
[[configurations]]
preset = ["tiny", "default"]
[configurations.settings]
array.threads = [4, 8]
memory.latency = {{first = 10, last = 100, step = 40}}
[[configurations]]
preset = "default"
settings = {{array.cores = {{first = 2, last = 9, factor = 2}}}}
{JOB}"""
    points = points_of(tmp_path, text)
    product = [(threads, latency) for threads in (4, 8) for latency in (10, 50, 90)]
    assert settings(points, "array.threads", "memory.latency")[:6] == product
    assert settings(points, "array.cores")[12:] == [(2,), (4,), (8,)]
    assert [point.preset for point in points.points] == ["tiny"] * 6 + ["default"] * 9
    config = points.points[4].config
    assert (config.array.threads, config.memory.latency, config.array.temporaries) == (8, 50, 128)


def test_sets_are_settings_that_go_together(tmp_path: Path) -> None:
    text = f"""
engines = ["golden", "fast"]
[sets.caches]
small = {{input_cache.sets = 8, shared_cache.sets = 16}}
large = {{input_cache.sets = 64, shared_cache.sets = 256}}
[[configurations]]
preset = "tiny"
sets = ["caches"]
{JOB}"""
    points = points_of(tmp_path, text)
    found = [(point.sets["caches"], point.config.input_cache.sets, point.config.shared_cache.sets, point.engine)
             for point in points.points]  # fmt: skip
    assert found == [
        ("small", 8, 16, "golden"), ("small", 8, 16, "fast"), ("large", 64, 256, "golden"), ("large", 64, 256, "fast"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("array.cores = 4", [(1, 4), (1, 16), (2, 4), (2, 16)]),
        ("array.cores = [1, 2]", [(4, 4), (4, 16)]),
        ("array.cores = {above = 1, at_most = 2}", [(1, 4), (1, 16), (4, 4), (4, 16)]),
        ("array.cores = 4\narray.threads = 4", [(1, 4), (1, 16), (2, 4), (2, 16), (4, 16)]),
        ('array.cores = {at_least = "array.threads"}', [(1, 4), (1, 16), (2, 4), (2, 16), (4, 16)]),
        ('engine = "fast"', [(1, 4), (1, 16), (2, 4), (2, 16), (4, 4), (4, 16)]),
        ("array.cores = {below = 4}\nheight = 32", [(4, 4), (4, 16)]),
    ],
)
def test_a_condition_leaves_points_out_of_which_all_its_keys_hold(
    tmp_path: Path, condition: str, left: list[tuple[int, int]]
) -> None:
    text = f"""
engines = ["golden"]
[[configurations]]
preset = "default"
settings = {{array.cores = [1, 2, 4], array.threads = [4, 16]}}
{JOB}
[[leave_out]]
{condition}
"""
    points = points_of(tmp_path, text)
    assert settings(points, "array.cores", "array.threads") == left
    assert points.left_out == 6 - len(left)


def test_impossible_machines_are_an_error_that_can_be_left_out(tmp_path: Path) -> None:
    text = f"""
engines = ["golden"]
[[configurations]]
preset = ["tiny", "r700"]
settings = {{array.lanes = [4, 16], array.rate = 8}}
{JOB}"""
    with pytest.raises(JobError, match=r"array\.rate must be 1\.\.4, not 8 .*preset tiny, job saxpy.*leave out"):
        points_of(tmp_path, text)
    points = points_of(tmp_path, f'impossible = "leave out"\n{text}')
    assert [point.config.array.lanes for point in points.points] == [16]
    assert points.impossible == 3


def test_points_that_are_the_same_are_one(tmp_path: Path) -> None:
    text = SMALL.replace("[4, 8, 16]", "[4, 4, 8]")
    points = points_of(tmp_path, text)
    assert (len(points.points), points.repeated) == (4, 2)
    assert len({point.identity for point in points.points}) == 4


def test_the_list_has_every_point_and_runs_nothing(tmp_path: Path) -> None:
    path = sweep_in(tmp_path)
    result = ctm("sweep", path, "--list")
    assert result.exit_code == 0 and list(tmp_path.iterdir()) == [path]
    lines = result.output.splitlines()
    assert lines[1].split(maxsplit=1) == ["1", "tiny array.threads=4, saxpy 4 x 12, golden"]
    assert lines[-1] == "6 points"
    listed = report("sweep", path, "--dry-run")["points"]
    assert listed[5] == {
        "number": 5, "configuration": "tiny array.threads=16", "preset": "tiny", "sets": {},
        "settings": {"array.threads": 16}, "job": "saxpy", "height": 4, "width": 12, "engine": "golden",
    }  # fmt: skip


BAD = [
    ('engines = ["golden"]', 'engines = ["golde"]', 2, "engines: there is no engine 'golde'; did you mean 'golden'?"),
    ('engines = ["golden"]', 'engines = ["serial"]', 2, "has one board"),
    ('engines = ["golden"]', 'engine = ["golden"]', 2, "engine: unknown key; did you mean 'engines'?"),
    ('preset = "tiny"', 'preset = "tinny"', 5, "there is no preset 'tinny'; did you mean 'tiny'?"),
    ('preset = "tiny"', "preset = 3", 5, "there is no preset 3"),
    ("array.threads = ", "array.treads = ", 7, "there is no setting 'array.treads'; did you mean 'array.threads'?"),
    ("array.threads = ", "aray.threads = ", 7, "there is no section 'aray'; did you mean 'array'?"),
    ("array.threads = [4, 8, 16]", "array = 4", 7, "is a section of settings"),
    ("[4, 8, 16]", "[4, true]", 7, "takes a whole number, a name, an array"),
    ("[4, 8, 16]", '"many"', 7, "takes a whole number, not the string"),
    ("[4, 8, 16]", "[]", 7, "not an array of no values"),
    ("[4, 8, 16]", "5", 6, "array.threads must be a power of two, not 5 (preset tiny, job saxpy"),
    ("[4, 8, 16]", "{first = 4, last = 16}", 7, "a range has either step or factor"),
    ("[4, 8, 16]", "{first = 4, last = 2, step = 1}", 7, "a range goes up"),
    ("[4, 8, 16]", "{first = 4, lats = 16, step = 4}", 7, "lats: unknown key; did you mean 'last'?"),
    ("[[configurations]]", "[configurations]", 4, "write [[configurations]] instead of [configurations]"),
    ('preset = "tiny"', 'preset = "tiny"\nsets = ["near"]', 6, "there is no set 'near'; there is none"),
    (f'"{SAXPY}"', '"."', 10, ". is a folder; a job is a TOML file"),
    ("saxpy.toml", "saxpi.toml", 10, "saxpi.toml'; did you mean '"),
    ("sizes = [8, [4, 12]]", "sizes = [[4, 12, 1]]", 11, "takes a number or two numbers [height, width]"),
    ("sizes = [8, [4, 12]]", "sizes = [0]", 11, "must be greater than or equal to 1, not 0"),
    ("sizes = [8, [4, 12]]", "size = 8", 11, "unknown key; did you mean 'sizes'?"),
    ("[[jobs]]", '[[leave_out]]\narray.theads = 4\n[[jobs]]', 10, "did you mean 'array.threads'?"),
    ("[[jobs]]", "[[leave_out]]\njbo = 4\n[[jobs]]", 10, "there is no key 'jbo'; did you mean 'job'?"),
    ("[[jobs]]", "[[leave_out]]\narray.threads = {abov = 4}\n[[jobs]]", 10, "did you mean 'above'?"),
    ("[[jobs]]", '[[leave_out]]\narray.threads = {above = "array.lane"}\n[[jobs]]', 10, "did you mean 'array.lanes'?"),
    ("[[jobs]]", '[[leave_out]]\nsets.caches = "small"\n[[jobs]]', 10, "there is no set 'caches'"),
    ("[[jobs]]", '[[leave_out]]\njob = "saxy"\n[[jobs]]', 10, "there is no job 'saxy'"),
    ("[[jobs]]", '[[leave_out]]\nengine = "gold"\n[[jobs]]', 10, "there is no engine 'gold'"),
    ("[[jobs]]", '[[leave_out]]\npreset = "defalt"\n[[jobs]]', 10, "there is no preset 'defalt'"),
    ("[[jobs]]", '[[leave_out]]\nheight = "x"\n[[jobs]]', 10, 'as {above = 4}, not the string "x"'),
    ("[[jobs]]", '[[leave_out]]\narray.cores = "1"\n[[jobs]]', 10, 'takes a number, an array of numbers, or a comp'),
    ("[[jobs]]", '[[leave_out]]\narray.cores = []\n[[jobs]]', 10, "not an array of no values"),
    ("[[jobs]]", '[[leave_out]]\njob = {above = 4}\n[[jobs]]', 10, "takes a name or several, not a table"),
    ("[[jobs]]", '[[leave_out]]\narray.instruction_set = 4\n[[jobs]]', 10, "takes a name or several, not 4"),
    (
        "[[jobs]]", '[[leave_out]]\narray.cores = {above = "array.instruction_set"}\n[[jobs]]', 10,
        "there is no setting 'array.instruction_set'",
    ),
    ("[[jobs]]", "[[leave_out]]\n[[jobs]]", 9, "is empty, and would leave out everything"),
    ("[[jobs]]", "[[leave_out]]\nheight = {above = 0}\n[[jobs]]", None, "there is no point: everything is left out"),
    ("[[jobs]]", f'[[jobs]]\nfile = "{SAXPY}"\n[[jobs]]', 11, "two jobs are called 'saxpy'"),
    ("[[jobs]]", "[[jobs", 9, ""),
]  # fmt: skip


@pytest.mark.parametrize(("found", "wrong", "line", "message"), BAD)
def test_an_error_is_one_line_with_position_and_remedy(
    tmp_path: Path, found: str, wrong: str, line: int | None, message: str
) -> None:
    assert found in SMALL
    path = sweep_in(tmp_path, SMALL.replace(found, wrong, 1))
    said = error_line("sweep", path)
    prefix = f"{path}:{line}: " if line is not None else f"{path}:"
    assert said.startswith(f"error: {prefix}") and message in said, said
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["", ".", "/", "..", "table.csv"])
def test_a_table_has_the_name_of_one(tmp_path: Path, name: str) -> None:
    said = error_line("sweep", sweep_in(tmp_path), "-o", name)
    assert said.startswith("error: -o ") and said.endswith("its name must end in .parquet\n")


def test_many_points_are_told_while_they_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctm.sim.sweep.points._TOLD", 2)
    told: list[str] = []
    found = load_points(sweep_in(tmp_path, SMALL), told.append)
    assert told[0] == "2 configurations are checked ..."
    assert told[-1] == f"{len(found.points) // 2 * 2} combinations with jobs and engines are checked ..."


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert "cannot read the sweep: No such file" in error_line("sweep", tmp_path / "none.toml")


def test_the_example_has_its_points() -> None:
    points = load_points(FOLDER / "sweep" / "sweep.toml")
    assert (len(points.points), points.left_out) == (22, 2)
    assert len({point.configuration for point in points.points}) == 6


def test_the_file_in_the_document_is_right(tmp_path: Path) -> None:
    text = (FOLDER.parent / "docs" / "sweep.md").read_text()
    (shown,) = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "saxpy").symlink_to(FOLDER / "saxpy")
    (tmp_path / "own").mkdir()
    points = points_of(tmp_path / "own", shown)
    # Of 288 those on small caches whose cores are 2 or 4, and no more than wave slots.
    assert (len(points.points), points.left_out) == (288 - 2 * 2 * 3 * 4 * 2, 2 * 2 * 3 * 4 * 2)
    assert {point.config.array.threads for point in points.points} == {4, 8, 16}
