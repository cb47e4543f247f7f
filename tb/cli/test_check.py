"""A run that is compared with the golden model and differs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ctm.sim.cli import comparison
from ctm.sim.engines.fast import finish
from ctm.sim.engines.fast.r5xx import translation
from ctm.sim.jobs.loading import load_job
from ctm.sim.jobs.sample import sample
from ctm.tb.cli.invocation import ctm, report
from ctm.tb.jobs.folder import Folder, executable, scale


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A job whose engine is said to have computed something else."""
    monkeypatch.setattr(comparison, "first_difference", lambda found, expected: "output 0 differs")
    return Folder.make(tmp_path)


def test_a_difference_with_a_hazard_says_where(folder: Folder) -> None:
    program = scale()
    program[1] = (program[1][0] & ~4, *program[1][1:])
    (folder.path / "scale.elf").write_bytes(executable(program))
    result = ctm("run", folder.job, "--check")
    assert result.exit_code == 1
    first, second = result.stderr.splitlines()
    assert first == "error: output 0 differs"
    assert second.startswith("a likely reason, which --engine golden --hazards reports too: HAZARD: ")
    assert "pc 1: reads r1.r, which a fetch has not delivered" in second
    assert report("run", folder.job, "--check")["status"] == "mismatch"
    assert not (folder.path / "y.npy").exists()


def test_a_difference_without_one_says_nothing_of_it(folder: Folder) -> None:
    assert ctm("run", folder.job, "--check").stderr == "error: output 0 differs\n"


def beside_the_sample(folder: Folder) -> tuple[int, int]:
    """A pixel of a large job's domain that is not in its sample."""
    job = load_job(folder.job)
    chosen_sample = sample(job)
    assert chosen_sample is not None
    (section,) = (launch.section for launch in job.launches)
    chosen = [launch.section for launch in chosen_sample.job.launches]
    return next(
        (i, j)
        for j in range(section.domain_j[1])
        for i in range(section.domain_i[1])
        if not any(
            each.domain_i[0] <= i <= each.domain_i[1] and each.domain_j[0] <= j <= each.domain_j[1] for each in chosen
        )
    )


PIXELS: dict[str, Callable[[Folder], tuple[int, ...]]] = {
    "anywhere": lambda folder: (),
    "in the corner": lambda folder: (599, 499),
    "beside the sample": beside_the_sample,
}
"""Pixels whose red channel engine `fast` stores with a wrong bit."""


@pytest.fixture
def wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Folder:
    """A large job that engine `fast` does wrong, which is compiled with a cache of its own."""
    folder = Folder.make(tmp_path)
    folder.change("i = [0, 12]\nj = [0, 4]", "i = [0, 599]\nj = [0, 499]")
    folder.change("shape = [5, 13]", "shape = [500, 600]")
    pixel, send = PIXELS[request.param](folder), finish.send

    def with_a_wrong_bit(kernel: Any, live: Any, outputs: Any, **options: Any) -> None:
        lanes, builder = kernel.lanes, kernel.lanes.builder
        here = lanes.all
        for index, coordinate in zip((kernel.x, kernel.y), pixel, strict=False):
            here = builder.and_(here, lanes.mask(builder.icmp_unsigned("==", index, lanes.integer(coordinate))))
        bit = builder.and_(here, lanes.integer(1))
        register = outputs[0]
        red = lanes.as_floats(builder.xor(lanes.words(register.values[0]), bit))
        send(kernel, live, {0: replace(register, values=[red, *register.values[1:]])}, **options)

    monkeypatch.setattr(translation, "send", with_a_wrong_bit)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.mark.parametrize("wrong", ["anywhere", "in the corner"], indirect=True)
def test_a_sample_finds_a_wrong_bit(wrong: Folder) -> None:
    result = ctm("run", wrong.job, "--engine", "fast", "--check")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: output 0 differs at (i, j) = (")
    assert "channel 0" in result.stderr
    assert not (wrong.path / "y.npy").exists()


@pytest.mark.parametrize("wrong", ["beside the sample"], indirect=True)
def test_all_of_a_domain_is_compared_on_request(wrong: Folder) -> None:
    found = ctm("run", wrong.job, "--engine", "fast", "--check")
    assert found.exit_code == 0
    assert "equal to the golden model in every bit of a sample of " in found.stdout
    assert "--check-all compares all" in found.stdout
    result = ctm("run", wrong.job, "--engine", "fast", "--check-all")
    assert result.exit_code == 1
    assert f"differs at (i, j) = {beside_the_sample(wrong)}, channel 0" in result.stderr
    assert "1 channels differ in all" in result.stderr
    # The golden model does it right, and all of it is compared.
    assert "in every bit\n" in ctm("run", wrong.job, "--engine", "golden", "--check").stdout


def test_of_a_small_domain_all_is_compared(tmp_path: Path) -> None:
    result = ctm("run", Folder.make(tmp_path).job, "--engine", "fast", "--check")
    assert (result.exit_code, "in every bit\n" in result.stdout) == (0, True)
