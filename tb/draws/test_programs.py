"""What the programs of a draw read and leave, by hand: elements, constants of primitives, emitted vertices, layers."""

from fractions import Fraction

import numpy as np
import pytest

from ctm.rtl.isa.r700.control_flow import CfOperation
from ctm.sim.golden.r700.draws.formats import components, gathered
from ctm.sim.golden.r700.draws.pixels import _layers
from ctm.sim.golden.r700.draws.primitives import PrimitiveConstants
from ctm.sim.golden.r700.draws.threads import Emits
from ctm.sim.golden.r700.instruction import Numeric, VertexFormat

F = np.float32
ONE = 0x3F80_0000


def floats(values: list[float]) -> list[int]:
    return np.array(values, F).view(np.uint32).tolist()


def words_of(element: VertexFormat, values: list[int] | list[float], inside: bool = True) -> list[int]:
    """The four words of one element."""
    kind = "f" if element.numeric is Numeric.FLOAT else "i" if element.signed else "u"
    raw = np.array(values, f"{kind}{element.bits // 8}").view(np.uint8)[None]
    assert raw.size == element.element_bytes
    found = components(element, raw, np.array([inside]))
    return np.ascontiguousarray(found).view(np.uint32).ravel().tolist()


NORMALISED = [
    (8, False, [0, 51, 255, 128], [0.0, 0.2, 1.0, 128 / 255]),
    (8, True, [-128, -127, 127, -1], [-1.0, -1.0, 1.0, -1 / 127]),
    (16, False, [65535, 1, 0, 65534], [1.0, 1 / 65535, 0.0, 65534 / 65535]),
    (16, True, [-32768, -32767, 32767, 1], [-1.0, -1.0, 1.0, 1 / 32767]),
    (32, False, [2**32 - 1, 1, 0, 2**31], [1.0, 1 / (2**32 - 1), 0.0, 2**31 / (2**32 - 1)]),
    (32, True, [-(2**31), -(2**31) + 1, 2**31 - 1, 1], [-1.0, -1.0, 1.0, 1 / (2**31 - 1)]),
]


@pytest.mark.parametrize(("bits", "signed", "values", "expected"), NORMALISED)
def test_normalised_channels(bits: int, signed: bool, values: list[int], expected: list[float]) -> None:
    for channels in range(1, 5):
        element = VertexFormat(channels=channels, bits=bits, numeric=Numeric.NORMALISED, signed=signed)
        missing = [0.0, 0.0, 1.0][channels - 1 :] if channels < 4 else []
        assert words_of(element, values[:channels]) == floats(expected[:channels] + missing)


def test_32_bits_are_divided_with_one_rounding() -> None:
    generator = np.random.default_rng(0)
    element = VertexFormat(channels=1, bits=32, numeric=Numeric.NORMALISED)
    for value in generator.integers(0, 1 << 32, 200).tolist():
        exact = Fraction(value, 2**32 - 1)
        word = words_of(element, [value])[0]
        near = [Fraction(float(np.uint32(word + step).view(F))) for step in (-1, 0, 1)]
        assert abs(near[1] - exact) <= min(abs(near[0] - exact), abs(near[2] - exact))


def test_integers_are_kept_and_scaled() -> None:
    for bits in (8, 16, 32):
        unsigned = VertexFormat(channels=2, bits=bits, numeric=Numeric.INTEGER)
        assert words_of(unsigned, [2**bits - 1, 1]) == [2**bits - 1, 1, 0, 1]
        signed = VertexFormat(channels=3, bits=bits, numeric=Numeric.INTEGER, signed=True)
        assert words_of(signed, [-1, -(2 ** (bits - 1)), 3]) == [2**32 - 1, 2**32 - 2 ** (bits - 1), 3, 1]
        scaled = VertexFormat(channels=1, bits=bits, numeric=Numeric.SCALED)
        assert words_of(scaled, [2 ** (bits - 1)]) == floats([2.0 ** (bits - 1), 0, 0, 1])
        below = VertexFormat(channels=1, bits=bits, numeric=Numeric.SCALED, signed=True)
        assert words_of(below, [-5]) == floats([-5.0, 0, 0, 1])


