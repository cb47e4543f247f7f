"""Parses CF instructions: control flow, the starts of clauses, and exports."""

from ctm.rtl.isa.r700.control_flow import FETCH_CLAUSES, UNSUPPORTED, WITHOUT_TARGET, KcacheMode
from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH, ExportOperation, ExportType, MemoryWrite
from ctm.rtl.isa.r700.limits import KCACHE_LINE_ROWS, KCACHE_SETS
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.r700.form import BUFFER, CLAUSE, CONTROL, SWIZZLED, Draft
from ctm.sim.assembler.r700.names import CODE_FIELDS, COMPONENTS, CONDITION_NAMES, CONTROL_CODES, SELECTS
from ctm.sim.assembler.r700.parser import registers
from ctm.sim.assembler.r700.parser.fetch_options import SCRATCH_ELEMENT
from ctm.sim.assembler.r700.parser.options import (
    Option,
    code_option,
    flag_option,
    in_parentheses,
    number_option,
    parse_options,
    parse_overrides,
)
from ctm.sim.assembler.r700.syntax import Word
from ctm.sim.assembler.tokens import Kind, Token

_FETCH_CLAUSES = tuple(operation.value for operation in FETCH_CLAUSES)
"""Codes of words that start a fetch clause."""
AIMLESS = tuple(operation.value for operation in {*WITHOUT_TARGET, *UNSUPPORTED} - {*FETCH_CLAUSES})
"""Words whose address means nothing."""
COUNT, TARGET, END_OF_PROGRAM = "cnt", "addr", "end_of_program"
_BANKS, _LINES = CLAUSE.limit("kcache_bank0"), CLAUSE.limit("kcache_addr0")
LOCKED_LINES = {KcacheMode.LOCK_1: 1, KcacheMode.LOCK_2: 2, KcacheMode.LOCK_LOOP_INDEX: 2}
"""How many lines of constants a mode locks."""
_TARGETS = {f"{'pix' if kind is ExportType.PIXEL else kind.name.lower()}": kind.value for kind in ExportType}
_DEPTH = "depth"
_WIDE_ELEMENTS = (ExportOperation.MEM_SCRATCH.value, ExportOperation.MEM_REDUCTION.value)


def default_element(draft: Draft) -> int:
    """The dwords of an export's element, if nothing else is written."""
    is_wide = draft.form is SWIZZLED or draft.get("cf_inst") in _WIDE_ELEMENTS
    return SCRATCH_ELEMENT if is_wide else 1


def parse_word(cursor: Cursor, *, checked: bool = True) -> Word:
    """One CF instruction, whose target and count are still to be written if it has them."""
    position = cursor.position
    form, code = CONTROL_CODES[cursor.take().text.lower()]
    word = Word(position, Draft(form), checked=checked)
    word.draft.write(**{CODE_FIELDS[form]: code, "barrier": 1})
    if form in (SWIZZLED, BUFFER):
        (_export if form is SWIZZLED else _memory_write)(cursor, word.draft)
    word.written = parse_options(cursor, options_of(word))
    word.overrides = parse_overrides(cursor, form)
    return word


def starts_fetch(draft: Draft) -> bool:
    """Whether a CF instruction starts a fetch clause."""
    return draft.form is CONTROL and draft.get("cf_inst") in _FETCH_CLAUSES


