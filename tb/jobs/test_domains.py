"""Domains that are likely not meant are named on standard error; the job runs."""

from pathlib import Path

import numpy as np
import pytest

from ctm.examples.catalogue import REFERENCES, job
from ctm.sim.jobs.loading import load_job
from ctm.tb.cli.invocation import ctm
from ctm.tb.jobs.folder import Folder, executable
from ctm.tb.r5xx.machine import move


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.make(tmp_path)


def warnings(folder: Folder) -> list[str]:
    """What is said of a job that runs, without its folder."""
    result = ctm("run", folder.job)
    assert result.exit_code == 0
    return [line.replace(f"{folder.path}/", "") for line in result.stderr.splitlines()]


def test_nothing_is_said_of_a_domain_that_fits(folder: Folder) -> None:
    assert warnings(folder) == []
    folder.change("i = [0, 12]", "i = [3, 7]")
    assert warnings(folder) == []


@pytest.mark.parametrize("interval", ["[62, 1]", "[12, 11]"])
def test_an_empty_domain_is_named(folder: Folder, interval: str) -> None:
    folder.change("i = [0, 12]", f"i = {interval}")
    assert warnings(folder) == [
        f"warning: job.toml:5: domain.i: {interval} is empty, so no pixel runs; the first end comes first"
    ]
    assert (np.load(folder.path / "y.npy") == 7).all()


def test_a_domain_that_reaches_beyond_an_output_is_named(folder: Folder) -> None:
    folder.change("i = [0, 12]", "i = [0, 13]")
    folder.change("j = [0, 4]", "j = [4, 9]")
    assert warnings(folder) == [
        "warning: job.toml:5: domain.i: [0, 13] reaches beyond output 0, which ends at 12",
        "warning: job.toml:6: domain.j: [4, 9] reaches beyond output 0, which ends at 4",
    ]


def test_a_domain_that_reaches_beyond_the_conditional_buffer_is_named(folder: Folder) -> None:
    section = '[conditional]\nlocation = "PE"\ntest = "ALWAYS"\nfile = "d.npy"\nshape = [5, 12]\nwrite = true\n'
    folder.change("[constants]", section + "[constants]")
    assert warnings(folder) == [
        "warning: job.toml:5: domain.i: [0, 12] reaches beyond the conditional buffer, which ends at 11"
    ]


def test_passes_that_are_alike_are_named_once(folder: Folder) -> None:
    wide = "[[passes]]\ndomain_i = [0, 20]\ndomain_j = [0, 4]\n"
    empty = "[[passes]]\ndomain_i = [0, 12]\ndomain_j = [4, 0]\n"
    folder.change("[domain]\ni = [0, 12]\nj = [0, 4]\n", wide * 3 + empty)
    assert warnings(folder) == [
        "warning: job.toml:5: passes[0].domain_i: [0, 20] reaches beyond output 0, which ends at 12",
        "warning: job.toml:15: passes[3].domain_j: [4, 0] is empty, so no pixel runs; the first end comes first",
    ]


def test_outputs_that_the_program_does_not_write_do_not_count(folder: Folder) -> None:
    other = '[[outputs]]\nindex = 1\nfile = "z.npy"\nshape = [1, 1]\nformat = "FLOAT32_4"\n'
    folder.change("[constants]", other + "[constants]")
    assert warnings(folder) == []


def test_uncached_writes_go_where_they_like(folder: Folder) -> None:
    (folder.path / "scale.elf").write_bytes(executable([move(0, 0, output=0)], uncached_writes=True))
    folder.change("i = [0, 12]", "i = [0, 100]")
    folder.change("shape = [5, 13]", "shape = [5, 16]")
    assert load_job(folder.job).warnings == ()


def test_padding_between_numbered_elements_is_named(folder: Folder) -> None:
    (folder.path / "scale.elf").write_bytes(executable([move(0, 0, output=0)], uncached_writes=True))
    (said,) = load_job(folder.job).warnings
    assert "job.toml:16: outputs[0].shape: scale.elf writes elements by their numbers" in said
    assert "rows to 16 elements" in said and "a multiple of 4 has none" in said


@pytest.mark.parametrize("shape", [[5, 32], [1, 13]])
def test_numbered_elements_without_padding_between_them(folder: Folder, shape: list[int]) -> None:
    (folder.path / "scale.elf").write_bytes(executable([move(0, 0, output=0)], uncached_writes=True))
    folder.change("shape = [5, 13]", f"shape = {shape}")
    assert load_job(folder.job).warnings == ()


@pytest.mark.parametrize("name", REFERENCES)
def test_nothing_is_said_of_the_examples(name: str) -> None:
    assert load_job(job(name)).warnings == ()
