"""The line mode: a session's verbs by the names that gdb has for them."""

import cmd
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ctm.sim.debug.cancellation import Cancelled
from ctm.sim.debug.difference import difference_from, difference_from_model
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.event import Event
from ctm.sim.debug.images.elements import buffer_names, no_image, store_named
from ctm.sim.debug.numbers import check_text, count_of, word_of
from ctm.sim.debug.session import Session
from ctm.sim.debug.slicing.named_cells import word_named
from ctm.sim.debug.stopping.locations import stop_at, watch
from ctm.sim.debug.texts import Texts
from ctm.sim.debug.walk import Position
from ctm.sim.debug.why import why
from ctm.sim.fault import MachineError

_SHORT = {
    "b": "break", "tb": "tbreak", "c": "continue", "si": "stepi", "s": "step", "n": "step", "next": "step",
    "fin": "finish", "rsi": "reverse-stepi", "rs": "reverse-step", "rc": "reverse-continue", "p": "print",
    "l": "list", "disas": "disassemble", "i": "info", "bt": "backtrace", "where": "info wavefront", "d": "delete",
    "q": "quit", "exit": "quit", "r": "run", "h": "help",
}  # fmt: skip
_WITHOUT_ARGUMENTS = ("run", "continue", "finish", "reverse-continue", "backtrace", "quit")
_AROUND = 5
_LONGEST = 400
"""Letters of an error."""
_SET = re.compile(r"(.*?\S)\s*=\s*(\S+)(\s+all)?")
_CHANNEL = re.compile(r"(.*?)\.(\w)")


def _one_line(text: str) -> str:
    """A message as a line that leaves a terminal alone, whatever was typed."""
    shown = "".join(each if each.isprintable() else "?" for each in text)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST // 2]} ... {shown[-_LONGEST // 2 :]}"


def _nothing_opens(path: str) -> Session:
    raise DebugError(f"{path} cannot be opened here")


