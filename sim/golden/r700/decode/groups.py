"""Decodes ALU clauses: words to groups, each instruction in its slot."""

from collections.abc import Iterator, Sequence

from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.r700.alu import IndexMode, Op2, Op3, PredicateSelect
from ctm.rtl.isa.r700.limits import (
    FIRST_CLAUSE_TEMPORARY,
    GROUP_SLOTS,
    LITERALS_PER_UNIT,
    TRANS_SLOT,
    VECTOR_SLOTS,
)
from ctm.rtl.isa.r700.operations import OPERATIONS, Operation, Result, Slots
from ctm.rtl.isa.word import unpack
from ctm.sim.golden.r700.decode.error import IllegalError, illegal_if
from ctm.sim.golden.r700.decode.ports import Reading, check_ports
from ctm.sim.golden.r700.decode.runs import divide
from ctm.sim.golden.r700.instruction import AluWord, Bank, Clause, Group, Illegal, Kcache, Operand, Slot

Units = Sequence[tuple[int, ...]]
_INDEX_MODES = {mode.value: mode for mode in IndexMode if mode not in (IndexMode.GLOBAL, IndexMode.GLOBAL_AR_X)}


def decode_clause(code: Units, word: AluWord) -> Clause:
    """The groups of an ALU clause, which lies in the code, up to the first that is illegal."""
    instructions: list[Group | Illegal] = []
    addresses: list[int] = []
    at, end = word.target, word.target + word.units
    produced: frozenset[int] = frozenset()
    written: set[tuple[int, int]] = set()
    while at < end:
        addresses.append(at)
        try:
            group, at = _group(code, at, end, word.kcache, produced, written)
        except IllegalError as error:
            instructions.append(Illegal(str(error)))
            break
        instructions.append(group)
        produced = frozenset(slot.position for slot in group.slots)
        written |= {(slot.register, slot.channel) for slot in group.slots if slot.writes and slot.index is None}
    return Clause(instructions=tuple(instructions), addresses=tuple(addresses))


def _group(
    code: Units,
    at: int,
    end: int,
    kcache: tuple[Kcache, Kcache],
    produced: frozenset[int],
    written: set[tuple[int, int]],
) -> tuple[Group, int]:
    """The group at `at`, and the address after it."""
    words: list[dict[str, int]] = []
    last = False
    while not last:
        illegal_if(at >= end, "a group without LAST at the end of its clause")
        illegal_if(len(words) == GROUP_SLOTS, f"a group of more than {GROUP_SLOTS} instructions")
        words.append(_fields(*code[at]))
        last = bool(words[-1]["last"])
        at += 1
    operations = [_operation(word) for word in words]
    literals, at = _literals(code, at, end, words, operations)
    positions = _positions(words, operations)
    slots = []
    readings = []
    for word, operation, position in zip(words, operations, positions, strict=True):
        operands = tuple(_operand(word, number, kcache, produced, literals) for number in range(operation.operands))
        slots.append(_slot(word, operation, position, operands))
        readings.append(Reading(position, word["bank_swizzle"], operands))
    _check_reductions(slots)
    _check_effects(slots)
    check_ports(readings)
    return Group(slots=tuple(slots), runs=divide(slots), stale=tuple(_stale(slots, written))), at


def _fields(low: int, high: int) -> dict[str, int]:
    has_three = unpack(alu.ENCODING, high)["op3"] != 0
    fields = unpack(alu.ALU_DWORD0, low) | unpack(alu.ALU_DWORD1_OP3 if has_three else alu.ALU_DWORD1_OP2, high)
    return fields | {"has_three": int(has_three)}


def _operation(word: dict[str, int]) -> Operation:
    codes: type[Op2 | Op3] = Op3 if word["has_three"] else Op2
    known = {operation.code.value: operation for operation in OPERATIONS.values() if isinstance(operation.code, codes)}
    number = word["alu_inst"]
    if number not in known:
        named = next((f" ({code.name})" for code in codes if code.value == number), "")
        raise IllegalError(f"operation {codes.__name__.upper()} {number}{named} is not supported")
    return known[number]


def _literals(
    code: Units, at: int, end: int, words: list[dict[str, int]], operations: list[Operation]
) -> tuple[tuple[int, ...], int]:
    """The literal words after a group, and the address after them."""
    channels = [
        word[f"src{number}_chan"]
        for word, operation in zip(words, operations, strict=True)
        for number in range(operation.operands)
        if word[f"src{number}_sel"] == alu.LITERAL
    ]
    units = max(channels) // LITERALS_PER_UNIT + 1 if channels else 0
    illegal_if(at + units > end, "a group's literals lie beyond the end of its clause")
    return tuple(word for unit in code[at : at + units] for word in unit), at + units


def _positions(words: list[dict[str, int]], operations: list[Operation]) -> list[int]:
    """The slot of each instruction."""
    positions: list[int] = []
    for word, operation in zip(words, operations, strict=True):
        channel = word["dst_chan"]
        is_free = operation.slots is not Slots.ANY or channel not in positions
        position = TRANS_SLOT if operation.slots is Slots.TRANS or not is_free else channel
        name = "xyzwt"[position]
        illegal_if(position in positions, f"two instructions in slot {name}")
        illegal_if(
            bool(positions) and position < positions[-1],
            f"slot {name} after slot {'xyzwt'[positions[-1] if positions else 0]}",
        )
        positions.append(position)
    return positions


