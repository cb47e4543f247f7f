"""Parses ALU instructions: `x: MUL_IEEE*2 R0.x, -|R1.y|, C2.z CLAMP VEC_120`."""

from collections.abc import Callable

from ctm.rtl.isa.r700.alu import TransSwizzle, VectorSwizzle
from ctm.rtl.isa.r700.operations import Slots
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.error import Position
from ctm.sim.assembler.r700.form import OP2, OP3
from ctm.sim.assembler.r700.names import ALU_CODES, COMPONENTS, OMOD_NAMES, PREDICATE_NAMES, Opcode, lower, name_of
from ctm.sim.assembler.r700.parser import registers
from ctm.sim.assembler.r700.parser.operands import parse_operand
from ctm.sim.assembler.r700.parser.options import Option, parse_options, parse_overrides
from ctm.sim.assembler.r700.syntax import Destination, Instruction, Source, operation_of
from ctm.sim.assembler.tokens import Kind

_OMODS = {name: code for code, name in OMOD_NAMES.items()}
_PREDICATES = {name.lower(): code for code, name in PREDICATE_NAMES.items()}
_TRANS_SWIZZLES = lower(TransSwizzle)
_SWIZZLES = {**lower(VectorSwizzle), **_TRANS_SWIZZLES}


def operands_of(opcode: Opcode) -> int:
    """How many operands are read; all that its form has if the code does nothing that is known."""
    operation = operation_of(opcode)
    return opcode[0].operands if operation is None else operation.operands


def parse_instruction(cursor: Cursor, slot: int | None) -> Instruction:
    """One instruction, after its slot."""
    instruction = _begin(cursor, slot)
    index = _destination(cursor, instruction)
    _sources(cursor, instruction, [] if index is None else [index])
    _finish(cursor, instruction)
    return instruction


def parse_reduction(cursor: Cursor, component: int) -> Instruction:
    """One of the four instructions of `DOT4 R0.x, R1.xyzw, C2.xyzw`; the destination's letters are a mask."""
    instruction = _begin(cursor, component)
    cursor.expand_alias()
    mask, index = "", None
    if not _accept_nothing(cursor):
        gpr, index = registers.parse_gpr(cursor)
        mask = cursor.token.text[1:].lower()
        if cursor.token.kind is not Kind.DOT or set(mask) - set(COMPONENTS):
            cursor.fail(f"expected the components of the destination, as in .x, not {cursor.described()}")
        cursor.take()
        masked = COMPONENTS[component] not in mask
        instruction.destination = Destination(gpr=gpr, channel=component, relative=index is not None, masked=masked)
    _sources(cursor, instruction, [] if index is None else [index], component=component)
    _finish(cursor, instruction)
    return instruction


def parse_condition(cursor: Cursor) -> Instruction:
    """The PRED_SET of an IF: an operation and its operands, whose result is in the execute mask only."""
    instruction = _begin(cursor, None)
    operation = instruction.operation
    if operation is None or not operation.sets_predicate:
        message = "a condition is a PRED_SET operation, as in IF PRED_SETGT R0.x, 0, or b0 to b31"
        cursor.fail_at(message, instruction.position)
    instruction.update_execute_mask = True
    _sources(cursor, instruction, [], first=True)
    _finish(cursor, instruction)
    return instruction


def _begin(cursor: Cursor, slot: int | None) -> Instruction:
    """The operation with its output modifier."""
    position, name = cursor.position, cursor.token.text
    if cursor.token.kind is not Kind.NAME or name.lower() not in ALU_CODES:
        cursor.fail(f"there is no ALU operation {name}" if name else "expected an ALU operation")
    cursor.take()
    instruction = Instruction(position=position, opcode=ALU_CODES[name.lower()], slot=slot)
    if cursor.next_is("*", "/"):
        mark = cursor.take()
        key = mark.text + cursor.token.text
        if instruction.opcode[0] is not OP2 or key not in _OMODS:
            message = "an output modifier is *2, *4 or /2, after an operation of up to two operands"
            cursor.fail_at(message, mark.position)
        cursor.take()
        instruction.omod = _OMODS[key]
    return instruction


