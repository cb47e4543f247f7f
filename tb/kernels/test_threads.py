"""One device, one kernel, many threads: each gets its own results."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from threading import Barrier, Event
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ctm import CommandBuffer, DataFormat, Device, Layout, assemble
from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.sim.compiler import KernelError
from ctm.sim.kernels import python_kernel
from ctm.sim.runtime import Image, MachineError
from ctm.tb.compiler.python.modules import HEAD, module

THREADS, PATIENCE = 4, 120
TEXT = f"""{HEAD}
@ctm.kernel
def scaled(pixel: ivec2, picture: Image, factor: float) -> float:
    return texel(picture, pixel).x * factor + texel(picture, pixel.x + 1, pixel.y).x

@ctm.kernel
def shifted(pixel: ivec2, picture: Image, by: list[float]) -> vec2:
    return vec2(texel(picture, pixel).x, by[0]) - by[1]

@ctm.kernel
def wrong(pixel: ivec2):
    print(pixel)
    return 1.0
"""
PICTURE = np.random.default_rng(0).integers(0, 256, (16, 24)).astype(np.float32) / np.float32(256)
"""Numbers of few bits: a product and a sum are exact, whether rounded once or twice."""
PADDED = np.pad(PICTURE, ((0, 0), (0, 1)), mode="edge")
LAYOUT = Layout(width=8, height=4, format=DataFormat.FLOAT32_4)
COPY = "TEX r1 = LOOKUP(i0, r0.rg) unscaled\nOUT o0 = MUL(r1, c0.r)"


@pytest.fixture
def kernels(tmp_path: Path) -> ModuleType:
    return module(tmp_path, TEXT)


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    """Threads are switched as often as Python can do it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(action: Callable[[int], Any], count: int, threads: int = THREADS) -> list[Any]:
    """What an action gives for the numbers up to a count, by threads that begin at the same time."""
    begin = Barrier(threads)

    def act(number: int) -> Any:
        if number < threads:
            begin.wait(PATIENCE)
        return action(number)

    pool = ThreadPoolExecutor(threads)
    calls = [pool.submit(act, number) for number in range(count)]
    done, waiting = wait(calls, PATIENCE)
    pool.shutdown(wait=not waiting, cancel_futures=True)
    assert not waiting, "threads wait for each other"
    return [call.result() for call in calls]


def check(kernels: ModuleType, number: int, **where: Any) -> None:
    """Call one of two kernels, with its own arguments and size."""
    width = 24 - number % 3
    if number % 2:
        found = kernels.scaled[width, 16](PICTURE, float(number), **where)
        assert np.array_equal(found, (PICTURE * np.float32(number) + PADDED[:, 1:])[:, :width])
    else:
        found = kernels.shifted[width, 16](PICTURE, by=[float(number), 1.0], **where)
        assert np.array_equal(found[:, :, 0], PICTURE[:, :width] - np.float32(1))
        assert (found[:, :, 1] == number - 1).all()


@pytest.mark.parametrize("engine", ["golden", "fast", "auto"])
def test_threads_share_a_device(kernels: ModuleType, engine: str) -> None:
    shared = Device(engine, PRESETS[DEFAULT_PRESETS["r700"]])
    together(lambda number: check(kernels, number, device=shared), 40)


