"""Parses the halves of ALU and OUTPUT instructions: what a unit computes and where the result goes.

CTM Guide pp. 27-32.
"""

from ctm.rtl.isa.limits import OUTPUTS
from ctm.rtl.isa.r5xx.opcodes import OutputModifier, PredicateSelect, UmrtTarget, ZeroTest
from ctm.sim.assembler.cursor import Cursor, number
from ctm.sim.assembler.r5xx.parser.operands import parse_operand
from ctm.sim.assembler.r5xx.parser.registers import parse_numbered, parse_temporary
from ctm.sim.assembler.r5xx.syntax import CHANNELS, Destination, Half, Operand, Predicate, Target, Unit
from ctm.sim.assembler.tokens import Kind

TESTS = {"==": ZeroTest.EQUAL, "<": ZeroTest.LESS, ">=": ZeroTest.GREATER_EQUAL, "!=": ZeroTest.NOT_EQUAL}
MODIFIERS = {
    ("*", 2): OutputModifier.U2,
    ("*", 4): OutputModifier.U4,
    ("*", 8): OutputModifier.U8,
    ("/", 2): OutputModifier.D2,
    ("/", 4): OutputModifier.D4,
    ("/", 8): OutputModifier.D8,
}
PREDICATES = {
    None: PredicateSelect.RGBA,
    "r": PredicateSelect.RRRR,
    "g": PredicateSelect.GGGG,
    "b": PredicateSelect.BBBB,
    "a": PredicateSelect.AAAA,
}
EMPTY_MASK = "_"
_UMRT_TARGETS = {target.name.lower(): target for target in UmrtTarget}


def parse_half(cursor: Cursor) -> Half:
    """`[rgb:|alpha:] [(predicate)] [destinations =] OPERATION(operands) [modifier] [clamp]`."""
    position = cursor.position
    unit = None
    if cursor.next_is(Unit.RGB.value, Unit.ALPHA.value) and cursor.followed_by(":"):
        unit = Unit(cursor.take().text.lower())
        cursor.expect(":")
    predicate = parse_predicate(cursor) if cursor.next_is("(") else Predicate()
    destinations = _destinations(cursor)
    operation = cursor.expect_name("an operation").text.upper()
    operands = _operands(cursor)
    modifier, clamp = _result(cursor)
    half_unit = unit or _unit(destinations)
    if half_unit is None:
        cursor.fail("this half writes nothing that tells its unit: begin it with rgb: or alpha:")
    return Half(
        unit=half_unit,
        operation=operation,
        operands=operands,
        destinations=destinations,
        predicate=predicate,
        modifier=modifier,
        clamp=clamp,
        position=position,
    )


def parse_predicate(cursor: Cursor) -> Predicate:
    """`(p)`, each channel its own bit; `(p.r)`, one bit for all; `(!p.r)`; `(always)`; `(never)`."""
    cursor.expect("(")
    predicate = parse_condition_bit(cursor)
    cursor.expect(")")
    return predicate


def parse_condition_bit(cursor: Cursor) -> Predicate:
    """A predicate without its parentheses."""
    if cursor.accept("always"):
        return Predicate()
    if cursor.accept("never"):
        return Predicate(inverted=True)
    inverted = cursor.accept("!") is not None
    if cursor.accept("p") is None:
        cursor.fail(f"expected a predicate: p, p.r, !p, always or never, not {cursor.described()}")
    channel = cursor.take().text[1:].lower() if cursor.token.kind is Kind.DOT else None
    if channel not in PREDICATES:
        cursor.fail("a predicate has one channel, as in p.r, or none")
    return Predicate(PREDICATES[channel], inverted)


def _destinations(cursor: Cursor) -> tuple[Destination, ...]:
    if cursor.token.kind is not Kind.NAME or cursor.followed_by("("):
        return ()
    found = [_destination(cursor)]
    while cursor.accept(","):
        found.append(_destination(cursor))
    cursor.expect("=")
    return tuple(found)


