"""Tools run in parallel, and none of them after its caller has gone."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctm.sim.compiled import ToolchainError
from ctm.sim.compiled.tools.programs import Tools, check, run


def test_tools_run_side_by_side() -> None:
    start = time.perf_counter()
    with Tools(4) as tools:
        for result in [tools.start(["sleep", "1"]) for _ in range(4)]:
            check(result.result())
    assert time.perf_counter() - start < 3


def test_a_tool_reads_what_it_is_given(tmp_path: Path) -> None:
    with Tools() as tools:
        result = tools.start(["sh", "-c", "cat; pwd; echo $WORD"], tmp_path, environment={"WORD": "word"}, given=b"a\n")
        assert result.result().stdout.decode() == f"a\n{tmp_path}\nword\n"


def test_leaving_ends_tools_and_what_they_started_and_starts_no_others(tmp_path: Path) -> None:
    # As a compiler does, which starts another program for each of its stages.
    script = f"import subprocess; subprocess.run(['sleep', '1000']); open({str(tmp_path / 'end')!r}, 'w')"
    start = time.perf_counter()
    with pytest.raises(KeyError), Tools() as tools:
        tools.start([sys.executable, "-c", f"open({str(tmp_path / 'begin')!r}, 'w'); {script}"])
        waiting = tools.start(["touch", str(tmp_path / "second")])
        while not (tmp_path / "begin").exists():
            time.sleep(0.01)
        time.sleep(0.2)
        raise KeyError
    assert time.perf_counter() - start < 100
    assert waiting.cancelled() or waiting.result().returncode
    assert [file.name for file in tmp_path.iterdir()] == ["begin"]
    listed = subprocess.run(["ps", "-eo", "args="], capture_output=True, text=True, check=True).stdout
    assert script not in listed


def test_only_the_end_of_a_long_output_is_shown(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError) as caught:
        run(["sh", "-c", "seq 1000; echo last >&2; exit 3"], tmp_path)
    lines = str(caught.value).splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("sh failed:", "last", 21)