def _operand(
    word: dict[str, int],
    number: int,
    kcache: tuple[Kcache, Kcache],
    produced: frozenset[int],
    literals: tuple[int, ...],
) -> Operand:
    select, channel = word[f"src{number}_sel"], word[f"src{number}_chan"]
    relative = bool(word[f"src{number}_rel"])
    bank, found = _source(select, channel, kcache, produced, literals, relative)
    locked = kcache[select >= alu.KCACHE_1].bank if bank is Bank.PRIMITIVE else 0
    return Operand(
        bank=bank,
        number=found,
        channel=channel,
        index=_index(word) if relative and bank in (Bank.GPR, Bank.CONSTANT) else None,
        absolute=bool(word.get(f"src{number}_abs", 0)),
        negated=bool(word[f"src{number}_neg"]),
        kcache_bank=locked,
    )


def _source(
    select: int,
    channel: int,
    kcache: tuple[Kcache, Kcache],
    produced: frozenset[int],
    literals: tuple[int, ...],
    relative: bool,
) -> tuple[Bank, int]:
    if select < alu.KCACHE_0:
        return Bank.GPR, select
    if select < alu.KCACHE_END:
        which, row = divmod(select - alu.KCACHE_0, alu.KCACHE_1 - alu.KCACHE_0)
        lock = kcache[which]
        illegal_if(lock.rows == 0, f"an operand from kcache set {which}: {lock.problem}")
        illegal_if(row >= lock.rows, f"row {row} of kcache set {which}, which has {lock.rows}")
        illegal_if(relative and lock.bank > 0, f"a relative operand from constant bank {lock.bank}")
        return Bank.PRIMITIVE if lock.bank else Bank.CONSTANT, lock.first + row
    illegal_if(relative, f"a relative operand that is no register and no constant ({select})")
    if select in alu.INLINE_CONSTANTS:
        return Bank.VALUE, alu.INLINE_CONSTANTS[select][1]
    if select == alu.LITERAL:
        return Bank.VALUE, literals[channel]
    if select in (alu.PREVIOUS_VECTOR, alu.PREVIOUS_SCALAR):
        position = channel if select == alu.PREVIOUS_VECTOR else TRANS_SLOT
        illegal_if(position not in produced, f"{_previous(position)}, which the group before has not produced")
        return Bank.PREVIOUS, position
    raise IllegalError(f"there is no operand {select}")


def _previous(position: int) -> str:
    return "PS" if position == TRANS_SLOT else f"PV.{'xyzw'[position]}"


def _index(word: dict[str, int]) -> IndexMode:
    mode = word["index_mode"]
    illegal_if(mode not in _INDEX_MODES, f"INDEX_MODE {mode}")
    return _INDEX_MODES[mode]


def _slot(word: dict[str, int], operation: Operation, position: int, operands: tuple[Operand, ...]) -> Slot:
    name = operation.name
    omod, clamp = word.get("omod", 0), bool(word["clamp"])
    is_float = operation.result is Result.FLOAT
    illegal_if(not is_float and bool(omod or clamp), f"a modifier of the result of {name}, which is no float")
    updates = bool(word.get("update_execute_mask", 0)), bool(word.get("update_pred", 0))
    illegal_if(any(updates) and not operation.sets_predicate, f"{name} updates the predicate or the execute mask")
    predicates = {select.value: select for select in PredicateSelect}
    illegal_if(word["pred_sel"] not in predicates, f"PRED_SEL {word['pred_sel']}")
    writes = bool(word.get("write_mask", 1))
    return Slot(
        position=position,
        operation=operation,
        operands=operands,
        register=word["dst_gpr"],
        channel=word["dst_chan"],
        index=_index(word) if word["dst_rel"] and writes else None,
        writes=writes,
        omod=omod,
        clamp=clamp,
        predicate=predicates[word["pred_sel"]],
        updates_execute_mask=updates[0],
        updates_predicate=updates[1],
    )


def _check_reductions(slots: list[Slot]) -> None:
    vector = [slot.operation for slot in slots if slot.position < VECTOR_SLOTS]
    if any(operation.is_reduction for operation in vector):
        alike = len(vector) == VECTOR_SLOTS and all(operation is vector[0] for operation in vector)
        illegal_if(
            not alike, f"{next(each.name for each in vector if each.is_reduction)} is not in all four vector slots"
        )


def _check_effects(slots: list[Slot]) -> None:
    predicates = sum(slot.operation.sets_predicate for slot in slots)
    illegal_if(predicates > 1, "several PRED_SETs in a group")
    kills = any(slot.operation.kills for slot in slots)
    illegal_if(bool(predicates) and kills, "a PRED_SET and a KILL in a group")
    indices = [slot.index for slot in slots] + [operand.index for slot in slots for operand in slot.operands]
    moves = any(slot.operation.sets_address for slot in slots)
    illegal_if(moves and any(index is not None for index in indices), "MOVA in a group with relative operands")


def _stale(slots: list[Slot], written: set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for slot in slots:
        for operand in slot.operands:
            temporary = operand.number, operand.channel
            is_temporary = operand.bank is Bank.GPR and operand.number >= FIRST_CLAUSE_TEMPORARY
            if is_temporary and operand.index is None and temporary not in written:
                yield temporary
