"""Memory controller: addresses by the manual's tables, conversions, clamping, masks, dropping."""

import re

import numpy as np
import pytest

from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.sim.golden.mc.address import element_address, extent
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import fetch_addresses, read, write
from ctm.sim.memory import Memory

FORMATS = {2: DataFormat.UINT16_1, 4: DataFormat.FLOAT32_1, 8: DataFormat.FLOAT32_2, 16: DataFormat.FLOAT32_4}

# CTM Guide p. 6, table 2, as it is printed: bits 31:11, then 10 to 5, then 4:0 from the highest down.
TILED_ROWS = {
    2: "y[11:5]*p[13:5]+x[11:5]|y4^x5|x4^y5|y3^x4|x3^y4|y2|x2|y1 y0 x1 x0 0",
    4: "y[11:4]*p[13:5]+x[11:5]|y3^x5|x4^y4|y2^x4|x3^y3|y1|x2|y0 x1 x0 0 0",
    8: "y[11:4]*p[13:4]+x[11:4]|y3^x4|x3^y4|y2^x3|x2^y3|y1|x1|y0 x0 0 0 0",
    16: "y[11:3]*p[13:4]+x[11:4]|y2^x4|x3^y3|y1^x3|x2^y2|y0|x1|x0 0 0 0 0",
}


def printed_tiled_address(row: str, x: int, y: int, pitch: int, base: int) -> int:
    """Evaluate one printed row of table 2."""
    values = {"x": x, "y": y, "p": pitch}

    def evaluate(term: str) -> int:
        expression = re.sub(
            r"([xyp])\[(\d+):(\d+)\]",
            lambda m: str(values[m[1]] >> int(m[3]) & (1 << int(m[2]) - int(m[3]) + 1) - 1),
            term,
        )
        return eval(re.sub(r"([xy])(\d+)", lambda m: str(values[m[1]] >> int(m[2]) & 1), expression))

    head, *middle, tail = row.split("|")
    address = evaluate(head) + (base >> 11) << 11
    for bit, term in enumerate([*middle, *tail.split()]):
        address |= evaluate(term) << 10 - bit
    return address % ADDRESS_SPACE


@pytest.mark.parametrize("size", TILED_ROWS)
def test_tiled_addresses_are_those_of_the_printed_table(size: int) -> None:
    generator = np.random.default_rng(size)
    buffer = Buffer(base=0x1234_5800, pitch=8188, tiling=Tiling.TILED, format=FORMATS[size])
    y, x = np.mgrid[0:72, 0:72].reshape(2, -1)
    x = np.concatenate([x, generator.integers(0, 4096, 500)])
    y = np.concatenate([y, generator.integers(0, 4096, 500)])
    expected = [
        printed_tiled_address(TILED_ROWS[size], int(a), int(b), 8188, buffer.base) for a, b in zip(x, y, strict=True)
    ]
    np.testing.assert_array_equal(element_address(buffer, x, y), expected)


@pytest.mark.parametrize("size", FORMATS)
@pytest.mark.parametrize("pitch", [4, 12, 32, 4096, 8188])
def test_linear_addresses_are_those_of_the_printed_table(size: int, pitch: int) -> None:
    k = size.bit_length() - 1
    generator = np.random.default_rng(pitch)
    x, y = generator.integers(0, 4096, (2, 300))
    buffer = Buffer(base=0x8000_0800, pitch=pitch, format=FORMATS[size])
    # CTM Guide p. 6, table 1: A[31:5] = y * pitch[13:5-k] + x[11:5-k] + offset[31:5], A[4:0] = x[4-k:0] << k.
    high = y * (pitch >> 5 - k) + (x >> 5 - k) + (buffer.base >> 5)
    expected = (high << 5 | (x & (1 << 5 - k) - 1) << k) % ADDRESS_SPACE
    np.testing.assert_array_equal(element_address(buffer, x, y), expected)


@pytest.mark.parametrize("size", FORMATS)
def test_whole_tiles_are_filled_without_overlap(size: int) -> None:
    width, height = {2: (64, 64), 4: (64, 32), 8: (32, 32), 16: (32, 16)}[size]
    buffer = Buffer(pitch=width, height=height, tiling=Tiling.TILED, format=FORMATS[size])
    y, x = np.mgrid[0:height, 0:width].reshape(2, -1)
    addresses = np.sort(element_address(buffer, x, y))
    np.testing.assert_array_equal(addresses, np.arange(width * height) * size)
    assert extent(buffer) == width * height * size


def test_addresses_wrap_at_four_gigabytes() -> None:
    buffer = Buffer(base=0xFFFF_F800, pitch=512, format=DataFormat.FLOAT32_1, height=4)
    addresses = element_address(buffer, np.array([511, 0]), np.array([0, 1]))
    assert list(addresses) == [0xFFFF_FFFC, 0]


def test_limits_follow_pitch_and_height() -> None:
    assert (Buffer(pitch=8188, height=0).width_limit, Buffer(pitch=8188, height=0).height_limit) == (4096, 4096)
    assert (Buffer(pitch=20, height=5000).width_limit, Buffer(pitch=20, height=5000).height_limit) == (20, 4096)
    assert (Buffer(height=8191).scale_height, Buffer(height=0).scale_height) == (8191, 4096)


