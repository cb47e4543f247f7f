"""What the hardware keeps of a buffer, against the golden model's view of the same words."""

import numpy as np
import pytest

from ctm.rtl.border.buffers import BUFFER, RESET_BUFFER
from ctm.rtl.isa.formats import FORMAT
from ctm.rtl.mc.buffer import BufferDecoder
from ctm.sim.compiled import CompiledUnit
from ctm.sim.golden.mc.buffer import Buffer
from ctm.tb.mc.buffers import buffer_bits, buffer_words, golden_buffer, random_buffers


@pytest.fixture(scope="module")
def unit() -> CompiledUnit:
    return CompiledUnit(BufferDecoder())


def decoded(unit: CompiledUnit, words: list[tuple[int, int, int]]) -> np.ndarray:
    base, word, height = np.array(words, np.uint64).T
    return unit(base=base.astype(np.uint32), format=word.astype(np.uint32), height=height.astype(np.uint32))["buffer"]


def test_decoded_buffers_are_those_of_the_golden_model(unit):
    words = list(random_buffers(1, 5000))
    found = decoded(unit, words)
    expected = buffer_words([golden_buffer(each) for each in words])
    wrong = np.flatnonzero(found != expected)
    assert not wrong.size, f"{words[wrong[0]]}: {found[wrong[0]]}, not {expected[wrong[0]]}"


def test_reserved_bits_are_ignored(unit):
    words = list(random_buffers(2, 100))
    reserved = sum((1 << field.width) - 1 << field.offset for name, field in FORMAT if name.startswith("reserved"))
    other = [(base ^ 0x7FF, word | reserved, height | 0xFFFF_E000) for base, word, height in words]
    np.testing.assert_array_equal(decoded(unit, words), decoded(unit, other))


def test_the_reset_state_is_that_of_words_of_zeros(unit):
    bits = BUFFER.const(RESET_BUFFER).as_bits()
    assert bits == buffer_bits(Buffer())
    np.testing.assert_array_equal(decoded(unit, [(0, 0, 0)]), [bits])
