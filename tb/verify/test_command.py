"""The command: what it runs, keeps and reports, its statuses, and what it says of options and files that are wrong."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctm.tb.cli.processes import hearing
from ctm.tb.verify.catalogue import CAMPAIGNS
from ctm.tb.verify.command import run
from ctm.tb.verify.coverage import holes
from ctm.tb.verify.coverage.holes import TABLE as EXPLAINED
from ctm.tb.verify.coverage.holes import coverage_of, read
from ctm.tb.verify.options import parse
from ctm.tb.verify.report import Results, lines
from ctm.tb.verify.sources import TOP, sources
from ctm.tb.verify.stub import CELLS, TABLE, Stub, install
from ctm.tb.verify.tally import Tally

Output = pytest.CaptureFixture[str]
FAILING = [7, 17, 27]


@pytest.fixture(autouse=True)
def stub() -> Iterator[None]:
    install()
    yield
    del CAMPAIGNS[Stub.name]


def verify(folder: Path, *arguments: object) -> int:
    """Run the stub's campaign in this process."""
    return run(["--campaign", Stub.name, "--workers", "0", "-o", str(folder / "kept"), *map(str, arguments)])


def kept(folder: Path) -> dict[str, dict[str, object]]:
    return {path.name: json.loads(path.read_text()) for path in sorted((folder / "kept").glob("*"))}


def test_failing_seeds_are_kept_reduced_and_fail_again(tmp_path: Path, capsys: Output) -> None:
    assert verify(tmp_path, "--seeds", 30) == 1
    files = kept(tmp_path)
    assert list(files) == [f"stub-{seed}.json" for seed in (17, 27, 7)]
    for seed in FAILING:
        found = files[f"stub-{seed}.json"]
        assert found["case"] == {"seed": seed, "program": ["3", "8", "31"], "width": 1}
        assert found["items"] == 3 and found["is_complete"] and found["sources"] == sources()
    printed = capsys.readouterr()
    assert printed.out.startswith("stub: 30 seeds, 3 failing, ")
    assert f"{TABLE}: 7 of 8 covered, 1 not yet" in printed.out
    again = [line.split() for line in printed.out.splitlines() if line.startswith("again: ")]
    assert [line[-1] for line in again] == [str(tmp_path / "kept" / f"stub-{seed}.json") for seed in FAILING]
    assert run(again[0][-2:]) == 1
    printed = capsys.readouterr()
    assert printed.out == "stub-7: seed 7: 3 numbers, width 1\n3\n8\n31\n" and not printed.err


def test_only_three_of_a_kind_are_reduced(tmp_path: Path) -> None:
    assert verify(tmp_path, "--seeds", 100) == 1
    assert sorted(len(each["case"]) for each in kept(tmp_path).values()) == [1] * 7 + [3] * 3  # type: ignore[arg-type]


def test_a_campaign_ends_after_so_many_failing_seeds(tmp_path: Path, capsys: Output) -> None:
    assert verify(tmp_path, "--seeds", 1000, "--failures", 2) == 1
    assert capsys.readouterr().out.startswith("stub: 20 seeds, 2 failing")


def test_what_is_mended_does_not_fail_again(tmp_path: Path, capsys: Output) -> None:
    """With other sources, which it says."""
    assert verify(tmp_path, "--seeds", 10) == 1
    path = tmp_path / "kept" / "stub-7.json"
    found = json.loads(path.read_text())
    found["sources"], found["case"]["program"] = "0123456789abcdef", ["3", "8"]
    path.write_text(json.dumps(found))
    capsys.readouterr()
    assert run(["--again", str(path)]) == 0
    printed = capsys.readouterr()
    assert printed.out == "stub-7: no difference\n"
    assert printed.err == f"note: it failed with other sources (0123456789abcdef; these are {sources()})\n"


