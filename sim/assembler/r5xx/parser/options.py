"""Parses what may follow any instruction: flags and overrides of fields."""

from collections.abc import Mapping
from dataclasses import dataclass

from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.r5xx.draft import Draft, field_names

COMMON_FLAGS = {
    "sem_wait": ("common", "tex_sem_wait"),
    "alu_wait": ("common", "alu_wait"),
    "nop": ("common", "nop"),
    "last": ("common", "last"),
    "write_inactive": ("common", "write_inactive"),
}
"""Flag -> word and field of one bit."""
STATISTICS = "stat_we"
_STATISTICS_LIMIT = 16


@dataclass(frozen=True)
class Override:
    """A field that was written outright."""

    word: str
    field: str
    value: int


def parse_flags(cursor: Cursor, draft: Draft, flags: Mapping[str, tuple[str, str]] = COMMON_FLAGS) -> bool:
    """Parse one flag of `flags` or `stat_we(N)` if there is one; says whether."""
    name = cursor.token.text.lower()
    if name in flags:
        word, field = flags[name]
        if draft.get(word)[field]:
            cursor.fail(f"{name} was written before")
        cursor.take()
        draft.set(word, **{field: 1})
        return True
    if cursor.accept(STATISTICS):
        cursor.expect("(")
        draft.set("common", stat_we=cursor.integer("the statistics mask", _STATISTICS_LIMIT))
        cursor.expect(")")
        return True
    return False


def parse_overrides(cursor: Cursor, kind: InstructionType) -> tuple[Override, ...]:
    """Parse `{field=value, word.field=value, ...}` if it is there."""
    if cursor.accept("{") is None:
        return ()
    names = field_names(kind)
    found = []
    while True:
        position = cursor.position
        name = cursor.expect_name("a field's name").text.lower()
        if cursor.next_is(*(f".{full_name.partition('.')[2]}" for full_name in names if "." in full_name)):
            name += cursor.take().text.lower()
        if name not in names:
            cursor.fail_at(_unknown(name, names), position)
        word, field, width = names[name]
        cursor.expect("=")
        found.append(Override(word, field, cursor.integer(f"the field {name}", 1 << width)))
        if cursor.accept(",") is None:
            break
    cursor.expect("}")
    return tuple(found)


def _unknown(name: str, names: Mapping[str, tuple[str, str, int]]) -> str:
    matches = [full_name for full_name in names if full_name.endswith(f".{name}")]
    if matches:
        return f"several words have a field {name}: write {' or '.join(matches)}"
    return f"this type of instruction has no field {name}"
