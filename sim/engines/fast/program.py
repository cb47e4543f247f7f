"""What an instruction set gives the engine of a launch."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.rtl.isa.limits import INPUTS
from ctm.sim.engines.fast.finish import Test
from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.fast.integers import bool_word, int_words
from ctm.sim.engines.fast.kernel import Frame
from ctm.sim.engines.fast.parameters import CONDITIONAL, SLOTS, UNITS, Slot, Table, output_number, set_buffer
from ctm.sim.engines.fast.vector.address import Form
from ctm.sim.engines.fast.vector.tables import table as transcendental_table
from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.dpp.inputs import overlap
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.memory import Memory


class FallBackError(Exception):
    """The launch is for the golden model; the message says why, as the end of a sentence."""


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A launch, ready to be compiled and run.

    `table` has all parameters but those of a segment of the domain, `kept` the arrays that it points at. With
    `in_order` wavefronts run one after the other.
    """

    frame: Frame
    key: Hashable
    """All that the text depends on."""
    text: Callable[[], str]
    table: Table
    kept: Sequence[npt.NDArray[Any]]
    units: tuple[str, ...]
    in_order: bool

    def counters(self, table: Table) -> Counters:
        """What vectors that ran counted; `table` is that of a thread, or the sum of several."""
        wavefronts, lane_instructions, *issued = table[Slot.WAVEFRONTS : Slot.ISSUED + UNITS].tolist()
        units = dict(zip(self.units, issued, strict=False))
        return Counters(wavefronts=wavefronts, issued=units, lane_instructions=lane_instructions)


def used_buffers(launch: Launch[Any], *, stores: bool = True) -> dict[int, Form]:
    """The forms of the buffers that a launch uses, by their numbers; outputs and tests only if it `stores` to them."""
    program, unit = launch.program, launch.conditional
    inputs = sorted(program.cached_inputs | program.uncached_inputs)
    if not stores:
        return {index: Form.of(launch.inputs.buffers[index]) for index in inputs}
    outputs = (*program.outputs, *program.uncached_outputs)
    forms = {index: Form.of(launch.inputs.buffers[index]) for index in inputs}
    forms |= {output_number(output): Form.of(launch.outputs[output]) for output in outputs}
    if tests_itself(launch) and (unit.reads_buffer or unit.may_write_buffer):
        forms[CONDITIONAL] = Form.of(unit.buffer)
    return forms


def tests_itself(launch: Launch[Any]) -> bool:
    """Whether pixels make the conditional test when they end."""
    return launch.conditional.location is ConditionalLocation.DPP


def tests_before(launch: Launch[Any]) -> bool:
    """Whether the command processor makes a test that pixels may fail."""
    return launch.conditional.location is ConditionalLocation.PE and not launch.conditional.passes_all


def check_independence(launch: Launch[Any]) -> None:
    """Reject launches whose result depends on the order in which wavefronts write.

    Raises
    ------
    FallBackError
        It is one.
    """
    check_memory(launch)
    written = list(_written(launch))
    unit = launch.conditional
    for one, other in combinations(written, 2):
        if one != other and overlap(one, other):
            raise FallBackError("it writes two buffers that overlap")
    if unit.reads_buffer and any(overlap(unit.buffer, buffer) for buffer in written if buffer is not unit.buffer):
        raise FallBackError("an output overlaps the conditional buffer")
    for index in sorted(launch.program.uncached_inputs):
        if any(overlap(launch.inputs.buffers[index], buffer) for buffer in written):
            raise FallBackError(f"it reads input {index}, which it writes, past the caches")


def check_memory(launch: Launch[Any]) -> None:
    """Reject launches in a memory with ranges that respond with errors."""
    if launch.memory.error_ranges:
        raise FallBackError("a range of memory responds with errors")


def _written(launch: Launch[Any]) -> Iterator[Buffer]:
    program, unit = launch.program, launch.conditional
    for output in (*program.outputs, *program.uncached_outputs):
        yield launch.outputs[output]
    if unit.may_write_buffer:
        yield unit.buffer


def parameters(launch: Launch[Any], frame: Frame) -> tuple[Table, list[npt.NDArray[Any]]]:
    """The parameters that do not depend on the instruction set, and the arrays that they point at."""
    table = np.zeros(SLOTS, np.uint64)
    coefficients = transcendental_table()
    constants = launch.program.constants
    floats, integers = constants.all_floats(), int_words(constants)
    table[Slot.TABLE] = coefficients.ctypes.data
    table[Slot.CONSTANTS] = floats.ctypes.data
    table[Slot.INTEGERS], table[Slot.BOOLEANS] = integers.ctypes.data, bool_word(constants)
    table[Slot.CONDITIONAL_VALUE] = int(launch.conditional_value.view(np.uint32))
    domain = launch.domain
    for slot, bound in ((Slot.I0, domain.i0), (Slot.J0, domain.j0), (Slot.I1, domain.i1), (Slot.J1, domain.j1)):
        table[slot] = bound
    for number in frame.buffers:
        set_buffer(table, number, *_buffer(launch, number))
    # A run must not be visible to the next one.
    return table, [coefficients, floats, integers, *(memory.bytes for memory in launch.inputs.cached)]


def prepared(
    launch: Launch[Any],
    host: Host,
    translate: Callable[[Frame], str],
    *,
    width: int,
    rows: bool,
    units: tuple[str, ...],
    in_order: bool,
    others: Hashable = None,
    is_tested: bool | None = None,
    linear: bool = False,
) -> Prepared:
    """A launch in vectors of `width` lanes, ready to be compiled by `translate`.

    `translate` may depend on the image, on what the frame and the test are made of, and on `others`, and on nothing
    else. `is_tested`: whether it is said which lanes are covered, by default whether a test is made before. With
    `linear` the lanes are vertices or primitives of a draw, which have neither outputs nor a test.
    """
    frame = Frame(
        width=width,
        wavefront_lanes=launch.lanes,
        rows=rows,
        fused=host.fused,
        register=host.register,
        is_tested=tests_before(launch) if is_tested is None else is_tested,
        buffers=used_buffers(launch, stores=not linear),
        linear=linear,
    )
    table, kept = parameters(launch, frame)
    buffers = tuple(sorted(frame.buffers.items(), key=itemgetter(0)))
    state = (launch.output_mask, final_test(launch), width, frame.wavefront_lanes, rows, frame.is_tested, buffers)
    return Prepared(
        frame=frame,
        key=(launch.program.image, state, others),
        text=lambda: translate(frame),
        table=table,
        kept=kept,
        units=units,
        in_order=in_order,
    )


def final_test(launch: Launch[Any]) -> Test | None:
    """The conditional test that pixels make when they end, if they do."""
    return Test.of(launch.conditional) if tests_itself(launch) else None


def _buffer(launch: Launch[Any], number: int) -> tuple[Buffer, Memory]:
    """A buffer by its number, and the memory that it is in."""
    if number < INPUTS:
        return launch.inputs.buffers[number], launch.inputs.cached[number]
    if number == CONDITIONAL:
        return launch.conditional.buffer, launch.memory
    return launch.outputs[number - INPUTS], launch.memory
