"""Conditional unit: compares conditional values with the conditional buffer and stores those that pass.

Source: CTM Guide pp. 5 and 22. FLOAT32_1 compares as floats (denormals are zero, a NaN is unequal to everything),
UINT16_1 compares the integers that an output write would store.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.status import BusClient
from ctm.sim.golden import fp
from ctm.sim.golden.mc.address import Integers, element_address
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import Floats, Mask, channel_bits
from ctm.sim.memory import Memory

_COMPARISONS: dict[ConditionalTest, Callable[[npt.NDArray[np.generic], npt.NDArray[np.generic]], Mask]] = {
    ConditionalTest.LESS: np.less,
    ConditionalTest.LESS_EQUAL: np.less_equal,
    ConditionalTest.EQUAL: np.equal,
    ConditionalTest.GREATER_EQUAL: np.greater_equal,
    ConditionalTest.GREATER: np.greater,
    ConditionalTest.NOT_EQUAL: np.not_equal,
}

FORMATS = (DataFormat.FLOAT32_1, DataFormat.UINT16_1)
"""Formats that a conditional buffer may have."""


@dataclass(kw_only=True)
class ConditionalUnit:
    """State of the unit; the defaults are the reset state."""

    buffer: Buffer = Buffer()
    test: ConditionalTest = ConditionalTest.ALWAYS
    location: ConditionalLocation = ConditionalLocation.PE
    write_enabled: bool = False

    @property
    def reads_buffer(self) -> bool:
        """Whether the test looks at the buffer."""
        return self.test in _COMPARISONS

    @property
    def may_write_buffer(self) -> bool:
        """Whether a pass stores the conditional value."""
        return self.write_enabled and self.test is not ConditionalTest.NEVER

    @property
    def passes_all(self) -> bool:
        """Whether every value passes, and nothing is stored."""
        return self.test is ConditionalTest.ALWAYS and not self.may_write_buffer

    @property
    def format_is_legal(self) -> bool:
        """Whether the buffer's format allows what the test does."""
        return not (self.reads_buffer or self.may_write_buffer) or self.buffer.format in FORMATS

    def decide(self, memory: Memory, x: Integers, y: Integers, value: Floats) -> tuple[Mask, Mask]:
        """Test `value` at the pairs (x, y), all arrays [n].

        Returns
        -------
        passed, stored
            Pairs that pass, and those whose value the buffer takes. Outside the buffer a test that reads or writes it
            fails and nothing is stored; so does one whose access fails.
        """
        exists = (x < self.buffer.width_limit) & (y < self.buffer.height_limit)
        if self.reads_buffer or self.may_write_buffer:
            address = element_address(self.buffer, x, y)
            exists = memory.keep(BusClient.CONDITIONAL_OUTPUT, address, self.buffer.element.element_bytes, exists)
        if self.test is ConditionalTest.NEVER:
            passed = np.zeros(x.shape, bool)
        elif self.test is ConditionalTest.ALWAYS:
            passed = exists if self.may_write_buffer else np.ones(x.shape, bool)
        else:
            passed = exists & self._compare(memory, x, y, value)
        return passed, passed & self.may_write_buffer

    def store(self, memory: Memory, x: Integers, y: Integers, value: Floats) -> None:
        """Write the conditional values of pairs that `decide` said are stored."""
        space = memory.view(np.uint32 if self.buffer.element.is_float else np.uint16)
        space[element_address(self.buffer, x, y) // self.buffer.element.element_bytes] = channel_bits(
            self.buffer, value
        )

    def _compare(self, memory: Memory, x: Integers, y: Integers, value: Floats) -> Mask:
        # A pair outside the buffer is compared with some element inside; its result is dropped.
        address = element_address(self.buffer, x, y) // self.buffer.element.element_bytes
        compare = _COMPARISONS[self.test]
        if self.buffer.element.is_float:
            stored = np.take(memory.view(np.float32), address)
            return compare(fp.flush_denormals(value), fp.flush_denormals(stored))
        return compare(fp.to_unorm16(value), np.take(memory.view(np.uint16), address))