def test_floats_of_16_and_32_bits() -> None:
    assert words_of(VertexFormat(channels=2, bits=16, numeric=Numeric.FLOAT), [1.5, -2.0]) == floats([1.5, -2, 0, 1])
    assert words_of(VertexFormat(channels=4, bits=32, numeric=Numeric.FLOAT), [1e30, -0.0, 3.0, 4.0]) == floats(
        [1e30, -0.0, 3.0, 4.0]
    )


def test_an_element_outside_is_0_in_the_channels_that_it_has() -> None:
    for channels, expected in ((1, [0, 0, 0, ONE]), (3, [0, 0, 0, ONE]), (4, [0, 0, 0, 0])):
        element = VertexFormat(channels=channels, bits=32, numeric=Numeric.FLOAT)
        assert words_of(element, [7.0] * channels, inside=False) == expected
    integer = VertexFormat(channels=1, bits=8, numeric=Numeric.INTEGER)
    assert words_of(integer, [7], inside=False) == [0, 0, 0, 1]


def test_elements_follow_each_other() -> None:
    element = VertexFormat(channels=2, bits=8, numeric=Numeric.INTEGER)
    raw = np.array([[1, 2], [3, 4], [5, 6]], np.uint8)
    found = components(element, raw, np.array([True, False, True])).view(np.uint32)
    assert found.tolist() == [[1, 0, 5], [2, 0, 6], [0, 0, 0], [1, 1, 1]]


def test_bytes_wrap_at_the_end_of_the_space() -> None:
    space = np.arange(8, dtype=np.uint8)
    assert gathered(space, np.array([0, 6, 7]), 3).tolist() == [[0, 1, 2], [6, 7, 0], [7, 0, 1]]
    assert gathered(space[:0], np.array([0, 5]), 2).tolist() == [[0, 0], [0, 0]]


def test_constants_are_those_of_the_primitive_of_a_wavefront() -> None:
    parameters = np.arange(5 * 2 * 4, dtype=F).reshape(5, 2, 4)
    record = 100 + np.arange(2 * 3 * 4, dtype=F).reshape(2, 3, 4)
    constants = PrimitiveConstants(
        parameters, np.array([0, 1, 1]), np.array([[0, 1, 2], [3, 1, 4]]), np.array([2, 3]), record,
        np.array([3, 4, 7]),
    )  # fmt: skip
    # Wavefronts 7 and 3 are of shapes 1 and 0; a vertex has 8 numbers, a row 4.
    for bank, vertices in ((1, [3, 0]), (2, [1, 1]), (3, [4, 2]), (5, [3, 2])):
        for row in range(2):
            expected = [[8 * vertex + 4 * row + channel for channel in range(4)] for vertex in vertices]
            assert constants.rows(np.array([7, 3]), bank, row).tolist() == expected
        assert constants.rows(np.array([7, 3]), bank, 2).tolist() == [[0] * 4] * 2
    assert constants.rows(np.array([4, 3]), 4, 2).tolist() == [[120, 121, 122, 123], [108, 109, 110, 111]]
    assert constants.rows(np.array([4]), 4, 3).tolist() == [[0] * 4]


def test_vertices_and_cuts_are_counted() -> None:
    emits = Emits(3, 2)
    both = CfOperation.EMIT_CUT_VERTEX
    for operation, threads in (
        (CfOperation.EMIT_VERTEX, [0, 2]), (CfOperation.CUT_VERTEX, [1, 2]), (both, [2]),
        (CfOperation.EMIT_VERTEX, [0]), (CfOperation.EMIT_VERTEX, [0, 2]),
    ):  # fmt: skip
        emits.execute(operation, np.array(threads))
    assert emits.count.tolist() == [2, 0, 2]
    assert emits.cut.tolist() == [[False] * 3, [True, False, False], [False, True, True]]


def test_pixels_at_one_address_are_in_different_layers() -> None:
    i, j = np.array([5, 6, 5, 5, 6, 0]), np.array([1, 1, 1, 2, 1, 0])
    # In order of their addresses the pixels are number 5, the three at (5, 1) and (6, 1), and number 3.
    assert [layer.tolist() for layer in _layers(i, j)] == [[5, 0, 1, 3], [2, 4]]
    assert [layer.tolist() for layer in _layers(np.array([8191, 0, 8191]), np.array([0, 1, 0]))] == [[0, 1], [2]]
    assert not list(_layers(i[:0], j[:0]))
    # With an address of its own each pixel is in the first layer.
    assert [layer.size for layer in _layers(np.arange(16384) % 8192, np.arange(16384) // 8192)] == [16384]
