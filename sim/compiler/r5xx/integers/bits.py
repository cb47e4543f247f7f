"""Operations on bits, as far as they are arithmetic: with masks and counts of shifts that are known, and of truths."""

from ctm.sim.compiler.r5xx.integers.building import ZERO, Builder, known, literal
from ctm.sim.compiler.r5xx.integers.ranges import ANY, EXACT_BITS, Range, operands, width


def logic(to: Builder) -> bool:
    """AND, OR and XOR, of truths or with a number that is known."""
    type_, (left, right) = operands(to.instruction)
    if width(type_) == 1:
        return False
    if to.range_of(left).is_truth and to.range_of(right).is_truth:
        truths = f"{to.truth(to.float(left))}, {to.truth(to.float(right))}"
        return to.result(f"uitofp i1 {to.step(f'{to.opcode} i1 {truths}')} to float")
    if known(left) is not None or to.range_of(left).is_truth:
        left, right = right, left
    value, range_, mask = to.float(left), to.range_of(left), known(right)
    if to.range_of(right).is_truth:
        odd = to.remainder(value, 1, range_)
        assert odd is not None
        return _joined(to, value, to.float(right), to.whole("fmul", odd, to.float(right)))
    if mask is None:
        return to.mark_unsupported("bits", to.opcode)
    if to.opcode == "xor" and mask == -1:
        return to.same(to.whole("fsub", literal(-1.0), value))
    common = _masked(to, value, range_, mask)
    if common is None:
        return to.mark_unsupported("sign", (mask + 1).bit_length() - 1)
    return _joined(to, value, to.float(str(mask)), common)


def _joined(to: Builder, value: str, other: str, common: str) -> bool:
    """By what both have in common: a | b = a + b - (a & b), and a ^ b = a + b - 2 (a & b)."""
    if to.opcode == "and":
        return to.same(common)
    if to.opcode == "xor":
        common = to.whole("fmul", common, literal(2.0))
    return to.same(to.whole("fadd", to.whole("fsub", value, common), other))


def _masked(to: Builder, value: str, range_: Range, mask: int) -> str | None:
    """AND: for each run of ones, what is below its end without what is below its beginning."""
    total: str | None = None
    for first, end in runs(mask):
        upper = value if end is None else to.remainder(value, end, range_)
        lower = to.remainder(value, first, range_) if first else ZERO
        if upper is None or lower is None:
            return None
        run = to.whole("fsub", upper, lower) if first else upper
        total = run if total is None else to.whole("fadd", total, run)
    return total or ZERO


def runs(mask: int) -> list[tuple[int, int | None]]:
    """The runs of ones of a mask, each from a bit to one above it; None of a negative mask's last one."""
    found: list[tuple[int, int | None]] = []
    bit = 0
    while mask not in (0, -1):
        start = (mask & -mask).bit_length() - 1
        mask, bit = mask >> start, bit + start
        if mask != -1:
            length = (~mask & -~mask).bit_length() - 1
            found.append((bit, bit + length))
            mask, bit = mask >> length, bit + length
    return [*found, (bit, None)] if mask == -1 else found


def shift(to: Builder) -> bool:
    """A product with a power of two; to the right without the fraction."""
    type_, (left, right) = operands(to.instruction)
    bits, value, by = width(type_), to.float(left), known(right)
    is_left = to.opcode == "shl"
    if is_left and to.range.is_inexact:
        return to.mark_unsupported("beyond", to.range.smallest)
    if by is not None:
        power = literal(2.0 ** (by if is_left else -by))
    else:
        count = to.float(right)
        power = to.step(f"call float @ctm.exp2(float {count if is_left else to.whole('fsub', ZERO, count)})")
    if is_left and by is not None and bits - by <= EXACT_BITS:
        # What leaves the word is dropped first.
        value = (
            to.narrowed(value, bits - by, to.range_of(left)) if bits > by + 1 else to.lowest(value, to.range_of(left))
        )
    scaled = to.whole("fmul", value, power)
    if is_left:
        return to.same(scaled if by is not None or bits > EXACT_BITS else to.narrowed(scaled, bits, ANY))
    if by is not None and by <= EXACT_BITS:
        found = to.whole("fsub", scaled, to.step(f"call float @ctm.fract(float {scaled})"))
    else:
        found = to.call("llvm.floor.f32", scaled)
    if to.opcode == "lshr" and not to.range_of(left).is_natural:
        # A negative number's upper bits are ones.
        wrapped = to.whole("fadd", found, to.whole("fmul", literal(2.0**bits), power))
        if by is None:
            wrapped = to.choose(to.truth(to.float(right)), wrapped, found)
        found = to.choose(to.is_negative(value), wrapped, found)
    return to.same(found)
