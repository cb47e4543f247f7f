"""Parses registers: `R3`, `R[3+AR.x]`, `C12`, `KC0[2]`, and the letters after them."""

import re

from ctm.rtl.isa.limits import FLOAT_CONSTANTS, TEMPORARIES
from ctm.rtl.isa.r700.alu import IndexMode
from ctm.rtl.isa.r700.limits import CLAUSE_TEMPORARIES, FIRST_CLAUSE_TEMPORARY, KCACHE_SETS
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.r700.names import COMPONENTS, SELECTS, lower
from ctm.sim.assembler.tokens import Kind

REGISTER = re.compile(
    r"_?r[0-9]+|c[0-9]+|kc[01]|[tbs][0-9]+|pix[0-9]+|pos[0-9]+|param[0-9]+|cfile|r|c|pv|ps|ar|al", re.IGNORECASE
)
"""What a name of `.equ` must not be."""
_NUMBERED = re.compile(r"([a-z_]+)([0-9]+)", re.IGNORECASE)
_TEMPORARIES = tuple(f"t{number}" for number in range(CLAUSE_TEMPORARIES))
_UPPER = ("r", "_r", "c", "cb", "pix", "pos", "param")
_AR = "ar"
_LOOP = "al"
_INDEX_CODE = re.compile(r"index_([0-7])", re.IGNORECASE)
_GLOBAL = {name: code for name, code in lower(IndexMode).items() if name.startswith("global")}
_AR_MODES = {
    f".{mode.name[-1].lower()}": mode.value for mode in IndexMode if mode.name in ("AR_X", "AR_Y", "AR_Z", "AR_W")
}
KCACHES = tuple(f"kc{number}" for number in range(KCACHE_SETS))
CONSTANT_FILE = "cfile"


def parse_numbered(cursor: Cursor, letters: str, limit: int, what: str) -> int:
    """A register like `t3`: its letters and a number below `limit`."""
    cursor.expand_alias()
    match = _NUMBERED.fullmatch(cursor.token.text)
    shown = letters.upper() if letters in _UPPER else letters
    if cursor.token.kind is not Kind.NAME or match is None or match[1].lower() != letters:
        cursor.fail(f"expected {what}, {shown}0 to {shown}{limit - 1}, not {cursor.described()}")
    if int(match[2]) >= limit:
        cursor.fail(f"there is no {cursor.token.text}; {what} is {shown}0 to {shown}{limit - 1}")
    cursor.take()
    return int(match[2])


def parse_bracket(cursor: Cursor, limit: int, what: str) -> tuple[int, int | None]:
    """`[number]` or `[number + index]`, in any order: the number and the index mode, None if there is no index."""
    cursor.expect("[")
    index = None if _is_number(cursor) else parse_index(cursor)
    if index is not None and cursor.accept("+") is None:
        cursor.expect("]")
        return 0, index
    number = cursor.integer(f"the number of {what}", limit)
    if index is None and cursor.accept("+"):
        index = parse_index(cursor)
    cursor.expect("]")
    return number, index


def _is_number(cursor: Cursor) -> bool:
    cursor.expand_alias()
    return cursor.token.kind is Kind.NUMBER


def parse_index(cursor: Cursor) -> int:
    """`AR.x`, `aL` or another index: its INDEX_MODE."""
    cursor.expand_alias()
    if cursor.accept(_AR):
        if cursor.token.text.lower() not in _AR_MODES:
            cursor.fail(f"expected a component of AR, as in AR.x, not {cursor.described()}")
        return _AR_MODES[cursor.take().text.lower()]
    if cursor.accept(_LOOP):
        return IndexMode.LOOP.value
    numbered = _INDEX_CODE.fullmatch(cursor.token.text)
    if numbered is not None:
        cursor.take()
        return int(numbered[1])
    if cursor.token.text.lower() in _GLOBAL:
        return _GLOBAL[cursor.take().text.lower()]
    cursor.fail(f"expected AR.x, AR.y, AR.z, AR.w or aL, not {cursor.described()}")


def parse_gpr(cursor: Cursor, letters: str = "r") -> tuple[int, int | None]:
    """A register, `R3` or `R[3 + index]`: its number and the index mode. `T0` to `T3` are the clause temporaries."""
    cursor.expand_alias()
    if cursor.token.text.lower() in _TEMPORARIES:
        return FIRST_CLAUSE_TEMPORARY + _TEMPORARIES.index(cursor.take().text.lower()), None
    if cursor.next_is(letters) and cursor.followed_by("["):
        cursor.take()
        return parse_bracket(cursor, TEMPORARIES, "a register")
    return parse_numbered(cursor, letters, TEMPORARIES, "a register"), None


def parse_loop_gpr(cursor: Cursor) -> tuple[int, bool]:
    """A register of a fetch or an export, which may be relative to aL only."""
    position = cursor.position
    number, index = parse_gpr(cursor)
    if index not in (None, IndexMode.LOOP.value):
        cursor.fail_at("a fetch or an export can be relative to aL only, as in R[3+aL]", position)
    return number, index is not None


def parse_row(cursor: Cursor) -> tuple[int, int | None]:
    """A row of constant bank 0, `C3` or `C[3 + index]`."""
    if cursor.next_is("c") and cursor.followed_by("["):
        cursor.take()
        return parse_bracket(cursor, FLOAT_CONSTANTS, "a constant")
    return parse_numbered(cursor, "c", FLOAT_CONSTANTS, "a constant"), None


def parse_channel(cursor: Cursor, what: str, component: int | None = None) -> int:
    """`.x`, `.y`, `.z` or `.w`; with `component` also a letter of each, of which this one counts."""
    channel = accept_channel(cursor)
    letters = cursor.token.text[1:].lower()
    if channel is None and component is not None:
        if cursor.token.kind is not Kind.DOT:
            return component
        if len(letters) == len(COMPONENTS) and not set(letters) - set(COMPONENTS):
            cursor.take()
            return COMPONENTS.index(letters[component])
    if channel is None:
        cursor.fail(f"expected the component of {what}, .x .y .z or .w, not {cursor.described()}")
    return channel


def accept_channel(cursor: Cursor) -> int | None:
    """A component, if there is one."""
    letters = cursor.token.text[1:].lower()
    if cursor.token.kind is not Kind.DOT or len(letters) != 1 or letters not in COMPONENTS:
        return None
    cursor.take()
    return COMPONENTS.index(letters)


def parse_selects(cursor: Cursor, defaults: str, letters: str = SELECTS) -> list[int]:
    """A swizzle as component selects; letters that are missing are those of `defaults`, all if there is no swizzle."""
    if cursor.token.kind is not Kind.DOT:
        return [COMPONENTS.index(letter) for letter in COMPONENTS[: len(defaults)]]
    found = cursor.token.text[1:].lower()
    if len(found) > len(defaults) or any(letter not in letters for letter in found):
        cursor.fail(f"a swizzle here has up to {len(defaults)} of the letters {' '.join(letters.replace('?', ''))}")
    cursor.take()
    return [SELECTS.index(letter) for letter in found + defaults[len(found) :]]
