"""What wavefronts did, when, as a file that Perfetto and chrome://tracing open: the JSON of Chrome's trace events.

A core is a process and a wave slot one of its threads; a cycle is a microsecond. A wavefront is a slice, in it each
instruction from its issue to the wavefront's next one, and in that what the wavefront waited for. A line that a fetch
missed is a slice of the memory's process, to which a flow leads from the fetch's instruction. Counters say how many
wavefronts each core has, and how many bytes each memory port moves. Of the golden model, which has no times, a cycle is
an instruction, and each program of a draw is a process.

Source: Trace Event Format, https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import TextIOWrapper
from typing import Any, BinaryIO, NamedTuple, TextIO

import numpy as np

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.watch import Wait
from ctm.sim.assembler.languages import statements
from ctm.sim.elf import Executable
from ctm.sim.engines.seen import EVENT, ISSUED, MISSED, TAKEN, WAITS_FOR, WINDOW_CYCLES, Seen

_CAUSES = {wait.value: wait for wait in Wait}
_NOT_SHOWN = (Wait.FREE, Wait.ISSUE)
_BYTES = 8
_WINDOW_EVENTS = 1 << 14
_COMPRESSION = 5
_TOGETHER = 1 << 14
"""Events that are Python's at a time: an array's element that is asked for field by field takes ten times as long."""
_ENCODER = json.JSONEncoder(separators=(",", ":"))

Event = dict[str, Any]
Programs = Mapping[int, tuple[str, Executable]]


class _Row(NamedTuple):
    """An `EVENT` as Python's numbers; fields in its order."""

    cycle: int
    executable: int
    pc: int
    second: int
    core: int
    slot: int
    lanes: int
    kind: int
    what: int
    reserved: int


assert EVENT.names == _Row._fields


class _Texts:
    """The text and the source line of each instruction."""

    def __init__(self, programs: Programs) -> None:
        self._texts: dict[tuple[int, int], str] = {}
        self._lines: dict[tuple[int, int], str] = {}
        for address, (_, executable) in programs.items():
            self._texts |= {(address, unit): text for unit, text in statements(executable).items()}
            if executable.lines is not None:
                self._lines |= {(address, unit): str(line) for unit, line in enumerate(executable.lines.units)}

    def text(self, address: int, unit: int) -> str:
        return self._texts.get((address, unit), f"unit {unit}")

    def line(self, address: int, unit: int) -> str | None:
        """None if the program has no lines."""
        return self._lines.get((address, unit))


@dataclass
class _Track:
    """A wave slot: what has begun there and not ended."""

    core: int
    wave_slot: int
    wavefront: Event | None = None
    instruction: Event | None = None
    wait: Event | None = None
    issued_at: int | None = None
    """Since when an instruction is issued that is not yet known to count."""
    issues: dict[int, int] = field(default_factory=dict)
    """When the wavefront issued each of its instructions last, by unit."""
    ended: list[Event] = field(default_factory=list)

    def begin(self, cycle: int, name: str, category: str, arguments: Event) -> Event:
        return {
            "ph": "X", "pid": self.core, "tid": self.wave_slot, "ts": cycle, "name": name, "cat": category,
            "args": arguments,
        }  # fmt: skip

    def end(self, what: str, cycle: int) -> None:
        """End a slice, unless it would have no length."""
        slice_ = getattr(self, what)
        setattr(self, what, None)
        if slice_ is not None and cycle > slice_["ts"]:
            self.ended.append({**slice_, "dur": cycle - slice_["ts"]})

    def end_all(self, cycle: int) -> None:
        for what in ("wait", "instruction", "wavefront"):
            self.end(what, cycle)


def events(seen: Seen, programs: Programs, config: MachineConfig) -> Iterator[Event]:
    """The trace events of a run, in no order."""
    yield from _names(seen, config)
    texts = _Texts(programs)
    tracks: dict[tuple[int, int], _Track] = {}
    resident = [0] * len(seen.tracks)
    last, misses = 0, 0
    for event in _rows(seen):
        core, last = event.core, event.cycle
        track = tracks.get((core, event.slot))
        if track is None:
            track = tracks[core, event.slot] = _Track(core, event.slot)
        if event.kind == MISSED:
            misses += 1
            yield from _missed(track, event, misses, len(seen.tracks))
            continue
        before = track.wavefront is not None
        _step(track, event, texts, seen.tracks[core].wavefront)
        after = track.wavefront is not None
        if before != after:
            resident[core] += after - before
            yield _counter(core, last, "wavefronts", {"resident": resident[core]})
        yield from track.ended
        track.ended.clear()
    for track in tracks.values():
        track.end_all(last)
        yield from track.ended
    yield from _traffic(seen, config)


def _rows(seen: Seen) -> Iterator[_Row]:
    for begin in range(0, len(seen.events), _TOGETHER):
        yield from map(_Row._make, seen.events[begin : begin + _TOGETHER].tolist())


