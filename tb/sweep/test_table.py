"""A row says what ``ctm run`` says of the same point; nothing that is there is overwritten."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ctm.rtl.isa.host import COUNTERS
from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.sim.engines.rtl import QUICK
from ctm.sim.sweep.columns import columns_of
from ctm.sim.sweep.table import read_table
from ctm.tb.cli.invocation import ctm, error_line, report
from ctm.tb.lib.machines import BEATS_OPTIONS
from ctm.tb.sweep.sweeps import POINTS, SAXPY, SMALL, rows_of, sweep_in

HERE = ("--workers", 0, "--no-page")


def test_a_row_of_hardware_is_what_a_run_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The model that other tests have.
    monkeypatch.setenv(QUICK, "0")
    settings = f"{{array.rate = 1, memory.split = {ADDRESS_SPACE}, memory.latency = 90}}"
    text = f'[[configurations]]\npreset = "tiny"\nsettings = {settings}\n[[jobs]]\nfile = "{SAXPY}"\n'
    result = ctm("sweep", sweep_in(tmp_path, text), *HERE)
    assert result.exit_code == 0, result.output
    (row,) = read_table(tmp_path / "sweep.parquet")
    options = ("--engine", "rtl", *BEATS_OPTIONS, "--set", "memory.latency=90", "-o", tmp_path)
    run = report("run", SAXPY, *options)
    assert (row["cycles"], row["instructions"]) == (run["cycles"], run["instructions"])
    assert {name: row[f"counter.{name}"] for name in run["counters"]} == run["counters"]
    assert len(run["counters"]) == len(COUNTERS)
    assert {name: row[name] for name in run["configuration"]} == run["configuration"]
    assert row["alu_share"] == run["utilisation"]["alu_share"]
    for name, share in run["utilisation"]["stall_shares"].items():
        assert row[f"stall_share.{name}"] == share
    assert row["program_sha256"] == run["programs"]["saxpy.s"]
    assert row["operations_per_cycle"] == run["counters"]["lanes_alu"] / run["cycles"]
    assert row["bytes_moved"] == run["counters"]["local_read_beats"] * 16
    assert (row["status"], row["reason"], row["ran"], row["height"], row["width"]) == ("ok", None, "rtl", 32, 64)


def test_a_row_of_the_golden_model_has_no_cycles(tmp_path: Path) -> None:
    result = ctm("sweep", sweep_in(tmp_path), *HERE)
    assert result.exit_code == 0, result.output
    rows = read_table(tmp_path / "sweep.parquet")
    assert len(rows) == POINTS and [row["number"] for row in rows] == list(range(POINTS))
    assert {row["cycles"] for row in rows} == {None} and all(row["instructions"] for row in rows)
    assert len({row["outputs_sha256"] for row in rows}) == 2
    schema = pq.read_schema(tmp_path / "sweep.parquet")
    assert schema.names == list(columns_of(()))
    assert not (tmp_path / "sweep.parquet.journal").exists()


def test_points_that_fail_are_rows_with_their_reason(tmp_path: Path) -> None:
    result = ctm("sweep", sweep_in(tmp_path, f"watchdog = 2\n{SMALL}"), *HERE, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["failed"] == POINTS
    assert "failed: tiny array.threads=4, saxpy 8 x 8, golden: " in result.stderr
    rows = read_table(tmp_path / "sweep.parquet")
    assert {row["status"] for row in rows} == {"watchdog"} and {row["instructions"] for row in rows} == {None}
    assert all("watchdog" in row["reason"].lower() for row in rows)


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path, table, page = sweep_in(tmp_path), tmp_path / "t.parquet", tmp_path / "t.html"
    for file in (table, page):
        file.write_text("mine")
        said = error_line("sweep", path, "-o", table, "--workers", 0)
        assert f"{file}: it is there already" in said and "--resume" in said
        assert file.read_text() == "mine"
        file.unlink()
    assert "it is no Parquet file" in _resumed(path, table, b"mine")
    assert "must end in .parquet" in error_line("sweep", path, "-o", tmp_path / "t.csv", *HERE)
    page.symlink_to(path)
    assert "it would replace" in error_line("sweep", path, "-o", table, "--page", page, "--workers", 0)
    assert path.read_text() == SMALL
    assert sorted(file.name for file in tmp_path.iterdir()) == ["sweep.toml", "t.html", "t.parquet"]


def _resumed(path: Path, table: Path, data: bytes) -> str:
    table.write_bytes(data)
    said = error_line("sweep", path, "-o", table, "--resume", *HERE)
    assert table.read_bytes() == data
    return said


def test_the_table_of_another_sweep_is_not_resumed(tmp_path: Path) -> None:
    path, table = sweep_in(tmp_path), tmp_path / "t.parquet"
    assert ctm("sweep", path, "-o", table, *HERE).exit_code == 0
    before = table.read_bytes()
    path.write_text(SMALL.replace("[4, 8, 16]", "[4, 8]"))
    said = error_line("sweep", path, "-o", table, "--resume", *HERE)
    assert f"2 of its points are none of {path}" in said and table.read_bytes() == before


def test_a_sweep_that_has_grown_keeps_what_is_done(tmp_path: Path) -> None:
    path, table = sweep_in(tmp_path, SMALL.replace("[4, 8, 16]", "[4, 16]")), tmp_path / "t.parquet"
    assert ctm("sweep", path, "-o", table, *HERE).exit_code == 0
    before = {row["point"]: row for row in read_table(table)}
    path.write_text(SMALL)
    assert ctm("sweep", path, "-o", table, "--resume", *HERE).exit_code == 0
    rows = read_table(table)
    assert [row["number"] for row in rows] == list(range(POINTS))
    kept = [row for row in rows if row["point"] in before]
    assert len(kept) == 4 and all(row["host_seconds"] == before[row["point"]]["host_seconds"] for row in kept)
    fresh = tmp_path / "fresh.parquet"
    assert ctm("sweep", path, "-o", fresh, *HERE).exit_code == 0
    assert rows_of(table) == rows_of(fresh)


def test_rows_of_other_sources_are_not_mixed_with_new_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, table = sweep_in(tmp_path), tmp_path / "t.parquet"
    assert ctm("sweep", path, "-o", table, *HERE).exit_code == 0
    monkeypatch.setattr("ctm.sim.sweep.sweep.sources", lambda: "0123456789abcdef")
    said = error_line("sweep", path, "-o", table, "--resume", *HERE)
    assert "made by other sources of ctm" in said and "name another table" in said
