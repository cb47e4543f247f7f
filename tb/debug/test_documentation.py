"""The sessions of docs/debugger.md are what happens."""

import json
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest
from textual.binding import Binding

from ctm.rtl.config import DEFAULT, R700
from ctm.sim.debug.console import Console
from ctm.sim.debug.screen.application import COMMANDS, DebugScreen
from ctm.sim.debug.session import Session
from ctm.sim.jobs.loading import load_job
from ctm.tb.debug.editor import editor
from ctm.tb.draws.recorded import make_job

TOP = Path(__file__).parents[2]
DRAW = "cube_indexed"
PAGE = (TOP / "docs" / "debugger.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_program_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.chdir(TOP)
    (program,) = blocks("python")
    # A kernel is read from its file.
    (tmp_path / "program.py").write_text(program)
    monkeypatch.syspath_prepend(tmp_path)
    import_module("program")
    printed = capsys.readouterr().out
    assert printed.startswith("breakpoint Position(launch=0, ") and "program.py" in printed


def test_the_sessions_are_as_shown() -> None:
    shown = [line for block in blocks("console") if DRAW not in block for line in block.splitlines()]
    with Session(load_job(TOP / "examples" / "mandelbrot" / "mandelbrot.toml"), DEFAULT) as session:
        said: list[str] = []
        console = Console(session, said.append)
        console.onecmd("info wavefront")
        console.onecmd("info line")
        assert "\n".join(said).splitlines() == shown[1:4]
        for line in shown:
            if line.startswith("(ctm) "):
                console.onecmd(line.removeprefix("(ctm) "))
                assert console.error is None, (line, said[-1])
    # The other blocks show no results, or cycles, which the golden model does not have.
    (slice_shown,) = (block for block in blocks("console") if "(ctm) why" in block and DRAW not in block)
    assert_shown(slice_shown.splitlines(), said)


def assert_shown(shown: Sequence[str], said: Sequence[str]) -> None:
    """Each line of a session was printed; "..." stands for text that the document omits."""
    rows = "\n".join(said).splitlines()
    for line in shown:
        texts = [text for text in line.split("...") if text and not line.startswith(("(ctm)", "$"))]
        assert not texts or any(all(text in row for text in texts) for row in rows), line


@pytest.mark.slow
def test_the_session_of_a_draw_is_as_shown(tmp_path: Path) -> None:
    (block,) = (block for block in blocks("console") if DRAW in block)
    first, *shown = (line for line in block.splitlines() if not line.startswith("$"))
    said: list[str] = []
    with Session(load_job(make_job(DRAW, "sfn", tmp_path)), R700) as session:
        console = Console(session, said.append)
        console.onecmd("info wavefront")
        assert said == [first]
        for command in (line.removeprefix("(ctm) ") for line in shown if line.startswith("(ctm) ")):
            console.onecmd(command)
    assert_shown(shown, said)


def test_every_command_is_in_the_table() -> None:
    named = {name.removeprefix("do_").replace("_", "-") for name in dir(Console) if name.startswith("do_")}
    assert all(f"`{name}" in PAGE for name in named), named


def test_the_keys_of_the_screen_are_those_in_the_table() -> None:
    section = PAGE[PAGE.index("## A screen") : PAGE.index("## In an editor")]
    rows = dict(re.findall(r"\| `(\w)` \| `([a-z-]+)` (?=\|)", section))
    assert rows == {key: command for key, (command, _) in COMMANDS.items()}
    bound = {each.key for each in DebugScreen.BINDINGS if isinstance(each, Binding)}
    assert {*rows, "q", "colon", "escape", "ctrl+c", *"123456"} <= bound


def test_the_editors_configurations_start_a_session() -> None:
    extension, launch = map(json.loads, blocks("json"))
    (debugger,), (configuration,) = extension["contributes"]["debuggers"], launch["configurations"]
    assert debugger["type"] == configuration["type"] and debugger["args"] == ["debug", "--dap"]
    for name in ("command", 'args = { "debug", "--dap" }', f'job = "{configuration["job"]}"'):
        assert name in blocks("lua")[0]
    with editor(folder=TOP) as seen:
        assert seen.launched(**configuration)["frame"]["line"] == 19
