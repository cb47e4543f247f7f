"""Kernels called with numpy arrays: what they take and give, on which devices, and what is kept between calls."""

import gc
import time
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ctm import CommandBuffer, Device, kernel
from ctm.language import vec2
from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.rtl.isa.conditional import ConditionalTest
from ctm.sim.compiler import KernelError
from ctm.sim.fault import MachineError
from ctm.tb.compiler.python.modules import HEAD, module
from ctm.tb.lib.machines import BEATS

ISAS = ("r700", "r5xx")
TEXT = f"""{HEAD}
@ctm.kernel
def blur(pixel: vec2, picture: Image, weights: list[float]):
    total = 0.0
    for k in unroll(range(3)):
        total += weights[k] * texel(picture, pixel.x + k - 1, pixel.y).x
    return total

@ctm.kernel
def copied(pixel: vec2, picture: Image):
    return texel(picture, pixel)

@ctm.kernel
def codes(pixel: ivec2, image: Image[uint], add: uint):
    return texel(image, pixel).xy + add

@ctm.kernel
def numbers(pixel: vec2, a: float, b: int, c: bool, d: vec3, e: list[ivec2], f: list[float]):
    return a + b, d * 2, e[1], f[0] if c else f[2]

@ctm.kernel
def single(pixel: vec2):
    return (pixel.x,)

@ctm.kernel
def sampled(pixel: vec2, picture: Image):
    return texture(picture, pixel / 8).x

@ctm.kernel
def brighter(pixel: ivec2, picture: Image):
    return texel(picture, pixel).x + 1

@ctm.kernel
def endless(pixel: vec2):
    x = pixel.x
    while True:
        x *= 0.5
        if x > 1e9:
            return x
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module(tmp_path_factory.mktemp("kernels"), TEXT)


def device(isa: str, engine: str = "golden", **options: Any) -> Device:
    return Device(engine, PRESETS[DEFAULT_PRESETS[isa]], **options)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("engine", ["golden", "fast", "auto"])
def test_it_runs_on_any_engine(kernels: ModuleType, engine: str, isa: str) -> None:
    picture = np.arange(24.0).reshape(4, 6)
    padded = np.pad(picture, ((0, 0), (1, 1)), mode="edge")
    expected = 0.25 * padded[:, :-2] + 0.5 * padded[:, 1:-1] + 0.25 * padded[:, 2:]
    found = kernels.blur[6, 4](picture, [0.25, 0.5, 0.25], device=device(isa, engine))
    assert (found.dtype, found.shape) == (np.float32, (4, 6))
    assert np.array_equal(found, expected)


@pytest.mark.slow
def test_it_runs_on_hardware(kernels: ModuleType) -> None:
    """Amaranth's simulator, as it needs no compiler."""
    simulated = Device("amaranth", BEATS)
    assert np.array_equal(kernels.blur[4, 1](np.ones((1, 4)), [1, 2, 3], device=simulated), np.full((1, 4), 6))


@pytest.mark.parametrize("isa", ISAS)
def test_a_device_is_made_if_none_is_given(kernels: ModuleType, isa: str) -> None:
    assert np.array_equal(kernels.single[2, 1](isa=isa)[0], [[0, 1]])
    with pytest.raises(ValueError, match="the device has cores of r5xx, not of r700"):
        kernels.single[2, 1](device=device("r5xx"), isa="r700")
    with pytest.raises(ValueError, match="for r5xx or r700, not for 'r600'"):
        kernels.single[2, 1](isa="r600")


@pytest.mark.parametrize(
    ("channels", "kind", "scale"),
    [(1, "f4", 1), (2, "f4", 1), (3, "f4", 1), (4, "f4", 1), (2, "f8", 1), (1, "f2", 1), (4, "u1", 255), (3, "u1", 255),
     (1, "u1", 255), (1, "u2", 65535), (4, "u2", 65535)],
)  # fmt: skip
def test_images_are_of_all_kinds(kernels: ModuleType, channels: int, kind: str, scale: int) -> None:
    array = np.arange(3 * 5 * channels).astype(kind).reshape(3, 5, channels)
    found = kernels.copied[5, 3](array, device=device("r700"))
    missing = np.broadcast_to(np.array([0, 0, 0, 1], np.float32)[channels:], (3, 5, 4 - channels))
    assert np.allclose(found, np.concatenate([array / scale, missing], axis=2), rtol=1e-6)
    assert np.array_equal(found, kernels.copied[5, 3].in_python(array))
    assert np.array_equal(kernels.copied[5, 3](array[:, ::-1], device=device("r700")), found[:, ::-1])


