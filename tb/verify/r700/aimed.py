"""R700 programs with a group for each of some cells of the table of operations."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ctm.rtl.config import R700
from ctm.rtl.isa.r700.alu import LITERAL, PREVIOUS_SCALAR, PREVIOUS_VECTOR, PredicateSelect
from ctm.rtl.isa.r700.operations import OPERATIONS, Operation, Slots
from ctm.tb.r700.hardware.limits import is_unsupported
from ctm.tb.r700.machine import Job
from ctm.tb.r700.random_groups import GPRS, INLINE, Drawing, draw
from ctm.tb.r700.words import TRANS, Slot, Source
from ctm.tb.verify.r700.events import CLAMPED, OMODS

_ATTEMPTS = 200
"""To draw a legal group around what is aimed at."""
_SHOWN = 4
_CHANNELS = range(4)
_NO_EFFECTS = 2
_FIRST_CONSTANT, _ROWS_OF_A_SET = 128, 32
_BY_NAME = {operation.name: operation for operation in OPERATIONS.values()}


@dataclass(frozen=True)
class Aim:
    """A cell: an operation, its modifiers, what one of its operands is, and its predicate."""

    operation: Operation
    omod: int
    clamp: bool
    operand: str
    predicate: PredicateSelect

    @classmethod
    def of(cls, cell: str) -> "Aim":
        """The aim of a cell of the table."""
        name, modifier, operand, predicate = cell.split(" / ")
        omod, clamp = OMODS.index(modifier.removesuffix(CLAMPED)), modifier.endswith(CLAMPED)
        return cls(_BY_NAME[name], omod, clamp, operand, PredicateSelect[predicate])


class AimedDrawing(Drawing):
    """Draws a group for each aim, in an order in which previous results are there; random groups then.

    An aim for which no legal group is found is dropped: an operation that sets the addresses has no relative operand.
    """

    def __init__(self, generator: np.random.Generator, cells: list[str]) -> None:
        super().__init__(generator)
        # A clause is skipped when all pixels are killed.
        self._aims = sorted((Aim.of(cell) for cell in cells), key=lambda aim: aim.operation.kills)
        self._aim: Aim | None = None

    def _lock(self) -> tuple[int, int]:
        """One or two lines of constants, never none."""
        return 1 + self._below(2), self._below(15)

    def _group(self) -> tuple[Slot, ...] | None:
        self._aim = next((each for each in self._aims if each.operand != "previous" or self._produced), None)
        if self._aim is not None:
            self._aims.remove(self._aim)
        for _ in range(_ATTEMPTS):
            found = super()._group()
            if found is not None and not is_unsupported(found):
                return found
        return None

    def _slots(self) -> list[Slot]:
        aim = self._aim
        if aim is None:
            return super()._slots()
        kind, at = aim.operation.slots, self._below(4)
        if kind is Slots.REDUCTION:
            return [self._aimed(aim, each) if each == at else self._slot(aim.operation, each) for each in _CHANNELS]
        others = [channel for channel in _CHANNELS if self._chance(0.3)]
        in_trans = kind is Slots.TRANS or kind is Slots.ANY and at in others
        slots = []
        for channel in _CHANNELS:
            if channel == at and not in_trans:
                slots.append(self._aimed(aim, channel))
            elif channel in others:
                slots.append(self._slot(self._of(Slots.ANY, _NO_EFFECTS), channel))
        return [*slots, self._aimed(aim, at)] if in_trans else slots

    def _aimed(self, aim: Aim, channel: int) -> Slot:
        """The instruction of an aim, whose result is written."""
        drawn = self._slot(aim.operation, channel)
        sources = list(drawn.sources)
        if sources:
            at = self._below(len(sources))
            given = self._operand(aim.operand)
            sources[at] = replace(given, negated=sources[at].negated, absolute=sources[at].absolute)
        return replace(
            drawn, sources=tuple(sources), omod=aim.omod, clamp=aim.clamp, predicate=aim.predicate.value, writes=True
        )  # fmt: skip

    def _operand(self, kind: str) -> Source:
        relative, channel = kind.startswith("relative"), self._below(4)
        match kind.split()[-1]:
            case "gpr":
                return Source(select=self._below(GPRS), relative=relative, channel=channel)
            case "constant":
                which = self._below(2)
                row = self._below(16 * self._kcache[which][0])
                select = _FIRST_CONSTANT + _ROWS_OF_A_SET * which + row
                return Source(select=select, relative=relative, channel=channel)
            case "previous":
                position = sorted(self._produced)[self._below(len(self._produced))]
                if position == TRANS:
                    return Source(select=PREVIOUS_SCALAR, channel=channel)
                return Source(select=PREVIOUS_VECTOR, channel=position)
            case _:
                if self._chance(0.5):
                    return Source(select=INLINE[self._below(len(INLINE))], channel=channel)
                return Source(select=LITERAL, literal=self._literal())


def aimed_job(seed: int, cells: list[str]) -> Job:
    """A job whose program has a group for each cell that is legal; `cells` are of the table of operations."""
    return draw(seed, partial(AimedDrawing, cells=cells)).job(R700.array.wavefront_lanes, shown=range(_SHOWN))
