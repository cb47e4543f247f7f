"""The end of wavefronts: the conditional test of their pixels, and their outputs.

Source: CTM Guide pp. 5, 22 and 29; docs/design/choices.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.parameters import CONDITIONAL, output_number
from ctm.sim.engines.fast.vector.address import element_address
from ctm.sim.engines.fast.vector.elements import gather, gather_words, store, stored_words
from ctm.sim.engines.fast.vector.lanes import Lanes, Value
from ctm.sim.engines.fast.vector.selection import canonical
from ctm.sim.golden.co.unit import ConditionalUnit

_COMPARISONS = {
    ConditionalTest.LESS: "<",
    ConditionalTest.LESS_EQUAL: "<=",
    ConditionalTest.EQUAL: "==",
    ConditionalTest.GREATER_EQUAL: ">=",
    ConditionalTest.GREATER: ">",
    ConditionalTest.NOT_EQUAL: "!=",
}


@dataclass(frozen=True, kw_only=True)
class Output:
    """An output register: four floats that have the machine's NaN, and the mask of each channel that was written."""

    values: Sequence[Value]
    written: Sequence[Value]


@dataclass(frozen=True, kw_only=True)
class Test:
    """The conditional test that each pixel makes at its end."""

    test: ConditionalTest
    writes: bool

    @staticmethod
    def of(unit: ConditionalUnit) -> "Test":
        """That of a conditional unit."""
        return Test(test=unit.test, writes=unit.may_write_buffer)

    @property
    def reads(self) -> bool:
        """Whether it compares."""
        return self.test in _COMPARISONS

    @property
    def uses_buffer(self) -> bool:
        """Whether the conditional buffer has to be there."""
        return self.reads or self.writes


def send(
    kernel: Kernel,
    valid_mask: Value,
    outputs: Mapping[int, Output],
    *,
    output_mask: Sequence[bool],
    test: Test | None,
    conditional: Value | None,
    adds: bool = False,
) -> None:
    """Store the outputs of covered, valid lanes whose conditional test passes, in the order of `outputs`.

    `output_mask` has the channels that are stored of every output. `conditional` are the lanes' conditional values,
    needed for a test that uses the buffer. With `adds` elements, which are floats, become the sum of what they are and
    the output.
    """
    lanes, builder = kernel.lanes, kernel.lanes.builder
    stores = builder.and_(kernel.covered, valid_mask)
    if test is not None:
        stores = _tested(kernel, test, conditional, stores)
    for output, register in outputs.items():
        number = output_number(output)
        form, buffer = kernel.frame.buffers[number], kernel.buffers[number]
        if form.is_empty:
            continue
        exists = builder.and_(stores, _inside(kernel, number))
        channels = form.element.channels
        masks = [
            builder.and_(exists, mask) if enabled else lanes.none
            for mask, enabled in zip(register.written[:channels], output_mask, strict=False)
        ]
        address = element_address(lanes, form, buffer, kernel.x, kernel.y)
        values = register.values[:channels]
        if adds:
            before = gather(lanes, form, buffer.memory, address)
            values = [_sum(lanes, old, new) for old, new in zip(before, values, strict=False)]
        words = [stored_words(lanes, form, value) for value in values]
        store(lanes, form, buffer.memory, address, words, masks)


def _sum(lanes: Lanes, one: Value, other: Value) -> Value:
    """A sum with the machine's NaN."""
    return canonical(lanes, lanes.builder.fadd(lanes.fenced(one), lanes.fenced(other)))


def _inside(kernel: Kernel, number: int) -> Value:
    """Lanes whose own element a buffer has."""
    lanes, builder, buffer = kernel.lanes, kernel.lanes.builder, kernel.buffers[number]
    inside = builder.and_(
        builder.icmp_unsigned("<", kernel.x, lanes.splat(buffer.width_limit)),
        builder.icmp_unsigned("<", kernel.y, lanes.splat(buffer.height_limit)),
    )
    return lanes.mask(inside)


def _tested(kernel: Kernel, test: Test, conditional: Value | None, candidates: Value) -> Value:
    """The `candidates` that pass. Their values are stored, if the test writes."""
    lanes, builder = kernel.lanes, kernel.lanes.builder
    if test.test is ConditionalTest.NEVER:
        return lanes.none
    if not test.uses_buffer:
        return candidates
    assert conditional is not None
    form, buffer = kernel.frame.buffers[CONDITIONAL], kernel.buffers[CONDITIONAL]
    if form.is_empty:
        return lanes.none
    passed = builder.and_(candidates, _inside(kernel, CONDITIONAL))
    address = element_address(lanes, form, buffer, kernel.x, kernel.y)
    words = stored_words(lanes, form, conditional)
    if test.reads:
        stored = gather_words(lanes, form, buffer.memory, address)
        is_float = form.element.is_float
        passed = builder.and_(passed, _compared(lanes, test.test, conditional if is_float else words, stored))
    if test.writes:
        store(lanes, form, buffer.memory, address, [words], [passed])
    return passed


def _compared(lanes: Lanes, test: ConditionalTest, value: Value, stored: Value) -> Value:
    builder, comparison = lanes.builder, _COMPARISONS[test]
    if value.type == lanes.integers:
        return lanes.mask(builder.icmp_unsigned(comparison, value, stored))
    return lanes.mask(lanes.compare(comparison, value, lanes.as_floats(stored)))
