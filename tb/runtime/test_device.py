"""Runtime: device, queue, heap, images, the manual's four functions."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.commands import COMMANDS
from ctm.rtl.isa.formats import ELEMENTS, DataFormat, Tiling
from ctm.rtl.isa.status import Status
from ctm.sim.golden.mc.address import element_address
from ctm.sim.runtime import (
    CommandBuffer,
    Device,
    Layout,
    MachineError,
    ManagedDeviceInfo,
    amCloseManagedConnection,
    amCommandBufferConsumed,
    amOpenManagedConnection,
    amSubmitCommandBuffer,
)
from ctm.sim.runtime.image import element_type

NOTHING = CommandBuffer().wait_for_idle()
WRONG = CommandBuffer()
WRONG.words.append(0x12345678)


def test_every_command_has_a_method_of_its_name() -> None:
    for command in COMMANDS:
        assert callable(getattr(CommandBuffer, command.name))


def test_a_command_buffer_holds_the_words_of_its_commands() -> None:
    buffer = CommandBuffer().set_domain(1, 2, 3, 4).set_cond_val(-0.5).start_program()
    assert bytes(buffer).hex() == "000703c001000000020000000300000004000000000600c0000000bf000800c000000000"


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("set_params", (), "there is no command 'set_params'"),
        ("set_domain", (1, 2), "set_domain takes 4 parameters, not 2"),
        ("set_domain", (1, 2, 3, -1), "set_domain: j1 is no 32-bit word: -1"),
    ],
)
def test_a_wrong_command_is_an_error(name: str, parameters: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CommandBuffer().append(name, *parameters)


def test_ids_count_up_and_a_dropped_buffer_counts_as_consumed() -> None:
    device = Device()
    assert [device.submit(buffer) for buffer in (NOTHING, WRONG, NOTHING)] == [1, 2, 3]
    with pytest.raises(MachineError) as caught:
        device.wait()
    assert caught.value.status is Status.BAD_COMMAND
    assert device.last_consumed == 2
    device.wait()
    assert device.last_consumed == 3


def test_a_ninth_waiting_buffer_is_an_error() -> None:
    device = Device()
    for _ in range(8):
        device.submit(NOTHING)
    with pytest.raises(MachineError) as caught:
        device.submit(NOTHING)
    assert caught.value.status is Status.QUEUE_FULL
    device.wait()
    assert device.submit(NOTHING) == 9


def test_reset_drops_what_waits_says_so_and_restores_the_reset_state() -> None:
    device = Device()
    device.run(CommandBuffer().set_inst_fmt(0x800).set_domain(0, 0, 5, 5))
    device.memory.write(0x5000, b"kept")
    device.submit(NOTHING)
    with pytest.raises(MachineError) as caught:
        device.reset()
    assert caught.value.status is Status.RESET
    assert device.memory.read(0x5000, 4) == b"kept"
    device.reset()
    device.run(CommandBuffer().set_domain(1, 0, 0, 0).start_program())


def test_memory_is_handed_out_aligned_and_once() -> None:
    device = Device()
    addresses = [device.allocate(size) for size in (1, 2048, 2049, 10)]
    assert addresses == [0x800, 0x1000, 0x1800, 0x2800]
    assert device.allocate(4, "system") == 0x8000_0000
    with pytest.raises(MemoryError, match="do not fit"):
        device.allocate(1 << 31)
    with pytest.raises(ValueError, match="local, system"):
        device.allocate(4, "remote")
    with pytest.raises(ValueError, match="size must be 0 bytes or more, not -1"):
        device.allocate(-1)


def test_memory_rejects_ranges_that_leave_it() -> None:
    memory = Device().memory
    memory.write(0xFFFF_FFFC, b"last")
    assert memory.read(0xFFFF_FFFC, 4) == b"last"
    for address, size in ((0xFFFF_FFFD, 4), (-1, 1)):
        with pytest.raises(ValueError, match="4 GiB"):
            memory.read(address, size)


@pytest.mark.parametrize("tiling", Tiling)
@pytest.mark.parametrize("data_format", DataFormat)
def test_images_keep_their_elements_in_every_format_and_tiling(data_format: DataFormat, tiling: Tiling) -> None:
    channels = ELEMENTS[data_format].channels
    if channels > 1 and tiling in (Tiling.LINEAR_INP_2X2, Tiling.TILED_INP_2X2):
        with pytest.raises(ValueError, match="one channel"):
            Layout(width=1, height=1, format=data_format, tiling=tiling)
        return
    layout = Layout(width=37, height=19, format=data_format, tiling=tiling)
    kind = np.dtype(element_type(data_format))
    raw = np.random.default_rng(1).integers(0, 256, (19, 37, channels * kind.itemsize), np.uint8)
    device = Device()
    image = device.image(layout, raw.view(kind))
    np.testing.assert_array_equal(image.read().view(np.uint8), raw)
    assert not device.memory.bytes[image.base + layout.size :][:4096].any()


@pytest.mark.parametrize(
    ("data_format", "tiling", "pitch"),
    [
        (DataFormat.UINT16_1, Tiling.LINEAR, 16),
        (DataFormat.UINT8_4, Tiling.LINEAR, 8),
        (DataFormat.FLOAT32_1, Tiling.LINEAR, 8),
        (DataFormat.FLOAT32_2, Tiling.LINEAR, 4),
        (DataFormat.FLOAT32_4, Tiling.LINEAR, 4),
        (DataFormat.UINT16_1, Tiling.TILED, 32),
        (DataFormat.UINT8_4, Tiling.TILED, 32),
        (DataFormat.FLOAT32_2, Tiling.TILED, 16),
        (DataFormat.FLOAT32_4, Tiling.TILED, 16),
    ],
)
def test_widths_are_padded_to_the_next_legal_pitch(data_format: DataFormat, tiling: Tiling, pitch: int) -> None:
    assert Layout(width=1, height=1, format=data_format, tiling=tiling).pitch == pitch
    assert Layout(width=pitch, height=1, format=data_format, tiling=tiling).pitch == pitch
    assert Layout(width=pitch + 1, height=1, format=data_format, tiling=tiling).pitch == 2 * pitch


def test_padding_repeats_the_edge_element() -> None:
    device = Device()
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    image = device.image(Layout(width=3, height=2, format=DataFormat.FLOAT32_1), values)
    rows = device.memory.view(np.float32)[image.base // 4 :][:16].reshape(2, 8)
    np.testing.assert_array_equal(rows, [[0, 1, 2, 2, 2, 2, 2, 2], [3, 4, 5, 5, 5, 5, 5, 5]])


@pytest.mark.parametrize("values", [np.zeros((2, 3, 2), np.float32), np.zeros((2, 3)), np.zeros((3, 2), np.float32)])
def test_an_array_that_does_not_fit_an_image_is_an_error(values: np.ndarray) -> None:
    image = Device().image(Layout(width=3, height=2, format=DataFormat.FLOAT32_1))
    with pytest.raises(ValueError, match=r"takes float32 \[2, 3, 1\]"):
        image.write(values)


def test_the_four_functions_of_the_manual() -> None:
    info = ManagedDeviceInfo()
    assert amOpenManagedConnection("/dev/pcie0", info) is None
    device = amOpenManagedConnection("golden", info)
    assert device is not None
    assert (info.baseAddressSYS, info.arenaSizeGPU) == (0x8000_0000, 0x8000_0000)
    address = device.place(bytes(NOTHING))
    buffer = amSubmitCommandBuffer(device, address, len(NOTHING.words))
    assert buffer == 1
    assert amCommandBufferConsumed(device, buffer) == 1
    assert amCommandBufferConsumed(device, buffer + 1) == 0
    assert amSubmitCommandBuffer(device, address + 1, 2) == 0
    amCloseManagedConnection(device)


def test_a_buffer_of_no_words_is_consumed() -> None:
    device = Device()
    device.submit_at(0x1000, 0)
    device.wait()
    assert device.last_consumed == 1


def test_a_large_image_keeps_its_elements() -> None:
    """It is written and read band by band."""
    layout = Layout(width=700, height=800, format=DataFormat.FLOAT32_2, tiling=Tiling.TILED)
    device = Device()
    values = np.arange(800 * 700 * 2, dtype=np.float32).reshape(800, 700, 2)
    image = device.image(layout, values)
    np.testing.assert_array_equal(image.read(), values)
    words = device.memory.view(np.dtype(np.float32)).reshape(-1, 2)
    for x, y in ((0, 0), (699, 799), (3, 373), (350, 374), (699, 0), (layout.pitch - 1, 500)):
        (index,) = element_address(layout.at(image.base), np.array([x]), np.array([y])) // 8
        np.testing.assert_array_equal(words[index], values[y, min(x, 699)])


def test_what_is_watched_is_no_name_of_a_file() -> None:
    wrong: Any = "wave.fst"
    with pytest.raises(TypeError, match="watch must be a Watching, not 'wave.fst'"):
        Device("golden", watch=wrong)


@pytest.mark.parametrize(("watchdog", "error"), [(-1, ValueError), (1 << 32, ValueError), (1.5, TypeError)])
def test_a_watchdog_is_a_number_of_instructions(watchdog: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"watchdog must be .*, not {watchdog}"):
        Device("fast", watchdog=watchdog)


@pytest.mark.parametrize(("cycles", "error"), [(0, ValueError), (-5, ValueError), (1.5, TypeError)])
def test_a_limit_of_cycles_is_a_number_of_them(cycles: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"max_cycles must be .*, not {cycles}"):
        Device("golden", max_cycles=cycles)