def _destination(cursor: Cursor) -> Destination:
    cursor.expand_alias()
    position, name = cursor.position, cursor.token.text.lower()
    if name == "p":
        cursor.take()
        mask = parse_mask(cursor)
        return Destination(target=Target.PREDICATE, mask=mask, test=_test(cursor), position=position)
    if name == "alu_result":
        cursor.take()
        mask = parse_mask(cursor)
        if mask not in ("r", "a"):
            cursor.fail("the ALU result is made from one channel: alu_result.r or alu_result.a")
        return Destination(target=Target.ALU_RESULT, mask=mask, test=_test(cursor), position=position)
    if name == "w":
        cursor.take()
        return Destination(target=Target.CONDITIONAL, mask="a", position=position)
    if name == "umrt":
        cursor.take()
        cursor.expect("[")
        umrt = cursor.choose(_UMRT_TARGETS, "the kind of an uncached write")
        cursor.expect("]")
        return Destination(target=Target.UMRT, umrt=umrt, position=position)
    if name[:1] == "o":
        index = parse_numbered(cursor, "o", OUTPUTS, "an output")
        return Destination(target=Target.OUTPUT, index=index, mask=parse_mask(cursor), position=position)
    if name[:1] != "r":
        cursor.fail(f"expected a destination (r0, o0, p, alu_result, w, umrt), not {cursor.described()}")
    register = parse_temporary(cursor)
    return Destination(
        target=Target.TEMPORARY,
        index=register.index,
        relative=register.relative,
        mask=parse_mask(cursor),
        position=position,
    )


def parse_mask(cursor: Cursor) -> str | None:
    """An optional write mask: letters of r, g, b, a in this order, or `_` for none of them."""
    if cursor.token.kind is not Kind.DOT:
        return None
    letters = cursor.token.text[1:].lower()
    if letters != EMPTY_MASK and letters != "".join(channel for channel in CHANNELS if channel in letters):
        cursor.fail("a write mask has letters of r, g, b, a in this order, or is ._ for none")
    cursor.take()
    return letters.replace(EMPTY_MASK, "")


def _test(cursor: Cursor) -> ZeroTest:
    """`[<0]`, `[>=0]`, `[==0]` or `[!=0]`."""
    cursor.expect("[")
    test = TESTS.get(cursor.token.text)
    if test is None:
        cursor.fail(f"expected a test against zero ({' '.join(TESTS)}), not {cursor.described()}")
    cursor.take()
    cursor.integer("the zero of the test", 1)
    cursor.expect("]")
    return test


def _operands(cursor: Cursor) -> tuple[Operand, ...]:
    cursor.expect("(")
    found: list[Operand] = []
    if not cursor.next_is(")"):
        found.append(parse_operand(cursor))
        while cursor.accept(","):
            found.append(parse_operand(cursor))
    cursor.expect(")")
    return tuple(found)


def _result(cursor: Cursor) -> tuple[OutputModifier, bool]:
    modifier = OutputModifier.U1
    if cursor.accept("exact"):
        modifier = OutputModifier.DISABLED
    elif cursor.next_is("*", "/"):
        sign = cursor.take().text
        factor = number(cursor.token) if cursor.token.kind is Kind.NUMBER else 0
        if (sign, factor) not in MODIFIERS:
            cursor.fail("an output modifier is *2, *4, *8, /2, /4, /8 or exact")
        cursor.take()
        modifier = MODIFIERS[sign, int(factor)]
    return modifier, cursor.accept("clamp") is not None


def _unit(destinations: tuple[Destination, ...]) -> Unit | None:
    """The unit that the written channels ask for; None if no channel is written."""
    masks = [CHANNELS if destination.mask is None else destination.mask for destination in destinations]
    channels = set("".join(masks))
    if not channels:
        return None
    if channels == {"a"}:
        return Unit.ALPHA
    return Unit.JOINT if "a" in channels else Unit.RGB
