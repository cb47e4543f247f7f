"""The state of a wavefront by the names that programs and manuals have for it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS
from ctm.rtl.isa.r700.limits import CLAUSE_TEMPORARIES
from ctm.sim.debug.error import DebugError, unknown
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r700.draws.pixels import PixelLaunch
from ctm.sim.golden.r700.draws.primitives import PROVOKING_BANK

Words = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]

INTEGER, FLOAT, BIT = "integer", "float", "bit"
SPELLINGS = ("xyzw", "rgba", "stpq")
"""Names of channels, in the spellings of programs."""


@dataclass(frozen=True)
class Value:
    """What a name stands for: words [channels, lanes], one channel for what has none, and how people read them."""

    words: Words
    kind: str

    def channel(self, name: str) -> "Value":
        """One channel, by any spelling of it; DebugError: there is none."""
        for spelling in SPELLINGS:
            at = spelling.find(name)
            if len(name) == 1 and 0 <= at < len(self.words):
                return Value(self.words[at : at + 1], self.kind)
        raise unknown("channel", name, list(SPELLINGS[0][: len(self.words)]))

    @property
    def numbers(self) -> npt.NDArray[Any]:
        """What people calculate with, [channels, lanes]."""
        if self.kind == FLOAT:
            return self.words.view(np.float32)
        return self.words != 0 if self.kind == BIT else self.words.view(np.int32)


@dataclass(frozen=True)
class View:
    """Names of an instruction set `kind`: `registers` is their letter, `beside` what there is beside them."""

    kind: str
    registers: str
    constants: str
    beside: Callable[[Batch[Any]], dict[str, Value]]
    masks: Callable[[Batch[Any]], dict[str, Mask]]
    stack: Callable[[Batch[Any]], Iterator[str]]
    clean_of: Callable[[int], range]
    """Indices of `Batch.clean` that are about a register."""
    last: int
    """Registers after the program's own."""
    calls: Callable[[Batch[Any]], list[int]]
    """Units of code that the calls of a wavefront return to, innermost first."""

    def names(self, batch: Batch[Any]) -> list[str]:
        """All names of a wavefront's own state."""
        return [*self.register_names(batch), *self.beside(batch), *self.masks(batch)]

    def register_names(self, batch: Batch[Any]) -> list[str]:
        """Names of the registers of a wavefront."""
        count = len(batch.temporaries)
        return [self.register_name(count, number) for number in range(count)]

    def register_name(self, count: int, number: int) -> str:
        """What register `number` of `count` is called: the last ones live as long as a clause."""
        own = count - self.last
        return f"{self.registers}{number}" if number < own else f"T{number - own}"

    def value(self, batch: Batch[Any], launch: Launch[Any], name: str) -> Value:
        """What a name stands for; DebugError: nothing."""
        index = self.register(batch, name)
        if index is not None:
            return Value(np.ascontiguousarray(batch.temporaries[index]).view(np.uint32), FLOAT)
        beside = self.beside(batch)
        if name in beside:
            return beside[name]
        masks = self.masks(batch)
        if name in masks:
            return Value(masks[name][None].astype(np.uint32), BIT)
        constant = self._constant(launch, name, batch.size)
        if constant is None:
            raise self._no_register(batch, name)
        return constant

    def bank(self, batch: Batch[Any], launch: Launch[Any], name: str, row: int) -> Value:
        """A row of constants of the primitives of a draw's pixels, `CB1[0]`; DebugError: there is none."""
        number = int(name[2:]) if name.startswith("CB") and name[2:].isdecimal() else -1
        if not name.startswith("CB"):
            raise DebugError(
                f"there is no {name}[{row}]: elements have two indices, o0[I,J]; words are memory[ADDRESS]"
            )
        if not isinstance(launch, PixelLaunch):
            raise DebugError(f"{name}[{row}]: a draw's pixel program has constants of its primitive")
        assert launch.program.primitives is not None
        if not 0 <= number <= PROVOKING_BANK:
            raise DebugError(f"there is no {name}[{row}]: a draw's pixel program has CB0 to CB{PROVOKING_BANK}")
        floats = launch.program.constants.all_floats()
        if number == 0:
            if row >= len(floats):
                raise DebugError(f"there is no CB0[{row}]: there are {len(floats)} float constants")
            rows = np.repeat(floats[row][None], batch.wavefronts, axis=0)
        else:
            rows = launch.program.primitives.rows(batch.order, number, row)
        return Value(np.ascontiguousarray(np.repeat(rows, batch.lanes, axis=0).T).view(np.uint32), FLOAT)

    def set(self, batch: Batch[Any], name: str, channel: str, lanes: Mask, word: int) -> None:
        """Set a channel of a register in some lanes; DebugError: it is no register of the program."""
        index = self.register(batch, name)
        if index is None:
            if self._may_be_register(name):
                raise self._no_register(batch, name)
            raise DebugError(f"{name} cannot be set; registers can: {self._span(batch)}")
        at = next((each.find(channel) for each in SPELLINGS if channel in each), -1)
        if at < 0 or len(channel) != 1:
            raise unknown("channel", channel, list(SPELLINGS[0]))
        batch.temporaries[index, at, lanes] = np.array(word, np.uint32).view(np.float32)
        for each in self.clean_of(index):
            batch.clean[each] = False

    def register(self, batch: Batch[Any], name: str) -> int | None:
        """The number of a register by its name; None if there is none."""
        letter, number = name[:1], name[1:]
        own = batch.temporaries.shape[0] - self.last
        first, count = {self.registers: (0, own), "T": (own, self.last)}.get(letter, (0, 0))
        return first + int(number) if number.isdecimal() and int(number) < count else None

    def _may_be_register(self, name: str) -> bool:
        return name[:1] in (self.registers, "T") and name[1:].isdecimal()

    def _no_register(self, batch: Batch[Any], name: str) -> DebugError:
        if self._may_be_register(name):
            return DebugError(f"there is no register {name}; the program has {self._span(batch)}")
        if name[:1] == self.constants and name[1:].isdecimal():
            last = FLOAT_CONSTANTS - 1
            return DebugError(f"there is no constant {name}; there are {self.constants}0 to {self.constants}{last}")
        return unknown("register", name, self.names(batch))

    def _span(self, batch: Batch[Any]) -> str:
        """The registers of a wavefront, as text."""
        names = self.register_names(batch)
        own = len(names) - self.last
        spans = names[:own], names[own:]
        return ", ".join(f"{span[0]} to {span[-1]}" if len(span) > 1 else span[0] for span in spans if span)

    def _constant(self, launch: Launch[Any], name: str, lanes: int) -> Value | None:
        letter, number = name[:1], name[1:]
        constants = launch.program.constants
        floats = constants.all_floats()
        if letter == self.constants and number.isdecimal() and int(number) < len(floats):
            return Value(np.repeat(floats[int(number)][:, None], lanes, axis=1).view(np.uint32), FLOAT)
        return None


