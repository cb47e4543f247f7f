"""Why a value is what it is: the slice of an element of an output, or of a register."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.images.elements import CONDITIONAL, element_in
from ctm.sim.debug.session import Session
from ctm.sim.debug.slicing.cell import MEMORY, Cell
from ctm.sim.debug.slicing.conditions import Condition, condition_of
from ctm.sim.debug.slicing.explanation import Explanation
from ctm.sim.debug.slicing.following import follow, names_of
from ctm.sim.debug.slicing.names import Names
from ctm.sim.debug.slicing.slicer import Slicer
from ctm.sim.debug.slicing.track import Track
from ctm.sim.debug.stopping.locations import ELEMENT, store_of
from ctm.sim.debug.stopping.stores import Area
from ctm.sim.debug.stopping.trials import condition_of_fragment, fragments, last_store
from ctm.sim.debug.undo import Kept
from ctm.sim.debug.views import SPELLINGS
from ctm.sim.debug.walk import Position
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.r700.draws.pixels import PixelLaunch
from ctm.sim.golden.r700.draws.threads import ThreadLaunch

Following = Callable[[Session, Explanation], Explanation]


def why(session: Session, text: str, *, follows: bool = True) -> Explanation:
    """What determined ``o0[3,7]``, ``o0[3,7].x`` of this launch, or ``R1``, ``R1.x`` or a mask here, in this lane.

    ``conditional[3,7]`` is what the test after the program stores in the conditional buffer. In a draw it `follows`
    what the programs in front of this one left. The session is where it was, but what was set by hand in this wavefront
    after here is lost.

    Raises
    ------
    DebugError
        There is no such value, or it cannot be traced.
    """
    match = ELEMENT.fullmatch(text.strip())
    launch = session.started.launch
    # What copies of a wavefront emit, and store in rings, goes to where it itself does that.
    kept = Kept.of_outputs(launch) if isinstance(launch, ThreadLaunch) else None
    following = follow if follows else _alone
    try:
        element = element_in(text)
        if element is not None and element[0] == CONDITIONAL:
            return _of_conditional(session, text.strip(), element[1], following)
        if match is None:
            store_of(launch, text.strip())
            return _of_register(session, text, following)
        return _of_element(session, text.strip(), int(match[1]), (int(match[2]), int(match[3])), match[4], following)
    finally:
        if kept is not None:
            kept.restore()


@contextmanager
def _staying(session: Session) -> Iterator[None]:
    """The session is then where it was."""
    here, lane = session.position, session.lane
    try:
        yield
    finally:
        session.go_to(here)
        session.lane = lane


def _of_register(session: Session, text: str, following: Following) -> Explanation:
    names = _names(session)
    cells = names.cells(session.wavefront.batch, text)
    slicer = _slicer(session, session.position.step)
    with _staying(session):
        return following(session, Explanation(text.strip(), slicer.slice(cells), names, session.code))


def _alone(session: Session, explanation: Explanation) -> Explanation:
    """The explanation, without those of earlier programs."""
    del session
    return explanation


def _of_element(
    session: Session, text: str, output: int, pixel: tuple[int, int], channel: str | None, following: Following
) -> Explanation:
    launch = session.started.launch
    found = store_of(launch, f"o{output}[{pixel[0]},{pixel[1]}]")
    area = None if found is None else found.area(launch)
    assert area is not None
    channels = list(range(launch.outputs[output].element.channels))
    if channel is not None:
        channels = [number for number in channels if channel in [spelling[number] for spelling in SPELLINGS]]
        if not channels:
            raise DebugError(f"o{output} has no channel {channel}")
    others: tuple[str, ...] = ()
    with _staying(session):
        if output not in launch.program.outputs:
            _go_to_store(session, area, text)
        else:
            text, others = _go_to_pixel(session, output, pixel, text)
        slicer = _to_the_end(session, pixel)
        last, condition = slicer.track.last, None
        if output in launch.program.outputs:
            register = launch.program.outputs.index(output), session.lane
            targets = _of_output(last, *register, channels)
            condition = _condition(session, pixel, slicer.track) if last.valid_mask[session.lane] else None
        else:
            targets = [Cell(MEMORY, (area.first, area.end - area.first, -1))]
        text += _fate(last, session.lane, condition)
        if condition is not None and condition.is_after and condition.by_value:
            targets.append(Cell("conditional", (), session.lane))
        explanation = Explanation(text, slicer.slice(targets), _names(session), session.code, condition, others=others)
        return following(session, explanation)


def _of_conditional(session: Session, text: str, pixel: tuple[int, int], following: Following) -> Explanation:
    launch = session.started.launch
    unit = launch.conditional
    if isinstance(launch, ThreadLaunch) or not unit.may_write_buffer:
        raise DebugError(f"the conditional test of {session.started.name} stores nothing")
    if unit.location is ConditionalLocation.PE:
        value = f"{launch.conditional_value:.9g}"
        raise DebugError(f"no instruction makes it: the test in front of the program stores the set value, {value}")
    with _staying(session):
        text, others = _go_to_pixel(session, None, pixel, text)
        slicer = _to_the_end(session, pixel)
        last, condition = slicer.track.last, None
        targets = [Cell("valid_mask", (), session.lane)]
        if last.valid_mask[session.lane]:
            condition = _condition(session, pixel, slicer.track)
            targets = [Cell("conditional", (), session.lane), *targets]
        text += _fate(last, session.lane, condition)
        explanation = Explanation(text, slicer.slice(targets), _names(session), session.code, condition, others=others)
        return following(session, explanation)


def _to_the_end(session: Session, pixel: tuple[int, int]) -> Slicer:
    """All of the wavefront that has a pixel; DebugError: it fails, and stores nothing."""
    slicer = _slicer(session, None)
    if not slicer.track.has_ended:
        raise DebugError(f"the wavefront of {pixel} stores nothing: {session.wavefront.error}")
    return slicer


def _fate(last: Batch[Any], lane: int, condition: Condition | None) -> str:
    """Why what a lane leaves at its end is not stored; empty: it is."""
    if not last.valid_mask[lane]:
        return ", killed, is not stored"
    return ", failed the test, is not stored" if condition is not None and not condition.passed else ""


def _condition(session: Session, pixel: tuple[int, int], track: Track) -> Condition | None:
    """The conditional test of a pixel of this wavefront."""
    started, launch = session.started, session.started.launch
    value = track.last.conditional[session.lane]
    if isinstance(launch, PixelLaunch):
        return condition_of_fragment(started, pixel, session.wavefront.order, value, session.cancellation)
    is_after = launch.conditional.location is ConditionalLocation.DPP
    # What the wavefront stored at its end is undone. What was set by hand remains: the slice begins there.
    session.wavefront.back_to(track.first)
    return condition_of(launch, pixel, value if is_after else launch.conditional_value)


def _go_to_pixel(
    session: Session, output: int | None, pixel: tuple[int, int], text: str
) -> tuple[str, tuple[str, ...]]:
    """Go to the wavefront that stores an element, None: in the conditional buffer; see `_go_to_fragment`."""
    if isinstance(session.started.launch, PixelLaunch):
        return _go_to_fragment(session, output, pixel, text)
    session.select(*pixel)
    return text, ()


def _go_to_fragment(
    session: Session, output: int | None, pixel: tuple[int, int], text: str
) -> tuple[str, tuple[str, ...]]:
    """Go to the last strip of a draw that stores an element, None: in the conditional buffer; and look at its lane.

    The text with what stored it, and why other fragments of the pixel are not stored.
    """
    started, launch = session.started, session.started.launch
    assert isinstance(launch, PixelLaunch)
    if started.holds(*pixel) is None:
        raise DebugError(started.without(*pixel))
    found = fragments(started, output, pixel, session.cancellation)
    strips = [each.order for each in found if each.is_stored]
    drawing = started.drawing
    assert drawing is not None
    unstored = (each for each in found if not each.is_stored)
    others = tuple(f"not {drawing.primitive(launch, each.order)}: {each.fate()}" for each in unstored)
    if not strips:
        raise DebugError(f"no strip of {started.name} stores {text}: {'; '.join(others)}")
    index = started.index(strips[-1])
    if index != session.position.wavefront:
        # In its own wavefront what was set by hand counts.
        session.go_to(Position(started.number, index, 0))
    batch = session.wavefront.batch
    session.lane = int(np.flatnonzero((batch.i == pixel[0]) & (batch.j == pixel[1]))[0])
    earlier = ""
    if len(strips) > 1:
        earlier = f", over {len(strips) - 1} earlier"
    if launch.adds and output is not None:
        added = f"{len(strips) - 1} earlier and to " if len(strips) > 1 else ""
        earlier = f", added to {added}what was there"
    return f"{text}, {started.thread(strips[-1], *pixel)}{earlier}", others


def _names(session: Session) -> Names:
    return names_of(session, session.started, session.wavefront.order, session.lane)


def _go_to_store(session: Session, area: Area, text: str) -> None:
    """Go to the wavefront whose store to an area is the last one of this launch, and look at its lane."""
    store = last_store(session.started, area, session.cancellation)
    if store is None:
        raise DebugError(f"no wavefront of this launch stores {text}")
    started = session.started
    session.go_to(Position(started.number, started.index(store.order), 0))
    session.lane = store.lane


def _slicer(session: Session, end: int | None) -> Slicer:
    started = session.started
    return Slicer(started.instruction_set, started.launch, session.wavefront, session.cancellation, end=end)


def _of_output(batch: Batch[Any], number: int, lane: int, channels: Iterable[int]) -> list[Cell]:
    """What decides an element: the register and whether it was written, or, of a lane that was killed, only that."""
    valid = Cell("valid_mask", (), lane)
    if not batch.valid_mask[lane]:
        return [valid]
    written = [Cell("written", (number, channel), lane) for channel in channels]
    stored = [cell for cell in written if batch.written[(*cell.index, lane)]]
    return [*(Cell("outputs", cell.index, lane) for cell in stored), *written, valid]
