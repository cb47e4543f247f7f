"""The sample of a large domain: where it is taken, and jobs of which there is none."""

from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import DEFAULT
from ctm.sim.jobs.execution import Execution, Run, first_difference
from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.sim.jobs.sample import sample
from ctm.tb.jobs.folder import Folder, executable
from ctm.tb.r5xx.machine import alu, move
from ctm.tb.r5xx.statements import fetch

SMALL = "i = [0, 12]\nj = [0, 4]"


def large(folder: Folder, i: tuple[int, int] = (0, 599), j: tuple[int, int] = (0, 499)) -> Folder:
    """The job over a larger domain; those beyond the input's edges get what is there."""
    folder.change(SMALL, f"i = {list(i)}\nj = {list(j)}")
    folder.change("shape = [5, 13]", f"shape = [{j[1] + 1}, {i[1] + 1}]")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.make(tmp_path)


def tiles(job: LoadedJob) -> list[tuple[int, int, int, int]]:
    """First and last column, first and last row of each."""
    selection = sample(job)
    assert selection is not None
    sections = [launch.section for launch in selection.job.launches]
    return [(*section.domain_i, *section.domain_j) for section in sections]


@pytest.mark.parametrize(
    ("i", "j"), [((0, 599), (0, 499)), ((3, 1030), (101, 400)), ((4, 70), (1, 4095)), ((0, 4095), (7, 70))]
)
def test_it_is_drawn_from_the_whole_domain(folder: Folder, i: tuple[int, int], j: tuple[int, int]) -> None:
    found = tiles(load_job(large(folder, i, j).job))
    assert len(found) == len(set(found)) >= 40
    chosen = np.zeros((j[1] + 1, i[1] + 1), int)
    for i0, i1, j0, j1 in found:
        assert i[0] <= i0 <= i1 <= i[1] and j[0] <= j0 <= j1 <= j[1]
        chosen[j0 : j1 + 1, i0 : i1 + 1] += 1
    assert chosen.max() == 1
    assert all(chosen[row, column] for row in j for column in i)
    # Some of every sixteenth.
    inside = chosen[j[0] :, i[0] :]
    for rows in np.array_split(inside, 4 if inside.shape[0] > 250 else 1):
        for selection in np.array_split(rows, 4 if inside.shape[1] > 250 else 1, axis=1):
            assert selection.any()


def test_it_has_whole_wavefronts(folder: Folder) -> None:
    """Of whatever size: the widest that there are have 32 columns."""
    i, j = (3, 1030), (101, 400)
    for i0, i1, j0, j1 in tiles(load_job(large(folder, i, j).job)):
        for first, last, domain in ((i0, i1, i), (j0, j1, j)):
            start = domain[0] & ~1
            assert first == domain[0] or (first - start) % 32 == 0
            assert last == domain[1] or (last - start) % 32 == 31


def test_pixels_that_see_coverage_compute_the_same(folder: Folder) -> None:
    """MDH takes a neighbour's value, which a fetch leaves unchanged where no pixel is covered."""
    rgb = {"addr0": 1, "addr1": 2, "rgb_op": 11, "rgb_addrd": 2, "red_swiz_b": 6, "green_swiz_b": 6, "blue_swiz_b": 6}
    program = [
        move(1, 0), fetch(destination=1, ignore_uncovered=1), alu(rgb=rgb, rgb_wmask=7, tex_sem_wait=1),
        move(0, 2, output=0),
    ]  # fmt: skip
    (folder.path / "scale.elf").write_bytes(executable(program))
    job = load_job(large(folder, (1, 600), (1, 500)).job)
    selection = sample(job)
    assert selection is not None
    runs = [Execution(each, engine="golden", config=DEFAULT, watchdog=1000).run() for each in (job, selection.job)]
    assert first_difference(*map(selection.of, runs)) is None
    assert selection.pixels == sum((i1 - i0 + 1) * (j1 - j0 + 1) for i0, i1, j0, j1 in tiles(job))


def test_what_lies_outside_is_not_compared(folder: Folder) -> None:
    job = load_job(large(folder).job)
    selection = sample(job)
    assert selection is not None
    values = np.random.default_rng(1).random((500, 600, 4), np.float32)
    masked = selection.of(Run(outputs={0: values}, report=None)).outputs[0]  # type: ignore[arg-type]
    inside = masked.any(axis=-1)
    np.testing.assert_array_equal(masked[inside], values[inside])
    assert inside.sum() == selection.pixels < 60_000


def change(folder: Folder, kind: str) -> None:
    passes = "[[passes]]\ndomain_i = [0, 599]\ndomain_j = [0, 499]\n"
    if kind == "a small domain":
        folder.change("i = [0, 599]", "i = [0, 523]")
    elif kind == "several launches":
        folder.change("[domain]\ni = [0, 599]\nj = [0, 499]\n", passes * 2)
    elif kind == "a launch again and again":
        folder.change("[domain]\ni = [0, 599]\nj = [0, 499]\n", f"{passes}repeat = 2\n")
    elif kind == "a conditional test":
        text = '\n[conditional]\nlocation = "PE"\ntest = "ALWAYS"\n'
        folder.job.write_text(folder.job.read_text() + text)
    elif kind == "uncached writes":
        (folder.path / "scale.elf").write_bytes(executable([move(0, 0, output=0)], uncached_writes=True))
        folder.change('shape = [500, 600]\nformat = "FLOAT32_4"', 'shape = [500, 600]\nformat = "FLOAT32_1"')


@pytest.mark.parametrize(
    "kind",
    [
        "a small domain", "several launches", "a launch again and again", "a conditional test", "uncached writes",
    ],
)  # fmt: skip
def test_there_is_none_of(folder: Folder, kind: str) -> None:
    change(large(folder), kind)
    assert sample(load_job(folder.job)) is None
