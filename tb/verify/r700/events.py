"""What a program of the R700 campaign covered: cells of tables, each counted once for a program."""

from collections.abc import Iterable, Iterator
from itertools import product

from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.r700.alu import Op3, PredicateSelect
from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition
from ctm.rtl.isa.r700.exports import ExportOperation
from ctm.rtl.isa.r700.fetch import SUPPORTED
from ctm.rtl.isa.r700.operations import OPERATIONS as ALU_OPERATIONS
from ctm.rtl.isa.r700.operations import Operation, Result
from ctm.rtl.isa.status import Status
from ctm.sim.golden.r700.instruction import (
    AluWord,
    Bank,
    Export,
    Fetch,
    FetchInstruction,
    Group,
    MemoryRead,
    Operand,
    ShareRead,
    ShareWrite,
    Slot,
    Texture,
    Vertex,
    Word,
)
from ctm.sim.golden.r700.program import Code
from ctm.tb.r700.hardware.golden_record import Step, WavefrontRecord
from ctm.tb.r700.machine import Job
from ctm.tb.verify.campaign import Tables

OPERATIONS, SIGNS, FLOW = "R700 operations", "R700 signs of operands", "R700 flow"
FETCHES, FORMATS, EXPORTS, FAULTS = "R700 fetches", "R700 formats", "R700 exports", "R700 faults"
OMODS = ("as it is", "times 2", "times 4", "half")
CLAMPED = " clamped"
_OPERANDS = ("gpr", "relative gpr", "constant", "relative constant", "value", "previous")
_SIGNS = ("plain", "negated", "absolute", "negated absolute")
_MASKS = ("all active", "some active", "none active")
_OTHER_FETCHES = (
    "constants by index", "element by index", "scratch", "memory", "share, written", "share, read",
    "share, broadcast",
)  # fmt: skip
_STATUSES = (
    Status.BUS_ERROR, Status.ILLEGAL_INSTRUCTION, Status.STACK, Status.PC_RANGE, Status.WATCHDOG,
)  # fmt: skip
"""What a wavefront can fault with."""


def tables() -> Tables:
    """All cells by their tables."""
    tilings = [f"{data_format.name} / {tiling.name}" for data_format in DataFormat for tiling in Tiling]
    flow = [
        *product(CfOperation.__members__, (each.name for each in Condition), _MASKS),
        *product(AluClause.__members__, ("ACTIVE",), _MASKS),
    ]
    fetches = product((*(each.name for each in SUPPORTED), *_OTHER_FETCHES), _MASKS[:2])
    return {
        OPERATIONS: list(_operation_cells()),
        SIGNS: [f"{each.name} / {sign}" for each in ALU_OPERATIONS.values() for sign in _signs_of(each)],
        FLOW: [" / ".join(cell) for cell in flow],
        FETCHES: [" / ".join(cell) for cell in fetches],
        FORMATS: tilings,
        EXPORTS: [
            f"{each.name} / {burst}" for each in ExportOperation for burst in ("a register", "several")
        ],
        FAULTS: [status.name for status in _STATUSES],
    }  # fmt: skip


def _operation_cells() -> Iterator[str]:
    """Operation, modifier, operand and predicate: modifiers are for floats, OMOD for those of two operands."""
    for operation in ALU_OPERATIONS.values():
        is_float = operation.result is Result.FLOAT
        omods = OMODS if is_float and not isinstance(operation.code, Op3) else OMODS[:1]
        modifiers = [omod + clamp for omod in omods for clamp in (("", CLAMPED) if is_float else ("",))]
        operands = _OPERANDS if operation.operands else ("none",)
        cells = product((operation.name,), modifiers, operands, PredicateSelect.__members__)
        yield from (" / ".join(cell) for cell in cells)


def _signs_of(operation: Operation) -> tuple[str, ...]:
    if not operation.operands:
        return ()
    return _SIGNS[:2] if isinstance(operation.code, Op3) else _SIGNS


def events(job: Job, code: Code, records: Iterable[WavefrontRecord]) -> set[str]:
    """The cells that a program covered, as ``table|cell``."""
    found: set[str] = set()
    groups: set[Group] = set()
    for record in records:
        if record.fault is not None:
            found.add(f"{FAULTS}|{record.fault[0].name}")
        before = _MASKS[0] if record.covered.all() else _MASKS[1]
        seen: set[tuple[int, str]] = set()
        for step in record.steps:
            if (step.pc, before) not in seen:
                seen.add((step.pc, before))
                found |= set(_step(job, code, step, before, groups))
            before = _mask(step)
    for group in groups:
        found |= {cell for slot in group.slots for cell in _slot(slot)}
    return found


def _mask(step: Step) -> str:
    active = step.state("branch_mask") & ~step.state("continue_mask") & ~step.state("break_mask")
    return _MASKS[0] if active.all() else _MASKS[1] if active.any() else _MASKS[2]


def _step(job: Job, code: Code, step: Step, mask: str, groups: set[Group]) -> Iterator[str]:
    """What a step covered; groups of clauses are added to `groups`."""
    word = code.word(step.pc & 0xFFFF)
    address = step.pc >> 16
    if not address:
        assert isinstance(word, Word)
        yield from _word(word, mask)
        return
    clause = code.clause(step.pc & 0xFFFF)
    assert clause is not None
    instruction = clause.instructions[clause.addresses.index(address)]
    if isinstance(instruction, Group):
        groups.add(instruction)
    else:
        assert isinstance(instruction, FetchInstruction)
        yield f"{FETCHES}|{_fetch(instruction)} / {mask}"
        yield from _format(job, instruction)


def _word(word: Word, mask: str) -> Iterator[str]:
    if isinstance(word, Export):
        yield f"{EXPORTS}|{word.operation.name} / {'several' if word.burst > 1 else 'a register'}"
    elif isinstance(word, AluWord):
        yield f"{FLOW}|{word.operation.name} / ACTIVE / {mask}"
    else:
        yield f"{FLOW}|{word.operation.name} / {word.condition.name} / {mask}"


def _fetch(instruction: Fetch | ShareWrite) -> str:
    match instruction:
        case Texture():
            return instruction.operation.name
        case Vertex():
            return "constants by index" if instruction.input is None else "element by index"
        case MemoryRead():
            return "scratch" if instruction.scratch else "memory"
        case ShareRead():
            return "share, broadcast" if instruction.broadcast else "share, read"
        case _:
            return "share, written"


def _format(job: Job, instruction: Fetch | ShareWrite) -> Iterator[str]:
    number = instruction.input if isinstance(instruction, Texture | Vertex) else None
    if number is not None and number in job.inputs:
        layout = job.inputs[number].layout
        yield f"{FORMATS}|{layout.format.name} / {layout.tiling.name}"


def _slot(slot: Slot) -> Iterator[str]:
    name, predicate = slot.operation.name, slot.predicate.name
    modifier = OMODS[slot.omod] + CLAMPED * slot.clamp
    operands = {_operand(each) for each in slot.operands} or {"none"}
    yield from (f"{OPERATIONS}|{name} / {modifier} / {operand} / {predicate}" for operand in operands)
    for each in slot.operands:
        yield f"{SIGNS}|{name} / {_SIGNS[each.negated + 2 * each.absolute]}"


def _operand(operand: Operand) -> str:
    bank = operand.bank.name.lower()
    return f"{'' if operand.index is None or operand.bank is Bank.VALUE else 'relative '}{bank}"