@pytest.mark.parametrize("isa", ["r700", "r5xx"])
def test_threads_share_the_device_that_is_made(kernels: ModuleType, isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    make = Device.__init__

    def counted(device: Device, *arguments: Any, **named: Any) -> None:
        made.append(arguments[0])
        make(device, *arguments, **named)

    monkeypatch.setattr(Device, "__init__", counted)
    python_kernel._made_device.cache_clear()
    together(lambda number: check(kernels, number, isa=isa), 24)
    assert made == ["auto"]


def test_each_thread_may_have_its_own_device(kernels: ModuleType) -> None:
    devices = [Device("fast", PRESETS[DEFAULT_PRESETS["r700"]]) for _ in range(THREADS)]
    together(lambda number: check(kernels, number, device=devices[number % THREADS]), 24)


def test_a_kernel_is_compiled_once_by_whichever_thread_is_first(
    kernels: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    programs = together(lambda _: kernels.scaled.program("r5xx"), THREADS)
    assert all(each is programs[0] for each in programs)


def test_kernels_are_compiled_beside_each_other(
    kernels: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tasks = [(kernel, isa) for kernel in (kernels.scaled, kernels.shifted) for isa in ("r700", "r5xx")]
    found = together(lambda number: tasks[number][0].program(tasks[number][1]), len(tasks))
    for (kernel, isa), program in zip(tasks, found, strict=True):
        again = module(tmp_path, TEXT, "again")
        assert (program.kind, program) == (isa, getattr(again, kernel.__name__).program(isa))


def test_every_thread_hears_why_a_kernel_cannot_be_compiled(kernels: ModuleType) -> None:
    def message(_: int) -> str:
        with pytest.raises(KernelError) as caught:
            kernels.wrong[2, 2]()
        return str(caught.value)

    assert len(set(together(message, THREADS))) == 1


def test_memory_that_threads_are_given_does_not_overlap() -> None:
    shared = Device("golden")
    layout = Layout(width=8, height=2, format=DataFormat.FLOAT32_1)

    def given(number: int) -> list[tuple[int, int]]:
        image = shared.image(layout, np.full((2, 8), number, np.float32))
        address = shared.place(bytes([number]) * 100)
        assert (image.read() == number).all()
        assert shared.memory.read(address, 100) == bytes([number]) * 100
        return [(image.base, image.base + layout.size), (address, address + 100), (shared.allocate(5000), 5000)]

    starts = sorted(start for found in together(given, 60) for start, _ in found)
    assert len(set(starts)) == 180
    assert all(one % 2048 == 0 for one in starts)


def multiplying(source: Image, target: Image, program: int, constants: int) -> CommandBuffer:
    """Commands that set all that they use: `target` = `source` times constant 0."""
    layout = source.layout
    return (
        CommandBuffer()
        .set_inst_fmt(program).inv_inst_cache()
        .set_inp_fmt(0, source.base, layout.format_word, layout.height).inv_inp_cache()
        .set_out_fmt(0, target.base, layout.format_word, layout.height).set_out_mask()
        .set_constf_fmt(constants).inv_constf_cache()
        .set_domain(0, 0, layout.width - 1, layout.height - 1).start_program().flush_out_cache().wait_for_idle()
    )  # fmt: skip


@pytest.mark.parametrize("engine", ["golden", "fast"])
def test_threads_run_commands_on_images_of_their_own(engine: str) -> None:
    shared = Device(engine)
    program = shared.place(assemble(COPY))

    def copied(number: int) -> None:
        values = np.full((4, 8, 4), number + 1, np.float32)
        source, target = shared.image(LAYOUT, values), shared.image(LAYOUT)
        constants = shared.place(np.full(1024, number, np.float32).tobytes())
        shared.run(multiplying(source, target, program, constants))
        assert np.array_equal(target.read(), values * np.float32(number))

    together(copied, 40)
    assert shared.last_submitted == shared.last_consumed == 40


@pytest.mark.parametrize("engine", ["golden", "fast"])
def test_a_device_can_be_held_for_a_sequence(engine: str) -> None:
    """Images and constants that all threads use, written, used and read by one of them at a time."""
    shared = Device(engine)
    source, target = shared.image(LAYOUT), shared.image(LAYOUT)
    constants = shared.allocate(4096)
    commands = multiplying(source, target, shared.place(assemble(COPY)), constants)

    def copied(number: int) -> None:
        values = np.full((4, 8, 4), number + 1, np.float32)
        with shared:
            source.write(values)
            shared.memory.write(constants, np.full(1024, number, np.float32).tobytes())
            shared.run(commands)
            found = target.read()
        assert np.array_equal(found, values * np.float32(number))

    together(copied, 40)


def test_a_device_that_is_held_waits_for_its_thread() -> None:
    shared, seen = Device("golden"), Event()

    def other() -> int:
        seen.set()
        return shared.allocate(1)

    with ThreadPoolExecutor(1) as pool, shared:
        waiting = pool.submit(other)
        assert seen.wait(PATIENCE)
        first = shared.allocate(1)
        with shared:
            assert shared.allocate(1) == first + 2048
        assert not waiting.done()
        shared.__exit__()
        assert waiting.result(PATIENCE) == first + 4096
        shared.__enter__()


def test_a_call_that_fails_gives_the_device_back(kernels: ModuleType) -> None:
    shared = Device("golden", PRESETS[DEFAULT_PRESETS["r700"]], watchdog=1)

    def failing(_: int) -> None:
        with pytest.raises(MachineError, match="WATCHDOG"):
            kernels.scaled[4, 4](PICTURE, 1.0, device=shared)

    together(failing, 8)
