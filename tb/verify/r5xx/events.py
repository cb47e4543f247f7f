"""What a program of the R5xx campaign covered: cells of tables, each counted once for a program."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product

from ctm.rtl.isa.r5xx.opcodes import (
    AlphaOperation,
    BranchOperation,
    FlowOperation,
    OutputModifier,
    PredicateSelect,
    Presubtract,
    RgbOperation,
)
from ctm.rtl.isa.r5xx.operations import ALPHA as ALPHA_OPERATIONS
from ctm.rtl.isa.r5xx.operations import RGB, Arithmetic
from ctm.rtl.isa.status import Status
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r5xx.instruction import ALPHA, Alu, Bank, Flow, Row
from ctm.sim.golden.r5xx.program import Program
from ctm.tb.r5xx.coverage import Coverage, classes
from ctm.tb.r5xx.golden_record import Record, WavefrontRecord
from ctm.tb.verify.campaign import Tables

OPERATIONS, CLASSES, FLOW, FAULTS = "R5xx operations", "R5xx situations", "R5xx flow", "R5xx faults"
_UNITS: Mapping[str, type[RgbOperation] | type[AlphaOperation]] = {"RGB": RgbOperation, "alpha": AlphaOperation}
_NONE = "no operand"
_OPERANDS = (
    *(bank.name.lower() for bank in Bank), "relative temporary", "relative constant", "literal",
    *(f"presubtract {form.name}" for form in Presubtract),
)  # fmt: skip
_MASKS = ("all active", "some active", "none active")
_STATUSES = (
    Status.BUS_ERROR, Status.ILLEGAL_INSTRUCTION, Status.STACK, Status.PC_RANGE, Status.WATCHDOG,
)  # fmt: skip
"""What a wavefront can fault with."""


def tables() -> Tables:
    """All cells by their tables."""
    predicates = [f"{inverse}{select.name}" for select in PredicateSelect for inverse in ("", "not ")]
    flow = product(FlowOperation.__members__, ("jumps", "falls through"), BranchOperation.__members__, _MASKS)
    return {
        OPERATIONS: [
            " / ".join(cell) for head, operands in _heads() for cell in product((head,), operands, predicates)
        ],
        CLASSES: classes(),
        FLOW: [" / ".join(cell) for cell in flow],
        FAULTS: [status.name for status in _STATUSES],
    }


def _heads() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Operations with their output modifiers, and what their operands may be; DISABLED is for those that copy bits."""
    for unit, codes in _UNITS.items():
        for operation in codes:
            arithmetic = arithmetic_of(operation)
            for modifier in OutputModifier:
                if arithmetic.copies_bits or modifier is not OutputModifier.DISABLED:
                    yield f"{unit} {operation.name} / {modifier.name}", _OPERANDS if arithmetic.reads else (_NONE,)


def arithmetic_of(operation: RgbOperation | AlphaOperation) -> Arithmetic:
    """What an operation reads and is."""
    return RGB[operation] if isinstance(operation, RgbOperation) else ALPHA_OPERATIONS[operation]


def events(launch: Launch[Program], record: Record) -> Iterator[str]:
    """The cells that a program covered, as ``table|cell``, some more than once."""
    coverage = Coverage()
    coverage.add_once(launch, record)
    yield from (f"{CLASSES}|{name}" for name in coverage.counts)
    executed: dict[int, Alu] = {}
    for wavefront in record.wavefronts.values():
        executed |= {step.pc: step.instruction for step in wavefront.steps if isinstance(step.instruction, Alu)}
        yield from (f"{FLOW}|{cell}" for cell in _flow(wavefront))
        if wavefront.fault is not None:
            yield f"{FAULTS}|{wavefront.fault[0].name}"
    for instruction in executed.values():
        yield from (f"{OPERATIONS}|{cell}" for cell in _operations(instruction))


def _operations(alu: Alu) -> Iterator[str]:
    """Operation, output modifier, operand and predicate, in all combinations that the instruction has."""
    needed = {*alu.common.write_mask, *alu.common.output_mask}
    needed |= {ALPHA} if alu.writes_conditional else set()
    needed |= {alu.alu_result[0]} if alu.alu_result is not None else set()
    for name, unit, channels in (("RGB", alu.rgb, needed - {ALPHA}), ("alpha", alu.alpha, needed & {ALPHA})):
        if not channels:
            continue
        predicate = alu.common.predicate(min(channels))
        form = f"{'not ' if predicate.inverted else ''}{predicate.select.name}"
        operands = {_operand(row, alu) for row in _rows(alu, arithmetic_of(unit.operation), channels)} or {_NONE}
        for operand in operands:
            yield f"{name} {unit.operation.name} / {unit.modifier.name} / {operand} / {form}"


def _rows(alu: Alu, arithmetic: Arithmetic, channels: set[int]) -> Iterator[Row]:
    """What an operation reads for these channels."""
    for name in arithmetic.reads:
        terms = arithmetic.addends if name == "c" else arithmetic.products
        yield from (alu.operands[channel]["abc".index(name)] for channel in terms or channels)


def _operand(row: Row, alu: Alu) -> str:
    if row.literal is not None:
        return "literal"
    # A channel of a source is read where the addresses of that channel's unit say, whichever unit reads it.
    unit = alu.unit(row.channel)
    if row.source is None:
        return f"presubtract {unit.presubtract.name}"
    address = unit.addresses[row.source]
    return f"{'relative ' if address.relative else ''}{address.bank.name.lower()}"


def _flow(wavefront: WavefrontRecord) -> set[str]:
    """Each flow instruction with what it did to the branch counters, and the mask before it."""
    found, before = set(), _MASKS[0] if wavefront.covered.all() else _MASKS[1]
    for step in wavefront.steps:
        instruction = step.instruction
        if isinstance(instruction, Flow):
            jumps = step.snapshot.next_pc != step.pc + 1
            branch = instruction.branch_if_jump if jumps else instruction.branch_if_stay
            found.add(_flow_cell(instruction.operation, jumps, branch, before))
        active = step.state("active")
        before = _MASKS[0] if active.all() else _MASKS[1] if active.any() else _MASKS[2]
    return found


@cache
def _flow_cell(operation: FlowOperation, jumps: bool, branch: BranchOperation, mask: str) -> str:
    return f"{operation.name} / {'jumps' if jumps else 'falls through'} / {branch.name} / {mask}"
