"""The screen: panes around a session, and what keys and clicks do, which is what commands do.

Commands run in a thread of their own, one at a time, so that the screen lives and Escape ends them. Panes look at the
session only while no command runs.
"""

import asyncio
import signal
import threading
from collections.abc import Sequence
from functools import partial

from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Footer, Input, RichLog, Static, Tab, Tabs

from ctm.sim.debug.cancellation import Cancelled
from ctm.sim.debug.console import Console
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.screen.code_panes import InstructionPane, SourcePane
from ctm.sim.debug.screen.command_line import CommandLine
from ctm.sim.debug.screen.image import ImagePane
from ctm.sim.debug.screen.lanes import LanePane
from ctm.sim.debug.screen.registers import RegisterPane
from ctm.sim.debug.screen.rows import Rows
from ctm.sim.debug.session import Session

_SMALL = 110, 34
"""Below so many columns, or rows, one pane is seen at a time."""
_SHOWN_AFTER = 0.2
"""Seconds that a command runs before the screen says so."""
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
COMMANDS = {
    "s": ("step", "Line"), "i": ("stepi", "Instr"), "c": ("continue", "Cont"), "f": ("finish", "Finish"),
    "S": ("reverse-step", "-Line"), "I": ("reverse-stepi", "-Instr"), "C": ("reverse-continue", "-Cont"),
}  # fmt: skip
"""Keys as in gdb's TUI; large letters go back."""
_CSS = """
Screen { layout: vertical; }
#location { height: 1; background: $primary-darken-2; color: $text; }
#location.fault { background: $error; }
#location.running { background: $warning-darken-2; }
.pane { border: round $primary-darken-1; padding: 0; }
.pane:focus { border: round $accent; }
.pane, #log { scrollbar-size-vertical: 1; }
#middle { height: 1fr; }
#left, #right { width: 1fr; }
#source { height: 3fr; }
#instructions { height: 2fr; }
#image { height: 3fr; }
#lanes { height: 12; }
#registers { height: 2fr; }
#log { height: 9; border: round $primary-darken-1; }
#commands { height: 1; }
#prompt { width: 6; color: $accent; }
#command { width: 1fr; height: 1; border: none; padding: 0; }
.small Tabs { display: block; }
Tabs { display: none; height: 2; }
.small #log { height: 7; border: none; border-top: solid $primary-darken-1; }
.small .pane, .small #lanes { height: 1fr; border: none; }
.small #log.alone { height: 1fr; }
"""