def _destination(cursor: Cursor, instruction: Instruction) -> int | None:
    """`R1.x`, `____`, `____.x`, or `_R1.x`, which names a register that is not written; gives the index mode."""
    cursor.expand_alias()
    position, text = cursor.position, cursor.token.text.lower()
    if operands_of(instruction.opcode) == 0 and text[:1] not in ("_", "r", "t"):
        return None
    index = None
    if _accept_nothing(cursor):
        instruction.destination = Destination(channel=registers.accept_channel(cursor))
    else:
        masked = text.startswith("_")
        gpr, index = registers.parse_gpr(cursor, "_r" if masked else "r")
        channel = registers.parse_channel(cursor, "the destination")
        instruction.destination = Destination(gpr=gpr, channel=channel, relative=index is not None, masked=masked)
    _check_destination(cursor, instruction, position)
    return index


def _accept_nothing(cursor: Cursor) -> bool:
    """`____` or `_`: no destination."""
    if cursor.token.kind is not Kind.NAME or cursor.token.text.strip("_"):
        return False
    cursor.take()
    return True


def _check_destination(cursor: Cursor, instruction: Instruction, position: Position) -> None:
    destination, slot = instruction.destination, instruction.slot
    if destination.masked and instruction.opcode[0] is OP3:
        cursor.fail_at(f"{name_of(*instruction.opcode)} always writes its result: it needs a register", position)
    if slot is not None and slot < len(COMPONENTS) and destination.channel not in (None, slot):
        letter, other = COMPONENTS[slot], COMPONENTS[destination.channel or 0]
        cursor.fail_at(f"slot {letter} writes component {letter} only: use slot {other} or t for .{other}", position)


def _sources(
    cursor: Cursor,
    instruction: Instruction,
    indices: list[int],
    *,
    first: bool = False,
    component: int | None = None,
) -> None:
    """Operands, each after a comma but the first of a list that begins with them."""
    expected = operands_of(instruction.opcode)
    sources: list[Source] = []
    position = cursor.position
    while not cursor.at_end and (cursor.next_is(",") or (first and not sources and expected)):
        if sources or not first:
            cursor.expect(",")
        source, index = parse_operand(cursor, component)
        if source.absolute and instruction.opcode[0] is OP3:
            cursor.fail_at("an operation of three operands has no absolute values", source.position)
        sources.append(source)
        indices += [] if index is None else [index]
    if len(sources) != expected:
        name = name_of(*instruction.opcode)
        message = f"{name} takes {expected} operand{'s' * (expected != 1)}, not {len(sources)}"
        cursor.fail_at(message, instruction.position)
    if len(set(indices)) > 1:
        cursor.fail_at("the operands of an instruction have one index together, such as AR.x", position)
    instruction.sources = tuple(sources)
    instruction.index_mode = indices[0] if indices else None


def _finish(cursor: Cursor, instruction: Instruction) -> None:
    """Flags and overrides."""
    parse_options(cursor, _options(instruction))
    instruction.overrides = parse_overrides(cursor, instruction.opcode[0])


def _options(instruction: Instruction) -> dict[str, Option]:
    def clamp(cursor: Cursor) -> None:
        instruction.clamp = True

    def predicate(code: int) -> Option:
        def option(cursor: Cursor) -> None:
            if instruction.predicate:
                cursor.fail("a predicate select was written before")
            instruction.predicate = code

        return option

    def swizzle(name: str) -> Option:
        def option(cursor: Cursor) -> None:
            if instruction.swizzle is not None:
                cursor.fail("a bank swizzle was written before")
            instruction.swizzle, instruction.trans_swizzle = _SWIZZLES[name], name in _TRANS_SWIZZLES

        return option

    def update_execute_mask(cursor: Cursor) -> None:
        instruction.update_execute_mask = True

    def update_predicate(cursor: Cursor) -> None:
        instruction.update_predicate = True

    updates: dict[str, Callable[[Cursor], None]] = {
        "update_exec_mask": update_execute_mask,
        "update_execute_mask": update_execute_mask,
        "update_pred": update_predicate,
    }
    return {
        "clamp": clamp,
        **{name: predicate(code) for name, code in _PREDICATES.items()},
        **(updates if instruction.opcode[0] is OP2 else {}),
        **{name: swizzle(name) for name in _SWIZZLES},
    }


def is_reduction(opcode: Opcode) -> bool:
    """Whether an operation takes all four vector slots."""
    operation = operation_of(opcode)
    return operation is not None and operation.slots is Slots.REDUCTION
