"""TEX statements; CTM Guide pp. 32-33."""

from ctm.rtl.isa.limits import INPUTS
from ctm.rtl.isa.r5xx.opcodes import Channel, InstructionType, TextureOperation
from ctm.sim.assembler.cursor import Cursor
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.sim.assembler.r5xx.parser.halves import parse_condition_bit, parse_mask
from ctm.sim.assembler.r5xx.parser.options import COMMON_FLAGS, parse_flags
from ctm.sim.assembler.r5xx.parser.registers import parse_numbered, parse_temporary
from ctm.sim.assembler.r5xx.syntax import CHANNELS, Predicate
from ctm.sim.assembler.tokens import Kind

TEXTURE_FLAGS = {
    **COMMON_FLAGS,
    "acquire": ("tex_inst", "tex_sem_acquire"),
    "ignore_uncovered": ("tex_inst", "ignore_uncovered"),
    "unscaled": ("tex_inst", "unscaled"),
}
COORDINATES = "strq"
IDENTITY = CHANNELS
_OPERATIONS = {operation.name.lower(): operation for operation in TextureOperation}


def parse_texture(cursor: Cursor) -> Draft:
    """`[(predicates)] [r1.mask =] OPERATION(i0, r0.swizzle).swizzle [flags]`, after TEX.

    Short forms, in which nothing is written: `KILL_LT_0(r0.mask)` and `NOP`.
    """
    draft = Draft(InstructionType.TEX)
    if cursor.next_is("("):
        _predicates(cursor, draft)
    writes = not cursor.followed_by("(") and cursor.token.text.lower() not in _OPERATIONS
    if writes:
        _destination(cursor, draft)
    operation = cursor.choose(_OPERATIONS, "a texture operation")
    draft.set("tex_inst", inst=operation.value)
    if writes:
        _fetch(cursor, draft, operation)
    elif operation is TextureOperation.KILL_LT_0:
        _kill(cursor, draft)
    elif operation is not TextureOperation.NOP:
        cursor.fail(f"{operation.name} needs a destination, as in r1 = {operation.name}(i0, r0)")
    while parse_flags(cursor, draft, TEXTURE_FLAGS):
        pass
    return draft


def _predicates(cursor: Cursor, draft: Draft) -> None:
    """`(p)`, one for both units; `(p.r, !p.a)`, for the RGB and the alpha unit."""
    cursor.expect("(")
    rgb = alpha = parse_condition_bit(cursor)
    if cursor.accept(","):
        alpha = parse_condition_bit(cursor)
    cursor.expect(")")
    for unit, predicate in (("rgb", rgb), ("alpha", alpha)):
        _set_predicate(draft, unit, predicate)


def _set_predicate(draft: Draft, unit: str, predicate: Predicate) -> None:
    draft.set(
        "common",
        **{f"{unit}_pred_sel": predicate.select.value, f"{unit}_pred_inv": predicate.inverted},
    )


def _set_mask(cursor: Cursor, draft: Draft) -> None:
    mask = parse_mask(cursor)
    letters = CHANNELS if mask is None else mask
    bits = sum(1 << CHANNELS.index(letter) for letter in letters)
    draft.set("common", rgb_wmask=bits & 7, alpha_wmask=bits >> 3)


def _destination(cursor: Cursor, draft: Draft) -> None:
    register = parse_temporary(cursor)
    draft.set("tex_addr", dst_addr=register.index, dst_addr_rel=register.relative)
    _set_mask(cursor, draft)
    cursor.expect("=")


def _fetch(cursor: Cursor, draft: Draft, operation: TextureOperation) -> None:
    """`(i0, r0.swizzle).swizzle`; DXDY has the two derivatives after that."""
    cursor.expect("(")
    draft.set("tex_inst", tex_id=parse_numbered(cursor, "i", INPUTS, "an input"))
    cursor.expect(",")
    _coordinates(cursor, draft, "tex_addr", "src")
    if operation is TextureOperation.DXDY:
        for name in ("dx", "dy"):
            cursor.expect(",")
            _coordinates(cursor, draft, "tex_addr_dxdy", name)
    cursor.expect(")")
    swizzle = _swizzle(cursor)
    draft.set(
        "tex_addr",
        **{
            f"dst_{channel}_swiz": Channel[letter.upper()].value
            for channel, letter in zip(CHANNELS, swizzle, strict=True)
        },
    )


def _kill(cursor: Cursor, draft: Draft) -> None:
    """`(r0.mask)`: the channels that are tested."""
    cursor.expect("(")
    register = parse_temporary(cursor)
    _set_mask(cursor, draft)
    cursor.expect(")")
    draft.set("tex_addr", src_addr=register.index, src_addr_rel=register.relative)
    _set_coordinates(draft, "tex_addr", "src", IDENTITY)


def _coordinates(cursor: Cursor, draft: Draft, word: str, name: str) -> None:
    register = parse_temporary(cursor)
    draft.set(word, **{f"{name}_addr": register.index, f"{name}_addr_rel": register.relative})
    _set_coordinates(draft, word, name, _swizzle(cursor))


def _set_coordinates(draft: Draft, word: str, name: str, swizzle: str) -> None:
    codes = [Channel[letter.upper()].value for letter in swizzle]
    fields = [f"{name}_{coordinate}_swiz" for coordinate in COORDINATES]
    draft.set(word, **dict(zip(fields, codes, strict=True)))


def _swizzle(cursor: Cursor) -> str:
    """An optional swizzle: one letter for all, or two to four, of which the missing ones read their own channel."""
    if cursor.token.kind is not Kind.DOT:
        return IDENTITY
    letters = cursor.token.text[1:].lower()
    if len(letters) > len(IDENTITY) or any(letter not in CHANNELS for letter in letters):
        cursor.fail("a swizzle of TEX has one to four of the letters r, g, b, a")
    cursor.take()
    return letters * 4 if len(letters) == 1 else letters + IDENTITY[len(letters) :]