def test_holes_count_from_enough_seeds_on(tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = ("--seed", 0, "--seeds", 7)
    monkeypatch.setattr(Stub, "enough", 7)
    assert verify(tmp_path, *seeds) == 1
    printed = capsys.readouterr().out
    assert f"{TABLE}: 7 of 8 covered, 1 holes\n  hole: {CELLS[-1]}\n" in printed
    table = tmp_path / "explained.toml"
    table.write_text(f'[["{TABLE}"]]\ncells = ["* 7"]\nreason = "nothing covers it"\n')
    rows = read(table)
    monkeypatch.setattr("ctm.tb.verify.command.read", lambda: rows)
    assert verify(tmp_path, *seeds) == 0
    assert f"{TABLE}: 7 of 8 covered, 1 explained\n" in capsys.readouterr().out


def test_rows_without_reasons_are_none(tmp_path: Path) -> None:
    table = tmp_path / "explained.toml"
    for row in ('cells = ["a"]', 'cells = ["a"]\nreason = " "', 'cells = []\nreason = "b"', 'cell = "a"\nreason = "b"'):
        table.write_text(f'[["t"]]\n{row}\n')
        with pytest.raises(ValueError, match="explained.toml: a row of t is to have cells and a reason"):
            read(table)


def test_every_row_is_of_a_table_and_explains_a_cell_of_it() -> None:
    tables = {
        coverage.table: coverage.cells
        for campaign in CAMPAIGNS.values()
        for coverage in coverage_of(Tally(campaign, 0, None), [])
    }
    rows = read()
    for row in rows:
        assert row.table in tables, row
        for pattern in row.cells:
            own = holes.Row(row.table, (pattern,), row.reason)
            assert any(own.explains(cell) for cell in tables[row.table]), (row.table, pattern)
    assert EXPLAINED.exists()


def test_junit_has_a_suite_for_each_campaign(tmp_path: Path) -> None:
    junit = tmp_path / "out" / "verify.xml"
    assert verify(tmp_path, "--seeds", 30, "--junit", junit) == 1
    top = ElementTree.parse(junit).getroot()
    assert (top.tag, top.get("tests"), top.get("failures"), top.get("skipped")) == ("testsuites", "5", "3", "1")
    (suite,) = top
    assert suite.get("name") == "stub" and suite.get("failures") == "3"
    cases = {case.get("name"): case for case in suite}
    assert list(cases) == ["30 seeds", "seed 7", "seed 17", "seed 27", f"coverage of {TABLE}"]
    failure = cases["seed 7"].find("failure")
    assert failure is not None and failure.get("message") == "seed 7: 3 numbers, width 1"
    assert failure.text == "seed 7: 3 numbers, width 1\n3\n8\n31"


def test_the_page_has_failures_holes_and_the_command(tmp_path: Path) -> None:
    page = tmp_path / "out" / "verify.html"
    assert verify(tmp_path, "--seeds", 70, "--page", page) == 1
    text = page.read_text()
    for phrase in ("<h3>stub-17</h3>", "3 items left, width 1", "70 seeds in", "7 failing", "holes in coverage: 1",
                 "1 hole<", f"{CELLS[-1]}<", "--campaign stub --workers 0", f"sources {sources()}"):  # fmt: skip
        assert phrase in text, phrase
    assert "http" not in text.split("</script>", 1)[1].partition("<script")[0]


def test_campaigns_are_listed(capsys: Output) -> None:
    assert run(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(CAMPAIGNS)
    assert lines[-1].endswith("numbers, for tests; holes count from 60 seeds on")


def test_without_seeds_it_runs_ten_minutes() -> None:
    assert parse([]).minutes == 10 and parse(["--seeds", "5"]).minutes is None
    assert parse(["--seeds", "5", "--minutes", "1"]).minutes == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--campaign", "stbu"], "--campaign: there is no campaign 'stbu'; did you mean 'stub'?"),
        (["--minutes", "0"], "--minutes 0.0: it is a number above 0"),
        (["--minutes", "nan"], "--minutes nan: it is a number above 0"),
        (["--seeds", "0"], "--seeds 0: it is a number from 1 on"),
        (["--seed", "-1"], "--seed -1: it is a number from 0 on"),
        (["--workers", "-1"], "--workers -1: it is a number from 0 on"),
        (["--workers", "2", "--scheduler", "tcp://127.0.0.1:9"], "not both"),
        (["--scheduler", "here"], "--scheduler here: an address is tcp://HOST:PORT"),
        (["--tls-ca", "ca.pem"], "--tls-ca is for a cluster: add --scheduler tls://HOST:PORT"),
        (["--scheduler", "tls://127.0.0.1:9", "--tls-key", "none.pem"], "--tls-key none.pem: there is no such file"),
        (["--again", "none.json"], "none.json: No such file or directory"),
        (["--page", "x.pdf"], "--page x.pdf: its name must end in .html or .htm"),
        (["--junit", "x.html"], "--junit x.html: its name must end in .xml"),
    ],
)
def test_what_is_wrong_is_one_line(
    arguments: list[str], said: str, capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: ") and said in printed.err and printed.err.count("\n") == 1
    assert not printed.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "this is no kept failure: Expecting value"),
        ("[]", "this is no kept failure: it has no campaign, case"),
        ('{"format": 1}', "this is no kept failure: it has no campaign, case"),
        ('{"format": 2, %s}', "it has format 2; this version reads format 1"),
        ('{"format": 1, %s, "campaign": "none"}', "there is no campaign 'none'; there is r5xx"),
        ('{"format": 1, %s, "case": {}}', "its case has no seed"),
        ('{"format": 1, %s, "case": {"seed": 1, "program": ["-1"]}}', "its case cannot be run: it has a number below"),
    ],
)
def test_files_that_are_no_failures_are_one_line(text: str, said: str, tmp_path: Path, capsys: Output) -> None:
    fields = '"campaign": "stub", "case": {"seed": 1}, "difference": "", "kind": "", "version": "", "sources": ""'
    path = tmp_path / "kept.json"
    path.write_text(text.replace("%s", fields))
    assert run(["--again", str(path)]) == 2
    printed = capsys.readouterr().err.splitlines()
    assert printed[-1].startswith(f"error: {path}: {said}"), printed