def _channels(values: npt.NDArray[Any], kind: str) -> Value:
    words = np.ascontiguousarray(values)
    return Value(words.view(np.uint32) if kind == FLOAT else words.astype(np.int32).view(np.uint32), kind)


def _everywhere(batch: Batch[Any], number: int) -> Value:
    return _channels(np.full((1, batch.size), number), INTEGER)


def _r5xx_beside(batch: Any) -> dict[str, Value]:
    return {
        "p": _channels(batch.predicates, BIT),
        "aL": _everywhere(batch, batch.control.loop_index),
        "counter": _channels(batch.counter[None], INTEGER),
        "alu_result": _channels(batch.alu_result[None], BIT),
        "conditional": _channels(batch.conditional[None], FLOAT),
    }


def _r700_beside(batch: Any) -> dict[str, Value]:
    return {
        "PV": _channels(batch.previous[:CHANNELS], FLOAT),
        "PS": _channels(batch.previous[CHANNELS:], FLOAT),
        "AR": _channels(batch.address, INTEGER),
        "predicate": _channels(batch.predicate[None], BIT),
        "aL": _everywhere(batch, batch.control.loop_index),
        "conditional": _channels(batch.conditional[None], FLOAT),
    }


def _r5xx_masks(batch: Any) -> dict[str, Mask]:
    return {
        "active": batch.active, "valid": batch.valid_mask, "covered": batch.covered,
        "loop_inactive": batch.loop_inactive,
    }  # fmt: skip


def _r700_masks(batch: Any) -> dict[str, Mask]:
    names = ("active", "valid_mask", "covered", "branch_mask", "continue_mask", "break_mask")
    return {name.removesuffix("_mask"): getattr(batch, name) for name in names}


def _r5xx_stack(batch: Any) -> Iterator[str]:
    for target in reversed(batch.control.returns):
        yield f"call, returns to {target}"
    for frame in reversed(batch.control.frames):
        yield f"{frame.kind.name} with {frame.iterations} rounds left, aL was {frame.loop_index}"


def _r700_stack(batch: Any) -> Iterator[str]:
    for entry, frame in reversed(list(zip(batch.control.stack, batch.frames, strict=True))):
        text = f"{entry.kind.name.lower()}"
        if entry.kind.name == "LOOP":
            text += f" with {'any number of' if entry.rounds < 0 else entry.rounds} rounds left"
        if entry.kind.name == "CALL":
            text += f", returns to {entry.target}"
        masks = ["".join("1" if each else "." for each in mask) for mask in frame]
        yield f"{text}  {' '.join(masks)}".rstrip()


def _r5xx_calls(batch: Any) -> list[int]:
    return list(reversed(batch.control.returns))


def _r700_calls(batch: Any) -> list[int]:
    return [entry.target for entry in reversed(batch.control.stack) if entry.kind.name == "CALL"]


VIEWS = {
    "r5xx": View(
        "r5xx", "r", "c", _r5xx_beside, _r5xx_masks, _r5xx_stack, lambda index: range(index, index + 1), 0, _r5xx_calls,
    ),
    "r700": View(
        "r700", "R", "C", _r700_beside, _r700_masks, _r700_stack,
        lambda index: range(CHANNELS * index, CHANNELS * (index + 1)), CLAUSE_TEMPORARIES, _r700_calls,
    ),
}  # fmt: skip