def _step(track: _Track, event: _Row, texts: _Texts, wavefront: str) -> None:
    """What an event ends and begins."""
    cycle = event.cycle
    if event.kind == TAKEN:
        track.end_all(cycle)
        track.issues.clear()
        name = wavefront.format(i=event.pc, j=event.second)
        track.wavefront = track.begin(cycle, name, "wavefront", {"covered lanes": event.lanes})
    elif event.kind == WAITS_FOR:
        cause = _CAUSES[event.what]
        track.end("wait", cycle)
        if cause is Wait.FREE:
            track.end_all(cycle)
        elif cause is Wait.ISSUE:
            track.issued_at = cycle
        elif cause not in _NOT_SHOWN and track.wavefront is not None:
            track.wait = track.begin(cycle, cause.name.lower(), "wait", {})
    elif event.kind == ISSUED:
        _issue(track, event, texts)


def _missed(track: _Track, event: _Row, number: int, memory: int) -> Iterator[Event]:
    """A fetch missed a line: a slice of the memory's process, and a flow from the instruction to it."""
    cycle, unit = event.cycle, event.pc
    at_memory = {"pid": memory, "tid": track.core + 1, "ts": cycle}
    arguments = {"unit": unit, "wave slot": track.wave_slot}
    yield {**at_memory, "ph": "X", "dur": 1, "name": f"miss of unit {unit}", "cat": "miss", "args": arguments}
    if unit in track.issues:
        flow = {"id": number, "name": "miss", "cat": "miss"}
        yield {**flow, "ph": "s", "pid": track.core, "tid": track.wave_slot, "ts": track.issues[unit]}
        yield {**flow, **at_memory, "ph": "f", "bp": "e"}


def _issue(track: _Track, event: _Row, texts: _Texts) -> None:
    begun = event.cycle if track.issued_at is None else track.issued_at
    track.issued_at = None
    track.end("instruction", begun)
    address, unit = event.executable, event.pc
    track.issues[unit] = begun
    arguments: Event = {"unit": unit, "lanes": f"{event.lanes} of {event.second}"}
    line = texts.line(address, unit)
    if line is not None:
        arguments["line"] = line
    track.instruction = track.begin(begun, texts.text(address, unit), "instruction", arguments)


def _names(seen: Seen, config: MachineConfig) -> Iterator[Event]:
    def name(kind: str, core: int, text: str, **thread: int) -> Event:
        return {"ph": "M", "pid": core, "name": kind, "args": {"name": text}, **thread}

    for core, track in enumerate(seen.tracks):
        yield name("process_name", core, track.name)
        for number in range(config.array.threads):
            yield name("thread_name", core, f"wave slot {number}", tid=number)
    if len(seen.traffic):
        yield name("process_name", len(seen.tracks), "memory")
        for core, track in enumerate(seen.tracks):
            yield name("thread_name", len(seen.tracks), f"misses of {track.name}", tid=core + 1)


def _counter(process: int, cycle: int, name: str, values: Mapping[str, float]) -> Event:
    return {"ph": "C", "pid": process, "ts": cycle, "name": name, "args": dict(values)}


def _traffic(seen: Seen, config: MachineConfig) -> Iterator[Event]:
    """Bytes a cycle of each memory port; windows are joined where there are many."""
    beat = config.memory.data_bits // _BYTES
    joined = max(1, -(-len(seen.traffic) // _WINDOW_EVENTS))
    for number, port in enumerate(config.memory.ports):
        for direction in ("read", "written"):
            beats = seen.traffic[direction][:, number].astype(np.int64)
            beats = np.add.reduceat(beats, np.arange(0, len(beats), joined)) if len(beats) else beats
            for index in np.flatnonzero(np.diff(beats, prepend=0)):
                rate = float(beats[index]) * beat / (joined * WINDOW_CYCLES)
                at = int(index) * joined * WINDOW_CYCLES
                yield _counter(len(seen.tracks), at, f"{port}: bytes {direction} a cycle", {"bytes": rate})


def write_timeline(target: BinaryIO, seen: Seen, programs: Programs, config: MachineConfig, *, compressed: bool) -> int:
    """Write the file, or its gzip form; gives how many events it has."""
    count = 0
    with _text(target, compressed) as stream:
        stream.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
        for count, event in enumerate(events(seen, programs, config), start=1):
            stream.write(("" if count == 1 else ",\n") + _ENCODER.encode(event))
        stream.write("\n]}\n")
    return count


@contextmanager
def _text(target: BinaryIO, compressed: bool) -> Iterator[TextIO]:
    with ExitStack() as stack:
        # No time and no name in it, so that the same run gives the same bytes.
        opened: Any = target
        if compressed:
            opened = stack.enter_context(gzip.GzipFile("", "wb", _COMPRESSION, target, mtime=0))
        stream = TextIOWrapper(opened, encoding="utf-8")
        yield stream
        stream.flush()
        stream.detach()