class Console(cmd.Cmd):
    """Executes lines; what they print goes to `say`, and what is wrong with the last one is `error`.

    `open_job` begins a session of another job, by the path of its file.
    """

    prompt = "(ctm) "

    def __init__(
        self, session: Session, say: Callable[[str], None], open_job: Callable[[str], Session] = _nothing_opens
    ) -> None:
        super().__init__()
        self.session, self._say, self._open = session, say, open_job
        self._texts = Texts(session)
        self.error: str | None = None
        """Of a line that could not be executed."""
        self._before: Position | None = None
        """Where the session was before the command that runs."""
        self._lane = 0
        self._named = self.commands()

    def onecmd(self, line: str) -> bool:
        """Execute a line, and say what is wrong with it; whether it was the last one."""
        is_last = self.execute(line)
        if self.error is not None:
            self._say(f"error: {self.error}")
        return is_last

    def execute(self, line: str) -> bool:
        """Execute a line; whether it was the last one. What is wrong with it is `error` alone."""
        self.error = None
        # As in gdb, print/a is print /a.
        text = re.sub(r"^(\w+)/", r"\1 /", line.split("#")[0].strip())
        if text == "EOF":
            return True
        name, _, arguments = text.partition(" ")
        expanded = f"{_SHORT.get(name, name)} {arguments}".strip()
        name, _, arguments = expanded.partition(" ")
        if not name:
            return False
        self.session.cancellation.clear()
        self._before = None
        if self.session.result is None:
            self._before, self._lane = self.session.position, self.session.lane
        is_last = False
        try:
            check_text(text)
            if name not in self._named:
                matches = [each for each in self._named if each.startswith(name)]
                if len(matches) != 1:
                    raise DebugError(f"there is no command {name}; `help` lists them")
                name = matches[0]
            if arguments.strip() and name in _WITHOUT_ARGUMENTS:
                raise DebugError(f"{name} takes nothing after it")
            is_last = bool(getattr(self, self._named[name])(arguments.strip()))
        except (DebugError, MachineError) as error:
            self.error = _one_line(str(error))
        except Cancelled:
            self._say(self.interrupted())
        # An interruption leaves it, see `interrupted`.
        self._before = None
        return is_last

    @classmethod
    def commands(cls) -> dict[str, str]:
        """The methods of all commands, by the names of these."""
        return {name.removeprefix("do_").replace("_", "-"): name for name in dir(cls) if name.startswith("do_")}

    def interrupted(self) -> str:
        """Return to where the last command began, which a signal ended somewhere: what there is to say.

        What was set by hand is lost, unless the command had not begun anything.
        """
        before, self._before = self._before, None
        if before is None:
            return ""
        self.session.go_afresh(before)
        self.session.lane = self._lane
        return f"interrupted; it is again where the command began\n{self._texts.where()}"

    def emptyline(self) -> bool:
        """Nothing happens."""
        return False

    def completenames(self, text: str, *ignored: Any) -> list[str]:
        """See `cmd.Cmd`: the commands that begin so."""
        del ignored
        return [name for name in sorted(self._named) if name.startswith(text)]

    def completedefault(self, *ignored: Any) -> list[str]:
        """See `cmd.Cmd`, for which what is in front of a dash is a command: the remainders of those that begin so."""
        text, line = ignored[:2]
        return [name[len(line) - len(text) :] for name in self.completenames(line)]

    # Going on and back.

    def do_run(self, _: str) -> None:
        """Begin the job again (r)."""
        self.session.restart()
        self._show(Event("step"))

    def do_continue(self, _: str) -> None:
        """Go on to a breakpoint, a fault, or the job's end (c)."""
        self._show(self.session.go_on())

    def do_stepi(self, count: str) -> None:
        """Execute an instruction, or N of them (si)."""
        self._show(self.session.step(count_of(count)))

    def do_step(self, count: str) -> None:
        """Go on to another source line, N times (s)."""
        for _ in range(count_of(count)):
            event = self.session.step_line()
            if event.reason != "step":
                break
        self._show(event)

    def do_finish(self, _: str) -> None:
        """Go on to the end of the wavefront (fin)."""
        self._show(self.session.finish())

    def do_reverse_stepi(self, count: str) -> None:
        """Go back an instruction of the wavefront, or N (rsi)."""
        self._show(self.session.back(count_of(count)))

    def do_reverse_step(self, count: str) -> None:
        """Go back to another source line, N times (rs)."""
        for _ in range(count_of(count)):
            event = self.session.back_line()
            if not self.session.position.step:
                break
        self._show(event)

    def do_reverse_continue(self, _: str) -> None:
        """Go back to the last breakpoint before here, or to the launch's start (rc)."""
        event = self.session.back_on()
        if event.stop is None:
            self._say("no breakpoint is before here in this launch: it is at the launch's start")
        self._show(event)

    def do_goto(self, text: str) -> None:
        """LAUNCH WAVEFRONT STEP: go to any position, forward or back."""
        words = text.split()
        if len(words) != len(Position._fields) or not all(word.isdecimal() for word in words):
            raise DebugError("goto takes LAUNCH WAVEFRONT STEP, three numbers")
        self.session.go_to(Position(*map(int, words)))
        wavefront = self.session.wavefront
        reason = "fault" if wavefront.error is not None else "end" if wavefront.has_ended else "step"
        self._show(Event(reason, error=wavefront.error))

    def do_cycle(self, text: str) -> None:
        """N: go to where the wavefront was at the end of a cycle, on engine rtl."""
        if not text.isdecimal():
            raise DebugError("cycle takes the number of a cycle")
        event = self.session.go_to_cycle(int(text))
        begun = self.session.wavefront.cycle
        if begun is not None and int(text) < begun and not self.session.position.step:
            self._say(f"the wavefront had not begun: it takes its wave slot in cycle {begun:,}")
        self._show(event)

    def do_pixel(self, text: str) -> None:
        """I J: go to the start of the wavefront of the pixel (I, J), and look at its lane."""
        match = re.fullmatch(r"\(?\s*(\d+)[\s,]+(\d+)\s*\)?", text)
        if match is None:
            raise DebugError("pixel takes I J")
        self._show(self.session.select(int(match[1]), int(match[2])))

    def do_lane(self, text: str) -> None:
        """N: look at a lane of the wavefront."""
        if not text.isdecimal():
            raise DebugError(f"a wavefront has lanes 0 to {self.session.wavefront.batch.size - 1}")
        self.session.lane = int(text)
        self._say(self._texts.where())

    # Breakpoints.

    def do_break(self, text: str) -> None:
        """Stop at LINE, FILE:LINE, LABEL, *UNIT or (I, J), each with "if CONDITION" (b); without one, the list."""
        if not text:
            self._say_all(self._texts.breakpoints())
            return
        stop = stop_at(self.session, text)
        self._say(f"breakpoint {stop.number}: {self._texts.of_stop(stop)}")

    def do_tbreak(self, text: str) -> None:
        """The same, once (tb)."""
        if not text:
            raise DebugError("tbreak takes a location")
        stop = stop_at(self.session, text, is_temporary=True)
        self._say(f"breakpoint {stop.number}, once: {self._texts.of_stop(stop)}")

    def do_watch(self, text: str) -> None:
        """EXPRESSION, o0[I,J] or *ADDRESS [if CONDITION]: stop after a change of a value in a lane, or a store."""
        stop = watch(self.session, text)
        self._say(f"breakpoint {stop.number}: {self._texts.of_stop(stop)}")

    def do_delete(self, text: str) -> None:
        """N: delete a breakpoint, or several, or all without a number (d)."""
        if not text.replace(" ", "").isdecimal() and text:
            raise DebugError(f"delete takes numbers of breakpoints, not '{text}'")
        for number in map(int, text.split()) if text else [stop.number for stop in self.session.stops]:
            self.session.remove_stop(number)

    # Looking.

    def do_print(self, text: str) -> None:
        """EXPRESSION: R1, R1.x, int(R1.x), R1.x > 0 and active, in this lane; /a in front: in all (p)."""
        everywhere, text = text.startswith("/a"), text.removeprefix("/a").strip()
        if not text:
            raise DebugError("print takes an expression")
        try:
            found = self.session.value(text)
        except DebugError:
            named = None if everywhere else word_named(self.session, text)
            if named is not None:
                self._say(f"{text} = {named}")
            elif text in buffer_names(self.session.started.launch):
                self.do_image(text)
            else:
                raise
            return
        lanes = range(self.session.wavefront.batch.size) if everywhere else [self.session.lane]
        for lane in lanes:
            self._say((f"lane {lane}: " if everywhere else f"{text} = ") + self._texts.value(found, lane))

    def do_set(self, text: str) -> None:
        """R1.x = VALUE [all], o0[3,7].x = VALUE, *0x1000 = VALUE: set a register's or an element's channel, a word."""
        match = _SET.fullmatch(text)
        if match is None:
            raise DebugError("set takes REGISTER.CHANNEL = VALUE, with `all` after it for all lanes")
        what, value, everywhere = match.groups()
        words = _CHANNEL.fullmatch(what)
        name, channel = (what, None) if words is None else words.groups()
        session, word = self.session, word_of(value)
        store = store_named(session.started.launch, name, channel, word)
        if store is not None and not everywhere:
            session.set_memory(store)
            return
        if store is not None or channel is None:
            raise DebugError(f"{what} is no channel of a register: R1.x = VALUE, with `all` after it for all lanes")
        lanes = range(session.wavefront.batch.size) if everywhere else None
        session.set(name, channel, word, lanes)

    def do_image(self, text: str) -> None:
        """NAME [FILE.png]: o0, i0 or conditional around this lane's pixel, or all of it in a file."""
        name, _, file = text.partition(" ")
        if not name:
            raise no_image(self.session.started.launch, name)
        self._say_all(self._texts.image(name) if not file.strip() else self._texts.saved(name, Path(file.strip())))

    def do_info(self, text: str) -> None:
        """What: wavefront, launch, registers, masks, stack, breakpoints, constants, line, queues (i)."""
        texts = self._texts
        topics: dict[str, Callable[[], Iterable[str]]] = {
            "wavefront": lambda: [texts.where()], "launch": lambda: [texts.launch()], "registers": texts.registers,
            "masks": texts.masks, "stack": texts.stack, "breakpoints": texts.breakpoints,
            "constants": texts.constants, "line": lambda: [texts.here()], "queues": texts.queues,
        }  # fmt: skip
        chosen = [name for name in topics if text and name.startswith(text)]
        if len(chosen) != 1:
            raise DebugError(f"info takes one of: {', '.join(topics)}")
        self._say_all(topics[chosen[0]]())

    def do_signals(self, text: str) -> None:
        """TEXT: signals of the machine with this in their names, in this cycle (engine rtl); without: its units."""
        self._say_all(self._texts.signals(text))

    def do_backtrace(self, _: str) -> None:
        """The wavefront's stack, innermost first (bt)."""
        self._say_all(self._texts.stack())

    def do_list(self, text: str) -> None:
        """The source around here, or around a LINE (l)."""
        line, session = self.session.line, self.session
        if line is None:
            label = session.code.label(session.unit)
            here = f"here {label}" if label else "here"
            raise DebugError(f"there is no source line {here}; `disassemble` lists the instructions")
        around = count_of(text) if text else line.line
        count = len(session.code.files.get(line.file, "").splitlines())
        if around > count:
            raise DebugError(f"{line.file} has {count} lines" if count else f"{line.file} is not there, or has changed")
        for number in range(max(1, around - _AROUND), min(around + _AROUND, count) + 1):
            source = session.code.source(line._replace(line=number))
            mark = "->" if number == line.line else "  "
            self._say(f"{mark} {number:>4}  {source}".rstrip())

    def do_disassemble(self, text: str) -> None:
        """The instructions around here, or all with "all" (disas)."""
        if text not in ("", "all"):
            raise DebugError(f"disassemble takes `all`, or nothing, not '{text}'")
        units = self.session.code.units
        # A wavefront that has ended may stand after the last one.
        here = bisect_left(units, self.session.unit)
        chosen = units if text == "all" else units[max(0, here - _AROUND) : here + _AROUND + 1]
        for unit in chosen:
            mark = "->" if unit == self.session.unit else "  "
            self._say(f"{mark} {unit:>4}  {self.session.code.texts[unit]}")

    def do_why(self, text: str) -> None:
        """WHAT: what made o0[3,7], conditional[3,7] or R1.x, the last instruction first; /a in front: all of them."""
        everything, text = text.startswith("/a"), text.removeprefix("/a").strip()
        if not text:
            raise DebugError("why takes an element of an output, o0[3,7], or a register of this lane")
        self._say_all(why(self.session, text).rows(everything=everything))

    def do_diff(self, text: str) -> None:
        """[JOB.toml]: go on to where the wavefront is not the golden model's (engine rtl), or not the job's."""
        if not text:
            self._say_all(self._texts.difference(difference_from_model(self.session), "golden"))
            return
        with self._open(text) as other:
            found = difference_from(self.session, other)
            self._say_all(self._texts.difference(found, text, other))

    def do_quit(self, _: str) -> bool:
        """End the session (q)."""
        return True

    def do_help(self, text: str) -> None:
        """What commands there are, or what one does (h)."""
        names = self._named
        if text:
            name = _SHORT.get(text, text).split()[0]
            if name not in names:
                raise DebugError(f"there is no command {text}")
            names = {name: names[name]}
        for name, function in sorted(names.items()):
            self._say(f"{name:<17} {getattr(self, function).__doc__}")

    # Texts.

    def _show(self, event: Event) -> None:
        session = self.session
        if event.reason == "finished":
            self._say("the job has ended")
            return
        if event.stop is not None:
            self._say(f"hazard: {event.stop.text}" if event.reason == "hazard" else f"breakpoint {event.stop.number}")
        if event.error is not None:
            self._say(f"fault: {event.error}")
        if event.reason == "end":
            self._say(f"the wavefront has ended after {session.wavefront.step:,} instructions; its outputs are stored")
        self._say(self._texts.where())
        self._say(self._texts.here())

    def _say_all(self, rows: Iterable[str]) -> None:
        for row in rows:
            self._say(row)