def test_a_2x2_fetch_reads_right_up_diagonal_own_and_clamps_each() -> None:
    memory = Memory()
    buffer = Buffer(pitch=8, height=2, tiling=Tiling.LINEAR_INP_2X2, format=DataFormat.FLOAT32_1)
    memory.view(np.float32)[:16] = np.arange(16)
    for x, y, expected in ((0, 0, [1, 8, 9, 0]), (7, 0, [7, 15, 15, 7]), (3, 1, [12, 11, 12, 11])):
        addresses = fetch_addresses(buffer, np.array([x]), np.array([y]))
        assert [float(memory.view(np.float32)[address[0] // 4]) for address in addresses] == expected


def read_one(memory: Memory, data_format: DataFormat) -> list[str]:
    """The four channels of the element at address 0, as words."""
    buffer = Buffer(pitch=64, height=1, format=data_format)
    found = read(memory, buffer, np.array([0]), np.array([0]))
    return [f"{word:08x}" for word in found.view(np.uint32).ravel()]


@pytest.mark.parametrize(
    ("data_format", "stored", "channels"),
    [
        # 1/65535 is 1.0000153 * 2^-16: 0x37800080; full scale is 1.0; missing channels are 0, 0, 1.
        (DataFormat.UINT16_1, "0100", ["37800080", "00000000", "00000000", "3f800000"]),
        (DataFormat.UINT16_1, "ffff", ["3f800000", "00000000", "00000000", "3f800000"]),
        # 1/255 = 0x3b808081, 128/255 = 0x3f008081; channel 0 lies lowest.
        (DataFormat.UINT8_4, "0180ff00", ["3b808081", "3f008081", "3f800000", "00000000"]),
        # Float formats pass bits: a denormal, a negative NaN with payload.
        (DataFormat.FLOAT32_1, "01000000", ["00000001", "00000000", "00000000", "3f800000"]),
        (DataFormat.FLOAT32_2, "010080ff00000080", ["ff800001", "80000000", "00000000", "3f800000"]),
        (
            DataFormat.FLOAT32_4,
            "0000803f00000040010080ffffffffff",
            ["3f800000", "40000000", "ff800001", "ffffffff"],
        ),
    ],
)
def test_reads_convert_as_the_format_says(data_format: DataFormat, stored: str, channels: list[str]) -> None:
    memory = Memory()
    memory.write(0, bytes.fromhex(stored))
    assert read_one(memory, data_format) == channels


def stored_bytes(data_format: DataFormat, values: list[float], mask: list[bool] | None = None) -> str:
    """What a write of one element leaves in sixteen bytes that held 0xEE."""
    memory = Memory()
    memory.write(0, b"\xee" * 20)
    buffer = Buffer(pitch=64, height=1, format=data_format)
    elements = np.array(values, np.float32)[:, None]
    write(memory, buffer, np.array([0]), np.array([0]), elements, np.array(mask or [True] * 4)[:, None])
    return memory.read(0, 16).hex()


@pytest.mark.parametrize(
    ("data_format", "values", "stored"),
    [
        # 0.5 * 65535 = 32767.5: a tie, to the even 32768.
        (DataFormat.UINT16_1, [0.5, 9, 9, 9], "0080" + "ee" * 14),
        (DataFormat.UINT16_1, [np.nan, 9, 9, 9], "0000" + "ee" * 14),
        (DataFormat.UINT16_1, [7.0, 9, 9, 9], "ffff" + "ee" * 14),
        # 0.5 * 255 = 127.5: a tie, to the even 128; -1 clamps to 0, infinity to 1.
        (DataFormat.UINT8_4, [0.5, -1.0, np.inf, 1 / 255], "8000ff01" + "ee" * 12),
        (DataFormat.FLOAT32_1, [-0.0, 9, 9, 9], "00000080" + "ee" * 12),
        (DataFormat.FLOAT32_2, [1.0, 2.0, 9, 9], "0000803f00000040" + "ee" * 8),
        (DataFormat.FLOAT32_4, [1.0, 2.0, -1.0, 0.5], "0000803f00000040000080bf0000003f"),
    ],
)
def test_writes_convert_as_the_format_says(data_format: DataFormat, values: list[float], stored: str) -> None:
    assert stored_bytes(data_format, values) == stored


def test_masked_channels_keep_their_bytes() -> None:
    found = stored_bytes(DataFormat.UINT8_4, [1.0, 1.0, 1.0, 1.0], [True, False, True, False])
    assert found == "ffeeffee" + "ee" * 12
    found = stored_bytes(DataFormat.FLOAT32_2, [1.0, 2.0, 0, 0], [False, True, True, True])
    assert found == "eeeeeeee00000040" + "ee" * 8


def test_writes_outside_are_dropped() -> None:
    memory = Memory()
    buffer = Buffer(pitch=8, height=2, format=DataFormat.FLOAT32_1)
    x, y = np.array([7, 8, 7, 4095]), np.array([1, 1, 2, 4095])
    write(memory, buffer, x, y, np.ones((4, 4), np.float32), np.ones((4, 4), bool))
    assert np.flatnonzero(memory.view(np.uint32)[:64]).tolist() == [15]
    nothing = Buffer(pitch=0, format=DataFormat.FLOAT32_1)
    write(memory, nothing, np.array([0]), np.array([0]), np.ones((4, 1), np.float32), np.ones((4, 1), bool))
    assert memory.word(0) == 0
