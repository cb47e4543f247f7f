"""What docs/debugger.md shows is what happens."""

import re
from pathlib import Path

import pytest

from ctm.rtl.config import DEFAULT
from ctm.sim.debug.console import Console
from ctm.sim.debug.session import Session
from ctm.sim.jobs.loading import load_job

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs" / "debugger.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_program_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(TOP)
    (program,) = blocks("python")
    exec(compile(program, "docs/debugger.md", "exec"), {})
    assert capsys.readouterr().out.startswith("breakpoint Position(launch=0, ")


def test_the_sessions_are_as_shown() -> None:
    shown = [line for block in blocks("console") for line in block.splitlines()]
    with Session(load_job(TOP / "examples" / "mandelbrot" / "mandelbrot.toml"), DEFAULT) as session:
        said: list[str] = []
        console = Console(session, "r5xx", said.append)
        console.onecmd("info wavefront")
        console.onecmd("info line")
        assert "\n".join(said).splitlines() == shown[1:4]
        for line in shown:
            if line.startswith("(ctm) "):
                console.onecmd(line.removeprefix("(ctm) "))
                assert not console.failed, (line, said[-1])


def test_every_command_is_in_the_table() -> None:
    named = {name.removeprefix("do_").replace("_", "-") for name in dir(Console) if name.startswith("do_")}
    assert all(f"`{name}" in PAGE for name in named), named