def set_count(draft: Draft, count: int) -> None:
    """Write how many units, or fetch instructions, a clause has."""
    if draft.form is CLAUSE:
        draft.set("count", count - 1)
    else:
        low = draft.form.limit("count")
        draft.write(count=(count - 1) % low, count_3=(count - 1) // low)


def count_of(draft: Draft) -> int:
    """How many units, or fetch instructions, a clause has."""
    if draft.form is CLAUSE:
        return draft.get("count") + 1
    return draft.get("count") + draft.form.limit("count") * draft.get("count_3") + 1


def _export(cursor: Cursor, draft: Draft) -> None:
    """`PIX0, R1.xyz1`."""
    draft.set("elem_size", default_element(draft) - 1)
    if cursor.accept(_DEPTH):
        draft.set("array_base", COMPUTED_DEPTH)
    else:
        text = cursor.token.text.lower()
        kind = text.rstrip("0123456789")
        if cursor.token.kind is not Kind.NAME or kind not in _TARGETS or kind == text:
            cursor.fail(f"expected what is exported, as in PIX0, DEPTH, POS60 or PARAM0, not {cursor.described()}")
        limit = draft.form.limit("array_base")
        draft.write(type=_TARGETS[kind], array_base=registers.parse_numbered(cursor, kind, limit, "an export"))
    cursor.expect(",")
    gpr, relative = registers.parse_loop_gpr(cursor)
    draft.write(rw_gpr=gpr, rw_rel=relative)
    for component, select in zip(COMPONENTS, registers.parse_selects(cursor, "____"), strict=True):
        draft.set(f"sel_{component}", select)


def _memory_write(cursor: Cursor, draft: Draft) -> None:
    """`R1.xy__, [16]` or `R1.xyzw, [16+R2]`: a mask of what is written; the element."""
    draft.write(elem_size=default_element(draft) - 1, array_size=draft.form.limit("array_size") - 1)
    gpr, relative = registers.parse_loop_gpr(cursor)
    draft.write(rw_gpr=gpr, rw_rel=relative)
    position, mask = cursor.position, 0
    for number, select in enumerate(registers.parse_selects(cursor, "____")):
        if select not in (number, SELECTS.index("_")):
            cursor.fail_at("the components that are written stand in their positions, as in .xy_w", position)
        mask |= (select == number) << number
    draft.set("comp_mask", mask)
    cursor.expect(",")
    cursor.expect("[")
    draft.set("array_base", cursor.integer("the first element", draft.form.limit("array_base")))
    if cursor.accept("+"):
        index = registers.parse_numbered(cursor, "r", draft.form.limit("index_gpr"), "a register")
        draft.write(index_gpr=index, type=MemoryWrite.WRITE_IND.value)
    cursor.expect("]")


def options_of(word: Word) -> dict[str, Option]:
    """What can stand after a CF instruction."""
    draft = word.draft
    common = {"whole_quad": flag_option(draft, "whole_quad_mode"), "no_barrier": _no_barrier(draft)}
    ends = {END_OF_PROGRAM: flag_option(draft, "end_of_program")} if draft.form is not CLAUSE else {}
    valid = {"valid_pix": flag_option(draft, "valid_pixel_mode")} if draft.form is not CLAUSE else {}
    return {**_own_options(word), **ends, **valid, **common}


def _own_options(word: Word) -> dict[str, Option]:
    draft = word.draft
    if draft.form in (SWIZZLED, BUFFER):
        return _export_options(draft)
    if draft.form is CLAUSE:
        kcaches = {f"kcache{number}": in_parentheses(_kcache(draft, number)) for number in range(KCACHE_SETS)}
        return {TARGET: _target(word), COUNT: _count(draft), **kcaches, "alt_const": flag_option(draft, "alt_const")}
    return {
        TARGET: _target(word),
        **({COUNT: _count(draft)} if starts_fetch(draft) else {}),
        "pop_cnt": number_option(draft, "pop_count", "the entries that are popped"),
        "cond": code_option(draft, "cond", CONDITION_NAMES, "a condition"),
        "cf_const": number_option(draft, "cf_const", "the constant"),
        "call_count": number_option(draft, "call_count", "what the call adds to the depth"),
    }


def _export_options(draft: Draft) -> dict[str, Option]:
    options = {
        "burst": number_option(draft, "burst_count", "the registers of a burst", less=1),
        "elem_size": number_option(draft, "elem_size", "the dwords of an element", less=1),
    }
    if draft.form is SWIZZLED:
        return options
    size = number_option(draft, "array_size", "the elements of the area", less=1)
    return {**options, "array_size": size, "ack": _acknowledged(draft)}


def _acknowledged(draft: Draft) -> Option:
    def option(cursor: Cursor) -> None:
        draft.set("type", draft.get("type") | MemoryWrite.WRITE_ACK.value)

    return option


def _no_barrier(draft: Draft) -> Option:
    def option(cursor: Cursor) -> None:
        draft.set("barrier", 0)

    return option


def _target(word: Word) -> Option:
    def option(cursor: Cursor) -> None:
        word.target = parse_target(cursor)

    return in_parentheses(option)


def parse_target(cursor: Cursor) -> Token:
    """A label or an address."""
    cursor.expand_alias()
    if cursor.token.kind not in (Kind.NAME, Kind.NUMBER):
        cursor.fail(f"expected a label or an address, not {cursor.described()}")
    return cursor.take()


def _count(draft: Draft) -> Option:
    def option(cursor: Cursor) -> None:
        position = cursor.position
        most = draft.form.limit("count") * (draft.form.limit("count_3") if draft.form is CONTROL else 1)
        count = cursor.integer("the length of the clause", most + 1)
        if not count:
            cursor.fail_at("a clause has at least one instruction", position)
        set_count(draft, count)

    return in_parentheses(option)


def _kcache(draft: Draft, number: int) -> Option:
    """`CB0:0-15`, `CB0:16-47` or `CB0:16+aL`: a bank and the rows that are locked."""

    def option(cursor: Cursor) -> None:
        bank = registers.parse_numbered(cursor, "cb", _BANKS, "a constant bank")
        cursor.expect(":")
        position = cursor.position
        first = cursor.integer("the first row", _LINES * KCACHE_LINE_ROWS)
        if cursor.accept("+"):
            cursor.expect("al")
            mode = KcacheMode.LOCK_LOOP_INDEX
        else:
            cursor.expect("-")
            last = cursor.integer("the last row", (_LINES + 1) * KCACHE_LINE_ROWS)
            locks = {LOCKED_LINES[mode] * KCACHE_LINE_ROWS: mode for mode in (KcacheMode.LOCK_1, KcacheMode.LOCK_2)}
            mode = locks.get(last - first + 1, KcacheMode.NOP)
        if first % KCACHE_LINE_ROWS or mode is KcacheMode.NOP:
            cursor.fail_at("a clause locks one or two whole lines, as in CB0:0-15, CB0:16-47 or CB0:16+aL", position)
        lock(draft, number, bank=bank, line=first // KCACHE_LINE_ROWS, mode=mode.value)

    return option


def lock(draft: Draft, number: int, *, bank: int, line: int, mode: int) -> None:
    """Write which lines of constants a clause locks for one of its sets."""
    fields = {"bank": bank, "addr": line, "mode": mode}
    draft.write(**{f"kcache_{field}{number}": value for field, value in fields.items()})
