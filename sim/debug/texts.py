"""What there is to see in a session, as lines of text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ctm.sim.debug.difference import Difference
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.hardware.signals import Signals
from ctm.sim.debug.hardware.wavefront import HardwareWavefront
from ctm.sim.debug.images.elements import buffer_of
from ctm.sim.debug.images.picture import picture, shades
from ctm.sim.debug.numbers import CHANNELS, number_text
from ctm.sim.debug.session import Session
from ctm.sim.debug.stopping.stops import Stop
from ctm.sim.debug.views import Value
from ctm.sim.files import write_file
from ctm.sim.golden.r700.draws.threads import ThreadLaunch
from ctm.sim.runtime.png import png

_SPACE = 64, 24
"""Columns and rows of an image that are shown."""
_UNKNOWN = "       (no instruction)"


class Texts:
    """Those of a session, as it is when they are requested."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def where(self) -> str:
        """Launch, wavefront, step, lane and states of lanes."""
        session = self._session
        at, batch = session.position, session.wavefront.batch
        order = session.wavefront.order
        at_ = session.started.thread(order, int(batch.i[session.lane]), int(batch.j[session.lane]))
        count, cycle = len(session.started.order), session.wavefront.cycle
        return (
            f"{session.started.name}, wavefront {at.wavefront} of {count:,}, step {at.step:,}, lane {session.lane} "
            f"{at_} [{''.join(batch.lane_states())}]{'' if cycle is None else f', cycle {cycle:,}'}"
        )

    def here(self) -> str:
        """The next instruction, and its source line."""
        session, line = self._session, self._session.line
        if session.wavefront.has_ended:
            # After its last instruction there may be others, which are not its next ones.
            return _UNKNOWN
        rows = [f"{session.unit:>5}  {session.code.texts.get(session.unit, '')}"]
        label = session.code.label(session.unit)
        if line is not None:
            label = f"{line}  {session.code.source(line).strip()}".rstrip()
        if label:
            rows.insert(0, label)
        return "\n".join(rows)

    def of_stop(self, stop: Stop) -> str:
        """What a breakpoint is."""
        if stop.watched is not None:
            return f"changes of {stop.text}"
        if stop.stored is not None:
            return f"stores to {stop.text}"
        if stop.units is None:
            return f"the start of the wavefront of {stop.pixel}"
        if stop.text.startswith("if "):
            return stop.text
        if stop.finds is not None:
            return f"{stop.text} (in a program that has not run yet)"
        return f"{stop.text} (unit {', '.join(map(str, sorted(stop.units)))})"

    def value(self, found: Any, lane: int) -> str:
        """The value of an expression in a lane."""
        session = self._session
        if isinstance(found, Value):
            texts = [number_text(found, channel, lane) for channel in range(len(found.words))]
            if len(texts) == 1:
                return texts[0]
            return "  ".join(f"{name} {each}" for name, each in zip(CHANNELS[session.view.kind], texts, strict=False))
        return f"{np.broadcast_to(found, session.wavefront.batch.size)[lane]}"

    def registers(self) -> Iterator[str]:
        """All registers of the lane."""
        session = self._session
        batch, launch = session.wavefront.batch, session.started.launch
        masks = session.view.masks(batch)
        for name in session.view.names(batch):
            if name not in masks:
                yield f"{name:<12} {self.value(session.view.value(batch, launch, name), session.lane)}"

    def masks(self) -> Iterator[str]:
        """The masks of the wavefront, lane 0 first."""
        for name, mask in self._session.view.masks(self._session.wavefront.batch).items():
            yield f"{name:<14} {''.join('1' if each else '.' for each in mask)}"

    def stack(self) -> Iterator[str]:
        """The wavefront's stack, innermost first."""
        rows = list(self._session.view.stack(self._session.wavefront.batch))
        yield from (f"#{number} {row}" for number, row in enumerate(rows))
        if not rows:
            yield "the stack is empty"

    def constants(self) -> Iterator[str]:
        """The float constants that are not 0."""
        letter = self._session.view.constants
        for number, row in enumerate(self._session.started.launch.program.constants.all_floats()):
            if row.any():
                yield f"{letter}{number:<5} {'  '.join(f'{value:.9g}' for value in row)}"

    def image(self, name: str) -> Iterator[str]:
        """A buffer around the lane's pixel, as characters; DebugError: there is none."""
        session = self._session
        memory, buffer = buffer_of(session.started.launch, name)
        lane, batch = session.lane, session.wavefront.batch
        at = int(batch.i[lane]), int(batch.j[lane])
        limits = buffer.width_limit, buffer.height_limit
        axes = [
            range(first := max(0, min(at_ - space // 2, limit - space)), min(first + space, limit))
            for at_, limit, space in zip(at, limits, _SPACE, strict=True)
        ]
        i, j = axes
        is_inside = at[0] in i and at[1] in j
        yield (
            f"{name}: {limits[0]} x {limits[1]} {buffer.format.name}, ({i.start}, {j.start}) to "
            f"({i.stop - 1}, {j.stop - 1})" + (f", + is {at}" if is_inside else "")
        )
        yield from shades(picture(memory, buffer, i, j), (at[0] - i.start, at[1] - j.start) if is_inside else None)

    def saved(self, name: str, path: Path) -> Iterator[str]:
        """Write all of a buffer as a picture; DebugError: there is none, or it cannot be written."""
        memory, buffer = buffer_of(self._session.started.launch, name)
        if path.suffix != ".png":
            raise DebugError(f"{path}: a picture's name ends in .png")
        colours = picture(memory, buffer, range(buffer.width_limit), range(buffer.height_limit))
        try:
            write_file(path, png(colours))
        except OSError as error:
            raise DebugError(f"{error.filename or path}: {error.strerror or error}") from None
        yield f"{path}: {buffer.width_limit} x {buffer.height_limit}"

    def launch(self) -> str:
        """The launch: its program and its domain."""
        started = self._session.started
        domain, name = started.launch.domain, self._session.code.name
        across = f", i {domain.i0} to {domain.i1}, j {domain.j0} to {domain.j1}"
        if isinstance(started.launch, ThreadLaunch):
            batches = f" in {started.batches.size:,} batches" if started.batches.size else ""
            across = f", {started.launch.threads:,} threads{batches}"
        count, lanes = len(started.order), started.launch.lanes
        return f"{started.name}: {name}{across}, {count:,} wavefronts of {lanes} lanes"

    def breakpoints(self) -> Iterator[str]:
        """All breakpoints."""
        for stop in self._session.stops:
            yield f"{stop.number}  {self.of_stop(stop)}  hit {stop.hits} times"
        if not self._session.stops:
            yield "there is no breakpoint"

    def signals(self, text: str) -> Iterator[str]:
        """The signals of the machine with this in their names; its units if nothing is given."""
        found = self._signals
        yield from map(str, found.named(text)) if text else found.units()

    def queues(self) -> Iterator[str]:
        """The queues of the machine that are not empty."""
        found = self._signals
        for name, level, front in found.queues():
            yield f"{name}  {level}  {'' if front is None else front}".rstrip()
        if not found.queues():
            yield f"all queues are empty in cycle {found.cycle:,}"

    @property
    def _signals(self) -> Signals:
        wavefront = self._session.wavefront
        if not isinstance(wavefront, HardwareWavefront):
            raise DebugError("the golden model has no signals; engine rtl has")
        return wavefront.signals()

    def difference(self, found: Difference | None, name: str, other: Session | None = None) -> Iterator[str]:
        """Where this wavefront and another run's diverge: the instructions, and what they left here and there."""
        if found is None:
            error = self._session.wavefront.error
            yield f"the wavefront is the same to its {'end' if error is None else 'fault'}, here and in {name}"
            if error is not None:
                yield f"fault: {error}"
            return
        code = (self._session.code, (other or self._session).code)
        texts = [each.texts.get(unit, "") for each, unit in zip(code, found.units, strict=True)]
        yield f"{found.units[0]:>5}  {texts[0]}"
        if texts[0] != texts[1]:
            yield f"{found.units[1]:>5}  {texts[1]}  in {name}"
        for at_, here, there in found.rows:
            yield f"       {at_} = {here}, in {name} {there}"
        if found.count > len(found.rows):
            yield f"       and {found.count - len(found.rows)} more"
        yield self.where()
