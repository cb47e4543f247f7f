"""Examples: right results, whatever the size of a group, and no hazards; and the demonstration of them."""

import importlib.metadata
import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ctm.examples.bitonic.reference import passes
from ctm.examples.blackscholes.reference import CONSTANTS
from ctm.examples.catalogue import FOLDER, REFERENCES, job
from ctm.examples.early_out.reference import classified
from ctm.examples.expectation import Expectation
from ctm.sim.jobs.loading import load_job
from ctm.tb.system.demonstrating import command
from ctm.tb.system.example_runs import assert_holds, outputs, run

COMPILED = "compiled"
TORUS = "torus"
AT_ONCE = (TORUS, "enlarged")
NOTEBOOK, R700, SWEEP = "notebook", "r700", "sweep"
R700_SHOWN = ("r700/mandelbrot", "r700/matmul", "r700/sha256")
SLOW = ("mandelbrot", "blur", "nbody", "r700/mandelbrot")
"""Examples that hardware is simulated for ten seconds and more to run."""


def test_every_folder_has_a_job_a_source_an_explanation_and_a_reference() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {*REFERENCES, COMPILED, NOTEBOOK, R700, SWEEP}
    for name in REFERENCES:
        assert job(name).exists()
        assert list((FOLDER / name).glob("*.s"))
        assert (FOLDER / name / "README.md").read_text().startswith(f"# {name}\n")
    assert {path.suffix for path in (FOLDER / COMPILED).iterdir()} == {".json", ".npz", ".md"}


@pytest.mark.parametrize("name", REFERENCES)
def test_inputs_are_those_that_the_reference_makes(name: str) -> None:
    arrays = REFERENCES[name].inputs()
    assert {path.name for path in (FOLDER / name).glob("*.npy")} >= arrays.keys()
    for file, array in arrays.items():
        kept = np.load(FOLDER / name / file)
        assert (kept.dtype, kept.shape, kept.tobytes()) == (array.dtype, array.shape, array.tobytes())


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_result_is_that_of_numpy_for_every_group_size_and_without_hazards(name: str, is_long: bool) -> None:
    loaded = load_job(job(name))
    found = outputs(loaded, run(loaded))
    assert_holds(found, REFERENCES[name].expected(REFERENCES[name].inputs()))
    for lanes in (8, 16) if is_long or name not in SLOW else ():
        for file, array in outputs(loaded, run(loaded, group=lanes)).items():
            assert array.tobytes() == found[file].tobytes(), f"{file}, groups of {lanes}"


def test_first_pass_of_early_out_leaves_what_the_second_one_reads() -> None:
    first = load_job(FOLDER / "early_out" / "classify.toml")
    for lanes in (4, 8, 16):
        assert_holds(outputs(first, run(first, group=lanes)), classified())


@pytest.mark.parametrize(("lanes", "factor"), [(4, 2.7), (8, 2.3), (16, 1.9)])
def test_early_out_saves_instructions_and_changes_nothing(lanes: int, factor: float) -> None:
    jobs = [load_job(FOLDER / "early_out" / f"{name}.toml") for name in ("classify", "early_out")]
    everywhere = replace(jobs[1], job=jobs[1].job.model_copy(update={"conditional": None}), conditional=None)
    runs = [run(loaded, group=lanes) for loaded in (*jobs, everywhere)]
    assert runs[1].outputs[0].tobytes() == runs[2].outputs[0].tobytes()
    spent, without = sum(found.report.instructions for found in runs[:2]), runs[2].report.instructions
    assert without > factor * spent


def test_arithmetic_instructions_of_the_matmul_loop_are_multiply_adds() -> None:
    loop = re.search(r"^REP(.*?)^ENDREP", (FOLDER / "matmul" / "matmul.s").read_text(), re.DOTALL | re.MULTILINE)
    assert loop is not None
    arithmetic = re.findall(r"^ +ALU .*? = (\w+)", loop[1], re.MULTILINE)
    assert arithmetic == ["MAD"] * 34
    assert len(re.findall(r"\|\| at\d\.a = ADD", loop[1])) == 8
    assert loop[1].count("TEX") == loop[1].count("unscaled") == 16


def test_passes_of_the_bitonic_job_follow_the_rule() -> None:
    launches = load_job(job("bitonic")).launches
    wanted = [
        {
            index: tuple(int(word) for word in np.array(values, np.float32).view(np.uint32))
            for index, values in constants.items()
        }
        for constants in passes()
    ]
    assert [launch.constants.floats for launch in launches] == wanted