def test_files_that_cannot_be_written_are_found_before_anything_runs(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "file").write_text("")
    for option in ("--page", "--junit", "-o"):
        assert verify(tmp_path, "--seeds", 10, option, tmp_path / "file" / "below") == 2
        printed = capsys.readouterr()
        assert printed.err.startswith("error: ") and "file" in printed.err and not printed.out
    assert not kept(tmp_path)


@pytest.mark.parametrize(
    ("seeds", "seconds", "said"),
    [(50, 10.0, ", 5.0 a second and worker"), (2, 236.0, ", 118 seconds each"), (0, 3.0, "")],
)
def test_how_fast_seeds_are_is_said_in_figures_that_say_something(seeds: int, seconds: float, said: str) -> None:
    tally = Tally(Stub(), 0, None)
    tally.seeds, tally.seconds = seeds, seconds
    assert next(lines(Results([tally], [], seconds))) == f"stub: {seeds} seeds, 0 failing{said}"


@pytest.mark.slow
def test_a_signal_ends_it_with_what_was_done(tmp_path: Path) -> None:
    code = (
        "import sys; from ctm.tb.verify.stub import install; install(fatal=23)\n"
        "from ctm.tb.verify.command import main; sys.exit(main())"
    )
    junit = tmp_path / "verify.xml"
    arguments = ["--campaign", "stub", "--workers", "0", "--seeds", "50", "-o", tmp_path / "kept", "--junit", junit]
    process = subprocess.run(
        hearing([sys.executable, "-c", code, *arguments]), cwd=TOP, capture_output=True, text=True, check=False
    )
    assert process.returncode == 130, process.stderr
    assert process.stdout.startswith("stub: 20 seeds, 2 failing")
    assert process.stderr.splitlines()[-1] == "error: interrupted by SIGINT"
    assert "Traceback" not in process.stderr
    assert sorted(kept(tmp_path)) == ["stub-17.json", "stub-7.json"] and junit.exists()
