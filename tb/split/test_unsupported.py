"""What cannot be split is one line with the reason, and nothing is written."""

from pathlib import Path

import pytest

from ctm.examples.catalogue import job
from ctm.tb.cli.invocation import error_line
from ctm.tb.split.jobs import mandelbrot_in

IN_PROCESS = ("--split", 4, "--workers", 0)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("transpose", "transpose.s has uncached writes"),
        ("r700/compaction", "scatter.s has uncached writes"),
        ("early_out", "[conditional] tests each pixel against a buffer that launches change in their order"),
        ("r700/reduction", "reduction.s shares data in a workgroup"),
    ],
)
def test_jobs_whose_order_counts_are_not_split(name: str, reason: str, tmp_path: Path) -> None:
    said = error_line("run", job(name), "-o", tmp_path / "out", *IN_PROCESS)
    assert reason in said and said.endswith("run it without --split\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "option", ["--check", "--check-all", "--hazards", "--profile", "--png", "--timeline=t.json", "--report=r.html",
               "--waves=w.vcd", "--trace=t.txt"],
)  # fmt: skip
def test_options_of_one_run_say_what_to_use(option: str, tmp_path: Path) -> None:
    said = error_line("run", mandelbrot_in(tmp_path, 64), *IN_PROCESS, option)
    assert "not together with --split" in said


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--split", "abc"), "error: --split: a number of tiles, 1 or more, is expected, not 'abc'\n"),
        (("--split", 0), "error: --split: a number of tiles, 1 or more, is expected, not '0'\n"),
        (("--split", "²"), "error: --split: a number of tiles, 1 or more, is expected, not '²'\n"),
        (("--workers", 2), "--workers is for a run in tiles: add --split N"),
        (("--scheduler", "tcp://127.0.0.1:9"), "--scheduler is for a run in tiles: add --split N"),
        (("--tls-ca", "ca.pem"), "--tls-ca is for a run in tiles: add --split N"),
        (("--split", 4, "--workers", 2, "--scheduler", "tcp://127.0.0.1:9"), "not both"),
        (("--split", 4, "--tls-ca", "ca.pem"), "--tls-ca is for a cluster: add --scheduler"),
        (("--split", 4, "--scheduler", "tls://127.0.0.1:9", "--tls-key", "no.pem"), "no.pem: there is no such file"),
        (("--split", 4, "--engine", "serial"), "engine 'serial' is one board"),
        (("--split", 4, "--engine", "quick"), "there is no engine 'quick'"),
        (("--split", 4, "--scheduler", "tcp://127.0.0.1:9"), "tcp://127.0.0.1:9: no scheduler responds there"),
    ],
)
def test_options_that_do_not_go_together_are_a_line(options: tuple[object, ...], reason: str, tmp_path: Path) -> None:
    assert reason in error_line("run", mandelbrot_in(tmp_path, 64), *options)
    assert [path.name for path in tmp_path.iterdir()] == ["mandelbrot.toml"]
