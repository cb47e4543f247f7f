"""A session with all verbs of the line mode, for programs in Python."""

import functools
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from ctm.sim.debug.difference import Difference, difference_from, difference_from_model
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.given_engine import Calls
from ctm.sim.debug.images.elements import image_of, store_named
from ctm.sim.debug.numbers import checked_word
from ctm.sim.debug.session import Session
from ctm.sim.debug.slicing.explanation import Explanation
from ctm.sim.debug.stopping.locations import stop_at, watch
from ctm.sim.debug.stopping.stops import Stop
from ctm.sim.debug.why import why
from ctm.sim.fault import MachineError
from ctm.sim.runtime.commands import CommandBuffer
from ctm.sim.runtime.device import Device
from ctm.sim.runtime.types import check_type

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _whole(verb: Callable[Concatenate[Session, _P], _R]) -> Callable[Concatenate[Session, _P], _R]:
    """A verb that an exception from outside, such as KeyboardInterrupt, leaves where it began."""

    @functools.wraps(verb)
    def whole(session: Session, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        before = None if session.result is not None else (session.position, session.lane)
        try:
            return verb(session, *args, **kwargs)
        except (DebugError, MachineError):
            raise
        except BaseException:
            if before is not None:
                session.go_afresh(before[0])
                session.lane = before[1]
            raise

    return whole


class Debugger(Session):
    """See `Session`. What was set by hand is lost where a verb has another error than DebugError or MachineError."""

    restart, go_on, finish = _whole(Session.restart), _whole(Session.go_on), _whole(Session.finish)
    step, step_line, select = _whole(Session.step), _whole(Session.step_line), _whole(Session.select)
    back, back_line, back_on = _whole(Session.back), _whole(Session.back_line), _whole(Session.back_on)
    go_to, go_to_cycle = _whole(Session.go_to), _whole(Session.go_to_cycle)

    def stop_at(self, place: str, *, once: bool = False) -> Stop:
        """Set a breakpoint, see `ctm.sim.debug.stopping.locations.stop_at`."""
        return stop_at(self, place, is_temporary=once)

    def watch(self, text: str) -> Stop:
        """Stop after changes of a value, or stores, see `ctm.sim.debug.stopping.locations.watch`."""
        return watch(self, text)

    def why(self, text: str) -> Explanation:
        """What made a value, see `ctm.sim.debug.why.why`; `lines`, `slice` and `rows()` of the explanation say it."""
        return why(self, text)

    def image(self, name: str) -> npt.NDArray[np.float32]:
        """What ``i0``, ``o0`` or ``conditional`` holds now as programs read it, [height, width, channels]."""
        return image_of(self.started.launch, name)

    def store(self, text: str, word: int, channel: str | None = None) -> None:
        """Set ``o0[3,7]``, a channel of an element, or ``*0x1000``, the word at an address, to 32 bits.

        Raises
        ------
        DebugError
            There is no such element, address or channel; it is on hardware; or the word has more than 32 bits.
        """
        store = store_named(self.started.launch, text, channel, checked_word(word))
        if store is None:
            raise DebugError(f"'{text}' is not in memory: o0[3,7] and *0x1000 are")
        self.set_memory(store)

    def diff(self, other: Session | None = None) -> Difference | None:
        """Go on to where the wavefront is not that of another session, or, on engine rtl, not the golden model's."""
        return difference_from_model(self) if other is None else difference_from(self, other)


def of_device(
    device: Device, calls: CommandBuffer | Callable[[Device], object], *, engine: str, watchdog: int, hazards: bool
) -> Debugger:
    """See `Device.debug`."""
    own: Any = calls
    if not callable(calls):
        check_type("calls", calls, CommandBuffer)
        # What is appended later is another buffer.
        own = deepcopy(calls)
    before = Device(config=device.config)
    before.continue_from(device)
    session = Debugger(Calls(before, own), device.config, engine=engine, watchdog=watchdog, hazards=hazards)
    if session.result is not None:
        raise DebugError("no program runs that could be looked at")
    return session