class DebugScreen(App[int]):
    """A session on all of a terminal. It returns the number of the signal that ended it, 0 if none did.

    `said` is what was printed before it began.
    """

    CSS = _CSS
    TITLE = "ctm debug"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [
        *(Binding(key, f"command('{command}')", text) for key, (command, text) in COMMANDS.items()),
        Binding("colon", "enter_command", "Cmd", key_display=":"),
        Binding("escape", "leave", "Stop", key_display="esc", priority=True),
        Binding("ctrl+c", "leave", "Stop", show=False, priority=True),
        Binding("q", "end", "Quit"),
        Binding("ctrl+q", "end", "Quit", show=False, priority=True),
        *(Binding(str(number), f"pane({number})", f"Pane {number}", show=False) for number in range(1, 7)),
    ]

    def __init__(self, session: Session, said: Sequence[str] = ()) -> None:
        super().__init__()
        self.session = session
        self._said = list(said)
        self._console = Console(session, self._said.append)
        self._command: str | None = None
        self._ends_with: int | None = None
        """The signal with which it ends when the command has ended."""
        self._stands = False
        """Whether the session stood at a wavefront when it was last looked at."""
        self._chosen = "source"

    def compose(self) -> ComposeResult:
        """See `App`."""
        yield Static("", id="location", markup=False)
        names = ("Source", "Instructions", "Registers", "Lanes", "Output", "Log")
        ids = ("source", "instructions", "registers", "lanes", "image", "log")
        yield Tabs(
            *(Tab(f"{at} {name}", id=f"tab-{each}") for at, (name, each) in enumerate(zip(names, ids, strict=True), 1))
        )
        with Horizontal(id="middle"):
            with Vertical(id="left"):
                yield SourcePane("Source", "source")
                yield InstructionPane("Instructions", "instructions")
            with Vertical(id="right"):
                yield ImagePane("image")
                yield LanePane("lanes")
                yield RegisterPane("Registers", "registers")
        yield RichLog(id="log", wrap=True, max_lines=5000)
        with Horizontal(id="commands"):
            yield Static(self._console.prompt, id="prompt", markup=False)
            yield CommandLine("command")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Begin with the panes as they are."""
        self.query_one("#source").focus()
        if threading.current_thread() is threading.main_thread():
            # What a signal raises would be lost among the callbacks of asyncio.
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGINT, self.action_leave)
            for number in _SIGNALS:
                loop.add_signal_handler(number, partial(self.action_end, int(number)))
        self._arrange()
        self.call_after_refresh(self._finished, False)

    def on_resize(self) -> None:
        """There may be space for all panes, or for one."""
        # The size is known when this has been told to all.
        self.call_later(self._arrange)

    # Commands.

    def execute(self, line: str) -> None:
        """Run a command in a thread; not while one runs."""
        if self._command is not None:
            self.bell()
            return
        self._command = line
        self._said.append(f"{self._console.prompt}{line}")
        self.set_timer(_SHOWN_AFTER, partial(self._show_running, line))
        self.run_worker(partial(self._execute, line), thread=True)

    def _execute(self, line: str) -> None:
        """Of the command's thread."""
        try:
            is_last = self._console.onecmd(line)
        except Cancelled:
            # It ends, wherever it is.
            is_last = True
        self.call_from_thread(self._finished, is_last)

    def _finished(self, is_last: bool) -> None:
        """A command has ended: show what it said, and where it is."""
        self._command = None
        log = self.query_one("#log", RichLog)
        for text in self._said:
            for row in text.split("\n"):
                log.write(Text(row, "bold" if row.startswith(self._console.prompt) else _style(row)), expand=True)
        self._said.clear()
        if is_last or self._ends_with is not None:
            self.exit(self._ends_with or 0)
        else:
            self._show()

    def _show_running(self, line: str) -> None:
        if self._command == line:
            status = self.query_one("#location", Static)
            status.update(f" {line} ... Escape interrupts it")
            status.set_class(True, "running")

    def _show(self) -> None:
        session, status = self.session, self.query_one("#location", Static)
        status.remove_class("running")
        try:
            at, wavefront = session.position, session.wavefront
        except DebugError as error:
            self._stands = False
            status.update(f" {error}")
            self.query_one(ImagePane).update_output()
            return
        self._stands = True
        status.set_class(wavefront.error is not None, "fault")
        batch, lane = wavefront.batch, session.lane
        thread = session.started.thread(wavefront.order, int(batch.i[lane]), int(batch.j[lane]))
        state = (
            f"fault: {wavefront.error}" if wavefront.error else "end of the wavefront" if wavefront.has_ended else ""
        )
        text = (
            f" {session.started.name}  wavefront {at.wavefront:,} of {len(session.started.order):,}  step {at.step:,}  "
            f"lane {lane} {thread}  {state}"
        )
        status.update(Text(text, no_wrap=True, overflow="ellipsis"))
        self.query_one(SourcePane).update_from(session)
        self.query_one(InstructionPane).update_from(session)
        self.query_one(RegisterPane).update_from(session)
        self.query_one(LanePane).update_from(session)
        self.query_one(ImagePane).update_from(session)

    # Keys and clicks.

    def action_command(self, line: str) -> None:
        """Run a command that has a key."""
        self.execute(line)

    def action_enter_command(self) -> None:
        """Go to the command line."""
        self.query_one("#command").focus()

    def action_leave(self) -> None:
        """End the command that runs; or leave the command line."""
        if self._command is not None:
            self.session.cancellation.request()
        elif self.focused is self.query_one("#command"):
            self._pane(self._chosen).focus()

    def action_end(self, number: int = 0) -> None:
        """End, and the command that runs before that."""
        if self._command is None:
            self.exit(number)
        self._ends_with = number
        self.session.cancellation.end()

    def action_pane(self, number: int) -> None:
        """Choose a pane by its number."""
        tabs = self.query_one(Tabs)
        wanted = list(tabs.query(Tab))[number - 1].id or ""
        if tabs.active == wanted:
            self._pane(self._chosen).focus()
        tabs.active = wanted

    @on(Input.Submitted)
    def _submitted(self) -> None:
        line = self.query_one(CommandLine).taken() if self._command is None else ""
        if line:
            self.execute(line)

    @on(Rows.Chosen)
    def _row_chosen(self, event: Rows.Chosen) -> None:
        pane = event.pane
        if isinstance(pane, SourcePane | InstructionPane) and self._looks:
            command = pane.command(self.session, event.row)
            if command is not None:
                self.execute(command)

    @on(LanePane.Chosen)
    def _lane_chosen(self, event: LanePane.Chosen) -> None:
        if self._looks:
            self.execute(f"lane {event.lane}")

    @on(ImagePane.Chosen)
    def _pixel_chosen(self, event: ImagePane.Chosen) -> None:
        if self._looks:
            self.execute(f"pixel {event.i} {event.j}")

    @on(Tabs.TabActivated)
    def _tab_chosen(self, event: Tabs.TabActivated) -> None:
        self._chosen = (event.tab.id or "").removeprefix("tab-")
        self._arrange()
        self._pane(self._chosen).focus()

    @property
    def is_busy(self) -> bool:
        """Whether a command runs."""
        return self._command is not None

    @property
    def _looks(self) -> bool:
        """Whether the session may be looked at."""
        return not self.is_busy and self._stands

    def _pane(self, name: str) -> Widget:
        return self.query_one(f"#{name}")

    def _arrange(self) -> None:
        """All panes, or where there is little space the chosen one with the end of the log."""
        is_small = self.size.width < _SMALL[0] or self.size.height < _SMALL[1]
        self.screen.set_class(is_small, "small")
        for side in (self._pane("left"), self._pane("right")):
            for pane in side.children:
                pane.display = not is_small or pane.id == self._chosen
            side.display = any(pane.display for pane in side.children)
        is_alone = is_small and self._chosen == "log"
        self._pane("middle").display = not is_alone
        self._pane("log").set_class(is_alone, "alone")


def _style(row: str) -> str:
    beginnings = {"error:": "red", "fault:": "red", "hazard:": "yellow", "interrupted": "yellow"}
    return next((style for beginning, style in beginnings.items() if row.startswith(beginning)), "")
