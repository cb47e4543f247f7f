"""Compiled kernels do not get slower unnoticed, and stay as near to programs by hand as docs/kernels.md says."""

import json
from pathlib import Path

import pytest

from ctm.tb.system.kernel_jobs import JOBS, run

RECORDED: dict[str, dict[str, int]] = json.loads(Path(__file__).with_name("kernel_cycles.json").read_text())
"""Cycles by example and language: "s" is the program by hand."""
INSTRUCTIONS: dict[str, dict[str, int]] = json.loads(Path(__file__).with_name("kernel_instructions.json").read_text())
"""Instructions that wavefronts of the same issue."""
WORSE = 1.03
FARTHEST = {"matmul": 3.0, "blur": 2.5} | dict.fromkeys([name for name in JOBS if name.startswith("r700/")], 1.5)
"""Times the cycles of the program by hand; 2 where nothing is said."""
ALL = [(name, language) for name, cycles in RECORDED.items() for language in cycles]


@pytest.mark.parametrize(("name", "language"), ALL)
def test_instructions_are_as_few_as_they_were(name: str, language: str, tmp_path: Path) -> None:
    """Without hardware: code that gets worse issues more of them."""
    assert run(name, language, tmp_path, "fast").report.instructions <= WORSE * INSTRUCTIONS[name][language]


@pytest.mark.long
@pytest.mark.parametrize(("name", "language"), ALL)
def test_cycles_are_those_that_are_recorded(name: str, language: str, tmp_path: Path) -> None:
    """On the default presets, which the suite without --long compiles for nothing else."""
    cycles = run(name, language, tmp_path, "rtl").report.cycles
    assert cycles == RECORDED[name][language]


@pytest.mark.parametrize("name", JOBS)
def test_kernels_are_near_to_programs_by_hand(name: str) -> None:
    cycles = RECORDED[name]
    assert max(cycles["c"], cycles["py"]) <= FARTHEST.get(name, 2.0) * cycles["s"]


def test_everything_is_recorded() -> None:
    assert set(RECORDED) == set(INSTRUCTIONS) == set(JOBS)


def test_figures_of_the_documentation_are_those() -> None:
    text = (Path(__file__).parents[2] / "docs" / "kernels.md").read_text()
    for name, cycles in RECORDED.items():
        for language in ("c", "s", *(["py"] if JOBS[name].isa == "r700" else [])):
            assert f" {cycles[language]:,} |" in text, (name, language)
