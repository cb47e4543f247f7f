"""What wavefronts did, when, as a file that Perfetto and chrome://tracing open: the JSON of Chrome's trace events.

A core is a process and a wave slot one of its threads; a cycle is a microsecond. A wavefront is a slice, in it each
instruction from its issue to the wavefront's next one, and in that what the wavefront waited for. A line that a lookup
missed is a slice of the memory's process, to which a flow leads from the lookup's instruction. Counters say how many
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
from typing import Any, BinaryIO, TextIO

import numpy as np

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.watch import Wait
from ctm.sim.assembler.languages import statements
from ctm.sim.elf import Executable
from ctm.sim.engines.seen import ISSUED, MISSED, TAKEN, WAITS_FOR, WINDOW_CYCLES, Seen

_SHOWN = frozenset(wait for wait in Wait if wait not in (Wait.FREE, Wait.ISSUE))
_BYTES = 8
_WINDOW_EVENTS = 1 << 14
_COMPRESSION = 5

Event = dict[str, Any]
Programs = Mapping[int, tuple[str, Executable]]


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
    texts = {address: statements(executable) for address, (_, executable) in programs.items()}
    tracks: dict[tuple[int, int], _Track] = {}
    resident = [0] * len(seen.tracks)
    last, misses = 0, 0
    for event in seen.events:
        core, wave_slot, last = int(event["core"]), int(event["slot"]), int(event["cycle"])
        track = tracks.setdefault((core, wave_slot), _Track(core, wave_slot))
        if int(event["kind"]) == MISSED:
            misses += 1
            yield from _missed(track, event, misses, len(seen.tracks))
            continue
        before = track.wavefront is not None
        _step(track, event, texts, programs, seen.tracks[core].wavefront)
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


def _step(
    track: _Track, event: Any, texts: Mapping[int, Mapping[int, str]], programs: Programs, wavefront: str
) -> None:
    """What an event ends and begins."""
    cycle, kind = int(event["cycle"]), int(event["kind"])
    if kind == TAKEN:
        track.end_all(cycle)
        track.issues.clear()
        name = wavefront.format(i=event["pc"], j=event["second"])
        track.wavefront = track.begin(cycle, name, "wavefront", {"covered lanes": int(event["lanes"])})
    elif kind == WAITS_FOR:
        cause = Wait(int(event["what"]))
        track.end("wait", cycle)
        if cause is Wait.FREE:
            track.end_all(cycle)
        elif cause is Wait.ISSUE:
            track.issued_at = cycle
        elif cause in _SHOWN and track.wavefront is not None:
            track.wait = track.begin(cycle, cause.name.lower(), "wait", {})
    elif kind == ISSUED:
        _issue(track, event, texts, programs)


def _missed(track: _Track, event: Any, number: int, memory: int) -> Iterator[Event]:
    """A lookup missed a line: a slice of the memory's process, and a flow from the instruction to it."""
    cycle, unit = int(event["cycle"]), int(event["pc"])
    place = {"pid": memory, "tid": track.core + 1, "ts": cycle}
    arguments = {"unit": unit, "wave slot": track.wave_slot}
    yield {**place, "ph": "X", "dur": 1, "name": f"miss of unit {unit}", "cat": "miss", "args": arguments}
    if unit in track.issues:
        flow = {"id": number, "name": "miss", "cat": "miss"}
        yield {**flow, "ph": "s", "pid": track.core, "tid": track.wave_slot, "ts": track.issues[unit]}
        yield {**flow, **place, "ph": "f", "bp": "e"}


def _issue(track: _Track, event: Any, texts: Mapping[int, Mapping[int, str]], programs: Programs) -> None:
    begun = int(event["cycle"]) if track.issued_at is None else track.issued_at
    track.issued_at = None
    track.end("instruction", begun)
    address, unit = int(event["executable"]), int(event["pc"])
    track.issues[unit] = begun
    arguments: Event = {"unit": unit, "lanes": f"{event['lanes']} of {event['second']}"}
    executable: Any = programs[address][1] if address in programs else None
    if executable is not None and executable.lines is not None:
        arguments["line"] = str(executable.lines.units[unit])
    text = texts.get(address, {}).get(unit, f"unit {unit}")
    track.instruction = track.begin(begun, text, "instruction", arguments)


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
            stream.write(("" if count == 1 else ",\n") + json.dumps(event, separators=(",", ":")))
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
