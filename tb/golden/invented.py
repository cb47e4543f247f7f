"""An invented instruction set on the golden array: an accumulator machine with masks, which knows nothing of R5xx.

A unit of code is an operation and a number. The accumulator of a pixel is r0's first channel, at the start its i.
A fault's PC is 100 more than the index in the code.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from ctm.rtl.isa.status import Status
from ctm.sim.golden.dpp import batch as dpp
from ctm.sim.golden.dpp.batch import Integers, Mask
from ctm.sim.golden.dpp.constants import BusError, Constants
from ctm.sim.golden.dpp.core import InstructionSet
from ctm.sim.golden.dpp.journal import Journal
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.pe.loader import Image
from ctm.tb.lib.program_formats import INVENTED


class Op(Enum):
    """What a unit of code does with its number n."""

    ADD = auto()
    """Add n to the accumulator of active pixels."""
    CONSTANT = auto()
    """Add the first channel of float constant n."""
    UNLESS = auto()
    """Active pixels whose accumulator is below n leave, until JOIN."""
    JOIN = auto()
    """The pixels that left come back."""
    AGAIN = auto()
    """Go to n if an active pixel's accumulator is below 8; else go on."""
    FOREVER = auto()
    """Go to n."""
    STOP = auto()
    """The wavefront ends: the accumulator is output 0."""
    WRONG = auto()


class Control(NamedTuple):
    """Where wavefronts are, and how often they went back at AGAIN."""

    at: int
    rounds: int = 0

    @property
    def pc(self) -> int:
        return 100 + self.at

    @property
    def position(self) -> int:
        return self.at


@dataclass(slots=True, eq=False, kw_only=True)
class Batch(dpp.Batch[Control]):
    """Wavefronts with the pixels that left."""

    LANE_ARRAYS = (*dpp.Batch.LANE_ARRAYS, "left")

    left: Mask


@dataclass(frozen=True)
class Program:
    """Operations with their numbers."""

    image: Image
    constants: Constants
    temporaries = 1
    outputs = (0,)
    uncached_outputs = ()
    cached_inputs = uncached_inputs = frozenset[int]()
    conditional_from_program = False

    def takes_uncached(self, buffer: Buffer) -> bool:
        raise AssertionError("it has no uncached outputs")

    @property
    def code(self) -> list[tuple[Op, int]]:
        return [(Op(operation), number) for operation, number in self.image.code]


class Executor:
    """Executes them."""

    def __init__(self, launch: Launch[Program], journal: Journal[Batch]) -> None:
        self._launch, self._journal, self._code = launch, journal, launch.program.code

    def start(self, order: Integers, i: Integers, j: Integers, covered: Mask) -> Batch:
        launch = self._launch
        arrays = dpp.at_start(
            temporaries=1, outputs=1, lanes=launch.lanes, order=order, i=i, j=j, covered=covered,
            conditional=launch.first_conditional(i.size),
        )  # fmt: skip
        return Batch(control=Control(0), left=np.zeros(i.size, bool), **arrays)

    def step(self, batch: Batch) -> list[Batch]:
        pc, at = batch.control.pc, batch.control.at
        operation, number = self._code[at]
        batch.steps += 1
        self._journal.issued(batch, operation.name)
        if operation is Op.WRONG:
            self._journal.faulted(batch, Status.ILLEGAL_INSTRUCTION, "WRONG")
            return []
        try:
            self._compute(batch, operation, number)
        except BusError as error:
            self._journal.faulted(batch, Status.BUS_ERROR, client=error.client, address=error.address)
            return []
        if operation is Op.AGAIN:
            batches = self._again(batch, number)
        else:
            batch.control = Control(number) if operation is Op.FOREVER else batch.control._replace(at=at + 1)
            batches = [batch]
        self._journal.executed(pc, batches)
        if operation is Op.STOP:
            self._journal.ended(batch)
            return []
        return batches

    def _compute(self, batch: Batch, operation: Op, number: int) -> None:
        accumulator = batch.temporaries[0, 0]
        if operation is Op.ADD:
            accumulator[batch.active] += number
        elif operation is Op.CONSTANT:
            accumulator[batch.active] += self._launch.program.constants.float_constant(number)[0]
        elif operation is Op.UNLESS:
            leave = batch.active & (accumulator < number)
            batch.left |= leave
            batch.set_active(batch.active & ~leave)
        elif operation is Op.JOIN:
            batch.set_active(batch.active | batch.left)
            batch.left[:] = False
        elif operation is Op.STOP:
            batch.outputs[0, 0] = accumulator
            batch.written[0, 0] = True

    def _again(self, batch: Batch, target: int) -> list[Batch]:
        rounds = batch.control.rounds + 1
        jumps = batch.any_lane(batch.active & (batch.temporaries[0, 0] < 8))
        controls = {True: Control(target, rounds), False: Control(batch.control.at + 1)}
        batches = [(batch.select(jumps == jump), controls[jump]) for jump in (True, False) if (jumps == jump).any()]
        for each, control in batches:
            each.control = control
        return [each for each, _ in batches]


INSTRUCTION_SET: InstructionSet[Program, Batch] = InstructionSet(
    name=INVENTED, units=tuple(operation.name for operation in Op), program=Program, executor=Executor
)