def test_constants_of_the_black_scholes_job_are_those_of_its_reference() -> None:
    floats = load_job(job("blackscholes")).launches[0].constants.floats
    for index, values in CONSTANTS.items():
        np.testing.assert_array_equal(np.array(floats[index], np.uint32), np.array(values, np.float32).view(np.uint32))


def test_an_expectation_of_equal_bits_tells_zeros_apart() -> None:
    expectation = Expectation(np.zeros((1, 2, 1), np.float32))
    assert expectation.holds(np.zeros((1, 2, 1), np.float32))
    assert not expectation.holds(np.array([[[0.0], [-0.0]]], np.float32))
    assert not expectation.holds(np.zeros((1, 2, 1)))
    assert not expectation.holds(np.zeros((2, 1, 1), np.float32))


def test_an_expectation_with_a_tolerance_fails_on_what_is_further_off_or_no_number() -> None:
    expectation = Expectation(np.array([1.0, np.inf, np.nan]), np.array([0.25, 0.25, 0.25]))
    assert expectation.holds(np.array([1.25, np.inf, np.nan], np.float32))
    assert expectation.worst_error(np.array([1.25, np.inf, np.nan], np.float32)) == 0.25
    for wrong in ([1.5, np.inf, np.nan], [1.0, -np.inf, np.nan], [1.0, 3.0, np.nan], [np.nan, np.inf, np.nan]):
        assert not expectation.holds(np.array(wrong, np.float32))


def demonstrate(*arguments: object, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run the demonstration as `command` has it."""
    text = command(*arguments, before=before)
    return subprocess.run(text, cwd=FOLDER.parent, capture_output=True, text=True, check=False)


@pytest.mark.long
@pytest.mark.parametrize("left_out", [SLOW, ()], ids=["short ones", "all"])
def test_the_demonstration_finds_everything_right_and_leaves_its_pictures(
    tmp_path: Path, left_out: Sequence[str]
) -> None:
    shown = [name for name in (*REFERENCES, *R700_SHOWN) if name not in left_out]
    result = demonstrate(*((*shown, COMPILED, *AT_ONCE) if left_out else ()), "--output", tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    report = (tmp_path / "report.html").read_text()
    assert str(tmp_path / "report.html") in result.stdout.replace("\n", "")
    assert "All are right." in report and "WRONG" not in report
    assert "Where the instructions of " in report and '<details class="line"' in report
    for name in (*shown, TORUS, "large mandelbrot"):
        assert f'data-title="program">{name}' in report
    pictures = sorted(path.name for path in tmp_path.glob("*.png"))
    assert pictures == sorted(re.findall(r'src="([^"]+)"', report))
    assert len(pictures) == 12 - len(left_out)
    for picture in pictures:
        with Image.open(tmp_path / picture) as image:
            image.load()
            assert image.height >= 256
            colours = np.asarray(image.convert("RGB")).reshape(-1, 3)
            assert len(np.unique(colours, axis=0)) > 10


@pytest.mark.slow
def test_the_report_says_what_it_is_of_and_is_made_for_every_screen(tmp_path: Path) -> None:
    result = demonstrate("saxpy", "-o", tmp_path)
    report = (tmp_path / "report.html").read_text()
    assert '<meta name="viewport" content="width=device-width' in report
    assert f"Version {importlib.metadata.version('ctm-machine')}, {date.today():%-d %B %Y}." in report
    assert "The default configuration: one core of 4 lanes" in report
    titles = re.findall(r"<th[^>]*>([^<]+)</th>", report)
    assert titles == re.findall(r"<dt>([^<]+)<dd>\w", report) == re.findall(r'data-title="([^"]+)"', report)
    assert re.search(r'data-title="ALU issue">\d+\.\d %<', report)
    # No figure is cut, however narrow the terminal.
    assert "…" not in result.stdout


@pytest.mark.slow
def test_the_demonstration_of_a_wrong_result_says_so_and_fails(tmp_path: Path) -> None:
    result = demonstrate("saxpy", "-o", tmp_path, before="from ctm.examples.saxpy import reference\nreference.A = 2.25")
    assert result.returncode == 1
    assert "WRONG" in result.stdout
    assert "1 of 1 are wrong." in (tmp_path / "report.html").read_text()


def test_an_unknown_name_of_a_demonstration_is_an_error(tmp_path: Path) -> None:
    result = demonstrate("fractal", "-o", tmp_path)
    assert result.returncode == 2
    assert "fractal" in result.stderr
    assert not list(tmp_path.iterdir())
