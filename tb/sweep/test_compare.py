"""The gate: what changed is shown, and what is worse beyond the tolerance is exit status 1."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctm.sim.sweep.columns import columns_of
from ctm.sim.sweep.compare import changes
from ctm.sim.sweep.table import read_table, write_table
from ctm.tb.cli.invocation import ctm, error_line
from ctm.tb.sweep.sweeps import POINTS, sweep_in

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A sweep and its table."""
    folder = tmp_path_factory.mktemp("made")
    path = sweep_in(folder)
    assert ctm("sweep", path, "--workers", 0, "--no-page").exit_code == 0
    return path, folder / "sweep.parquet"


def compared(made: tuple[Path, Path], old: Rows, folder: Path, *options: object) -> tuple[int, list[dict[str, Any]]]:
    """Exit status and changes of the table of a sweep beside an older one with these rows."""
    path, table = made
    write_table(folder / "old.parquet", old, columns_of(()))
    command = ("sweep", path, "-o", table, "--resume", "--no-page", "--workers", 0, "--json")
    result = ctm(*command, "--compare", folder / "old.parquet", *options)
    return result.exit_code, json.loads(result.stdout)["changes"]


def with_cycles(made: tuple[Path, Path], **changed: Any) -> Rows:
    rows = read_table(made[1])
    rows[0] |= changed
    return rows


@pytest.mark.parametrize(
    ("factor", "tolerance", "status"),
    [(1.0, 0, 0), (0.9, 0, 1), (0.9, 20, 0), (0.8, 20, 1), (1.5, 0, 0)],
)
def test_more_work_is_worse_and_less_is_not(
    made: tuple[Path, Path], tmp_path: Path, factor: float, tolerance: float, status: int
) -> None:
    rows = read_table(made[1])
    before = round(rows[0]["instructions"] * factor)
    old = with_cycles(made, instructions=before)
    found, listed = compared(made, old, tmp_path, "--tolerance", tolerance)
    assert found == status
    assert [change["what"] for change in listed] == ([] if factor == 1.0 else ["instructions"])
    assert all((change["old"], change["new"]) == (before, rows[0]["instructions"]) for change in listed)


@pytest.mark.parametrize(
    ("changed", "what", "status"),
    [
        ({"status": "watchdog", "instructions": None}, "status", 0),
        ({"lut4": 100}, None, 0),
        ({"outputs_sha256": "0" * 64}, "outputs", 1),
        ({"outputs_sha256": "0" * 64, "program_sha256": "0" * 64}, "outputs", 0),
    ],
)
def test_other_things_that_change(
    made: tuple[Path, Path], tmp_path: Path, changed: dict[str, Any], what: str | None, status: int
) -> None:
    found, listed = compared(made, with_cycles(made, **changed), tmp_path)
    assert (found, [change["what"] for change in listed]) == (status, [what] if what else [])


def test_a_point_that_fails_now_or_is_missing_is_worse(made: tuple[Path, Path], tmp_path: Path) -> None:
    rows = read_table(made[1])
    (change,) = changes(rows, [rows[0] | {"status": "watchdog"}, *rows[1:]], 50.0)
    assert change.is_beyond and (change.old, change.new) == ("ok", "watchdog")
    (change,) = changes(rows, rows[1:], 50.0)
    assert change.is_beyond and change.new == "missing"
    (change,) = changes(rows[1:], rows, 0.0)
    assert not change.is_beyond and change.old == "missing"


def test_area_and_cycles_are_compared_where_both_know_them(made: tuple[Path, Path]) -> None:
    rows = [row | {"cycles": 1000, "lut4": 5000} for row in read_table(made[1])]
    worse = [rows[0] | {"cycles": 1100, "lut4": 5010, "instructions": 1}, *rows[1:]]
    listed = changes(rows, worse, 5.0)
    assert [(each.what, each.is_beyond) for each in listed] == [("cycles", True), ("lut4", False)]
    assert listed[0].percent == pytest.approx(10.0)


def test_the_gate_says_it_in_a_line_and_a_table(made: tuple[Path, Path], tmp_path: Path) -> None:
    path, table = made
    old = with_cycles(made, instructions=1)
    write_table(tmp_path / "old.parquet", old, columns_of(()))
    command = ("sweep", path, "-o", table, "--resume", "--no-page", "--workers", 0, "--tolerance", 3)
    result = ctm(*command, "--compare", tmp_path / "old.parquet")
    assert result.exit_code == 1 and "beyond" in result.stdout
    assert result.stderr == "error: 1 of 1 changes are for the worse by more than 3 %\n"
    assert len(read_table(table)) == POINTS


def test_what_is_compared_with_must_be_a_table_of_a_sweep(made: tuple[Path, Path], tmp_path: Path) -> None:
    path, table = made
    command = ("sweep", path, "--no-page", "--workers", 0, "-o", tmp_path / "new.parquet", "--compare")
    assert "No such file" in error_line(*command, tmp_path / "none.parquet")
    (tmp_path / "bad.parquet").write_bytes(table.read_bytes()[:1000])
    assert "it is no Parquet file, or is damaged" in error_line(*command, tmp_path / "bad.parquet")
    assert "it is the table that is written" in error_line(*command, tmp_path / "new.parquet")
    assert not (tmp_path / "new.parquet").exists()
    assert "it is a number of percent" in error_line(*command, table, "--tolerance", "inf")
    assert ctm(*command, table, "--tolerance", "nan").exit_code == 2