def test_images_of_whole_numbers_keep_every_bit(kernels: ModuleType) -> None:
    array = np.array([[0xFFFFFFFF, 0x7FC00001, 0x7F800001, 1]], np.uint32)
    found = kernels.codes[4, 1](array, 2, device=device("r700"))
    assert found.dtype == np.uint32
    assert np.array_equal(found[:, :, 0], array + 2)
    assert np.array_equal(found, kernels.codes[4, 1].in_python(array, 2))


@pytest.mark.parametrize("isa", ISAS)
def test_numbers_vectors_and_lists(kernels: ModuleType, isa: str) -> None:
    given = np.float64(0.5), -3, np.True_, [1, 2, 3], np.array([[1, 2], [-3, 4], [5, 6]]), (7.0, 8, 9)
    found = kernels.numbers[1, 1](*given, isa=isa)
    expected: list[list[Any]] = [[[-2.5]], [[[2, 4, 6]]], [[[-3, 4]]], [[7.0]]]
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)
    assert [each.dtype for each in found] == ["f4", "f4", "i4", "f4"]
    changed = kernels.numbers[1, 1](*given[:2], False, *given[3:], isa=isa)
    assert changed[3] == 9.0


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("blur", (), r"blur\(\) missing 2 required arguments: 'picture' and 'weights'"),
        ("copied", (np.zeros((2, 2), int),), "'picture' is an array of int64: give it as np.float32; numbers of"),
        ("copied", ("x",), "'picture' is an image, an array of np.float32, and not 'x'"),
        ("copied", (np.zeros(3),), r"'picture' has shape \[3\]: an image is \[height, width\]"),
        ("copied", (np.zeros((2, 2, 5)),), r"'picture' has shape \[2, 2, 5\]"),
        ("copied", (np.zeros((0, 2)),), r"'picture' has shape \[0, 2\]"),
        ("copied", (np.zeros((1, 5000)),), r"its sides 1..4096, channels 1..4"),
        ("codes", (np.zeros((2, 2)), 1), "'image' is an array of float64: give it as np.uint32"),
        ("codes", (np.zeros((2, 2), np.uint32), -1), "'add' is of uint, which has 32 bits: -1 does not fit"),
        ("codes", (np.zeros((2, 2), np.uint32), 1 << 32), "'add' is of uint, which has 32 bits: 4294967296 does"),
        ("codes", (np.zeros((2, 2), np.uint32), 1.5), "'add' is of uint, and not 1.5: convert it"),
        ("codes", (np.zeros((2, 2), np.uint32), (1, 2)), r"'add' is a uint, and not \(1, 2\)"),
        ("codes", (np.zeros((2, 2), np.uint32), None), "'add' is of uint, and not None"),
        ("blur", (np.zeros((2, 2)), []), r"'weights' is a list of float, and not \[\]"),
        ("blur", (np.zeros((2, 2)), 1.0), "'weights' is a list of float, and not 1.0"),
        ("blur", (np.zeros((2, 2)), np.zeros((2, 2))), r"is a list of float, and not an array of float64 \[2, 2\]"),
        ("blur", (np.zeros((2, 2)), np.zeros(257)), "'weights' is too long: its 257 items end at constant 256"),
        ("blur", (np.zeros((2, 2)), ["a"]), r"'weights' is of float, and not \['a'\]: convert it"),
        ("blur", (np.zeros((2, 2)), [[1], [1, 2]]), "'weights' has items of different lengths"),
        ("sampled", (np.zeros((2, 5)),), "needs a width that is a legal pitch: 5 is not, the next one is 8"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_named(
    kernels: ModuleType, name: str, given: tuple[Any, ...], message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(kernels, name)[2, 2](*given, device=device("r700"))


def test_an_image_is_sampled_by_coordinates_from_0_to_1(kernels: ModuleType) -> None:
    picture = np.arange(64, dtype=np.float32).reshape(8, 8)
    assert np.array_equal(kernels.sampled[8, 8](picture), picture)
    assert np.array_equal(kernels.sampled[8, 8].in_python(picture), picture)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_integers_of_an_image_are_rounded_to_32_bits_in_python(kernels: ModuleType, kind: type) -> None:
    picture: np.ndarray[Any, Any] = np.linspace(0, np.iinfo(kind).max, 256).astype(kind).reshape(16, 16)
    found = [kernels.brighter[16, 16](picture), kernels.brighter[16, 16].in_python(picture)]
    assert np.array_equal(*found)


@pytest.mark.parametrize("size", [(0, 1), (1, 4097), (1,), 3, (1.0, 2), (1, 2, 3)])
def test_domains_that_are_none(kernels: ModuleType, size: Any) -> None:
    with pytest.raises(ValueError, match=r"a domain is \[width, height\], each 1 to 4096, not"):
        kernels.single[size]


def test_a_tuple_of_one_is_a_tuple(kernels: ModuleType) -> None:
    (found,) = kernels.single[3, 1]()
    (expected,) = kernels.single[3, 1].in_python()
    assert np.array_equal(found, expected)


def test_a_program_that_fails_says_what_the_machine_says(kernels: ModuleType) -> None:
    small = device("r700", watchdog=1000)
    with pytest.raises(MachineError, match="(?i)watchdog"):
        kernels.endless[2, 2](device=small)
    assert np.array_equal(kernels.single[2, 1](device=small)[0], [[0, 1]])


def test_called_for_one_pixel_it_is_the_function(kernels: ModuleType) -> None:
    assert kernels.single(kernels.vec2(3, 4)) == (3.0,)
    assert (kernels.single.__name__, kernels.blur.__wrapped__.__name__) == ("single", "blur")


def test_functions_that_live_may_use_what_is_around_them() -> None:
    weights = np.array([1.5, 2.5])
    factor: Any = np.float32(3)

    def times(x: float) -> float:
        return x * factor

    @kernel
    def scaled(pixel: vec2) -> float:
        return times(pixel.x) + weights[1]

    assert np.array_equal(scaled[3, 1](), [[2.5, 5.5, 8.5]])


def test_functions_without_a_source_are_errors() -> None:
    names: dict[str, Any] = {}
    exec("from ctm.language import vec2\ndef lost(pixel: vec2):\n    return 1.0\n", names)
    with pytest.raises(KernelError, match=r"<string>:2: the source of lost\(\) cannot be read: write it in a file"):
        kernel(names["lost"])[1, 1]()
    number: Any = 3
    with pytest.raises(TypeError, match="@kernel stands above a function that is written with def"):
        kernel(number)


def test_calls_use_the_same_memory_again(kernels: ModuleType) -> None:
    golden = device("r700")
    picture = np.ones((64, 64), np.float32)
    kernels.copied[64, 64](picture, device=golden)
    before = golden.allocate(1)
    for side in (64, 17, 64, 33):
        kernels.copied[side, side](picture, device=golden)
    assert golden.allocate(1) - before == 2048


def test_what_else_ran_on_the_device_does_no_harm(kernels: ModuleType) -> None:
    golden = device("r700")
    commands = CommandBuffer().set_out_mask(red=False).set_cond_out_mask(enable=True)
    golden.run(commands.set_cond_test(ConditionalTest.NEVER).init_perf_counters(enable=True))
    assert np.array_equal(kernels.single[2, 1](device=golden)[0], [[0, 1]])


def test_a_device_is_given_back(kernels: ModuleType) -> None:
    golden = device("r700")
    kernels.single[2, 1](device=golden)
    kept = weakref.ref(golden)
    del golden
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("engine", ["golden", "fast"])
def test_the_second_call_costs_little(kernels: ModuleType, engine: str, isa: str) -> None:
    """Beyond what the device itself takes; bounded generously, as machines are busy."""
    used = device(isa, engine)
    waited = 0.0
    wait = used.wait

    def timed() -> None:
        nonlocal waited
        begun = time.perf_counter()
        wait()
        waited += time.perf_counter() - begun

    used.wait = timed  # type: ignore[method-assign]
    picture, weights = np.ones((64, 64), np.float32), [0.25, 0.5, 0.25]
    launch = kernels.blur[64, 64]
    launch(picture, weights, device=used)
    costs = []
    for _ in range(5):
        waited, begun = 0.0, time.perf_counter()
        launch(picture, weights, device=used)
        costs.append(time.perf_counter() - begun - waited)
    assert min(costs) < 0.02


def test_programs_are_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = f"{HEAD}\n@ctm.kernel\ndef kept(pixel: vec2):\n    return pixel.x + 1\n"
    first = module(tmp_path, text).kept.program("r5xx")
    (file,) = (tmp_path / "cache" / "ctm").glob("kernel-*.elf")
    monkeypatch.setattr("ctm.sim.kernels.compilation.compile_translation", None)
    assert module(tmp_path, text).kept.program("r5xx") == first
    assert file.exists()


def test_whole_numbers_that_no_float_is_are_errors_where_floats_hold_them(kernels: ModuleType) -> None:
    arguments = 1.5, 16777217, True, (1, 2, 3), [(1, 2), (3, 4)], [1.0, 2.0, 3.0]
    device = Device("golden", PRESETS[DEFAULT_PRESETS["r5xx"]])
    with pytest.raises(ValueError, match="'b' is 16777217: R5xx cores hold whole numbers as floats"):
        kernels.numbers[2, 2](*arguments, device=device)
