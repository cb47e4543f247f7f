"""Arguments of a call: by position and by name, of every byte order and layout in memory, and what is none."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ctm import DataFormat, Device, Layout, Tiling
from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.tb.compiler.python.modules import HEAD, module

TEXT = f"""{HEAD}
@ctm.kernel
def copied(pixel: ivec2, picture: Image):
    return texel(picture, pixel)

@ctm.kernel
def codes(pixel: ivec2, picture: Image[int]):
    return texel(picture, pixel).x

@ctm.kernel
def unsigned(pixel: ivec2, picture: Image[uint]):
    return texel(picture, pixel).x

@ctm.kernel
def mixed(pixel: ivec2, picture: Image, factor: float, steps: int, shift: vec2, flag: bool, weights: list[float]):
    return texel(picture, pixel).x * factor + shift, weights[0] + steps if flag else 0.0

@ctm.kernel
def taken(pixel: ivec2, device: float, self: float):
    return pixel.x * device + self

@ctm.kernel
def alone(pixel: ivec2):
    return pixel.x

@ctm.kernel
def sampled(pixel: vec2, first: Image, picture: Image):
    return texel(first, pixel).x + texture(picture, pixel / 8).x
"""
ISAS = ("r700", "r5xx")
ARRANGED: dict[str, Callable[[Any], Any]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "every second": lambda array: np.repeat(np.repeat(array, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda array: array[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda array: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
    "not aligned": lambda array: np.frombuffer(b"x" + array.tobytes(), array.dtype, offset=1).reshape(array.shape),
}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module(tmp_path_factory.mktemp("kernels"), TEXT)


@pytest.fixture(scope="module", params=ISAS)
def device(request: pytest.FixtureRequest) -> Device:
    return Device("golden", PRESETS[DEFAULT_PRESETS[request.param]])


@pytest.fixture(scope="module")
def r700() -> Device:
    return Device("golden", PRESETS[DEFAULT_PRESETS["r700"]])


@pytest.mark.parametrize("arranged", ARRANGED)
@pytest.mark.parametrize("kind", ["<f4", ">f4", ">f8", ">f2", "<u2", ">u2", ">u1", ">i4", ">u4"])
def test_images_have_any_byte_order_and_layout(kernels: ModuleType, r700: Device, kind: str, arranged: str) -> None:
    plain = np.arange(40).reshape(5, 8) * 6
    given = ARRANGED[arranged](plain.astype(kind))
    kernel = {"i": kernels.codes, "u": kernels.unsigned}.get(kind[1], kernels.copied) if "4" in kind else kernels.copied
    expected = plain if "4" in kind or "f" in kind else plain / np.iinfo(kind).max
    for found in (kernel[8, 5](given, device=r700), kernel[8, 5].in_python(given)):
        assert np.allclose(found if found.ndim == 2 else found[:, :, 0], expected, rtol=1e-6)


@pytest.mark.parametrize("channels", [2, 3, 4])
@pytest.mark.parametrize("kind", [">f4", ">u2", ">u1"])
def test_images_of_several_channels_have_too(kernels: ModuleType, device: Device, kind: str, channels: int) -> None:
    plain = np.arange(3 * 5 * channels).reshape(3, 5, channels)
    scale = 1 if "f" in kind else np.iinfo(kind).max
    for given in (plain.astype(kind), np.asfortranarray(plain.astype(kind)), plain.astype(kind)[:, ::-1]):
        found = kernels.copied[5, 3](given, device=device)[:, :, :channels]
        assert np.allclose(found, given.astype(float) / scale, rtol=1e-6)


def test_other_arguments_have_any_byte_order(kernels: ModuleType, device: Device) -> None:
    given = (
        np.ones((2, 2), ">f4"), np.array(0.5, ">f8"), np.array(3, ">i8"), np.array([1, 2], ">i2"), np.array(1, ">u2"),
        np.array([0.25, 7], ">f4")[:1],
    )  # fmt: skip
    for found in (kernels.mixed[1, 1](*given, device=device), kernels.mixed[1, 1].in_python(*given)):
        assert np.array_equal(found[0], [[[1.5, 2.5]]])
        assert np.array_equal(found[1], [[3.25]])


@pytest.mark.parametrize("tiling", [Tiling.LINEAR, Tiling.TILED])
@pytest.mark.parametrize("data_format", DataFormat)
def test_images_of_the_runtime_have_any_byte_order(data_format: DataFormat, tiling: Tiling) -> None:
    device = Device()
    image = device.image(Layout(width=5, height=3, format=data_format, tiling=tiling))
    kind = image.read().dtype
    values = np.arange(15 * image.channels).reshape(3, 5, image.channels).astype(kind)
    for given in (
        values.astype(kind.newbyteorder(">")),
        np.asfortranarray(values),
        np.repeat(values, 2, axis=1)[:, ::2],
    ):
        image.write(np.zeros_like(values))
        image.write(given)
        assert np.array_equal(image.read(), values)
        assert np.array_equal(device.image(image.layout, given).read(), values)


def test_an_image_of_the_runtime_says_how_to_convert() -> None:
    image = Device().image(Layout(width=2, height=1, format=DataFormat.FLOAT32_1))
    with pytest.raises(
        ValueError, match=r"takes float32 \[1, 2, 1\], not int64 .*: convert it with .astype\(np.float32"
    ):
        image.write([[1, 2]])
    with pytest.raises(ValueError, match=r"takes float32 \[1, 2, 1\], not float32 \[1, 1, 1\]$"):
        image.write(np.zeros((1, 1), ">f4"))


def test_arguments_have_names(kernels: ModuleType, device: Device) -> None:
    named = {"picture": np.full((1, 2), 2.0), "factor": 3, "steps": 4, "shift": (1, 2), "flag": True, "weights": [0.5]}
    for count in range(len(named) + 1):
        first = list(named.values())[:count]
        others = dict(reversed(list(named.items())[count:]))
        for found in (
            kernels.mixed[2, 1](*first, **others, device=device), kernels.mixed[2, 1].in_python(*first, **others),
        ):  # fmt: skip
            assert np.array_equal(found[0], [[[7, 8]] * 2])
            assert np.array_equal(found[1], [[4.5, 4.5]])


def test_parameters_may_have_names_of_the_calls_own(kernels: ModuleType, device: Device) -> None:
    assert np.array_equal(kernels.taken[2, 1](3.0, self=1.0, device=device), [[1, 4]])
    assert np.array_equal(kernels.taken[2, 1].in_python(device=3.0, self=1.0), [[1, 4]])


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((1.0,), {}, r"taken() missing 1 required argument: 'self'"),
        ((), {}, r"taken() missing 2 required arguments: 'device' and 'self'"),
        ((1.0, 2.0, 3.0), {}, r"taken() takes 2 arguments after the pixel (device, self) but 3 were given"),
        ((1.0, 2.0), {"self": 3.0}, r"taken() got multiple values for argument 'self'"),
        ((1.0,), {"selv": 3.0}, r"taken() got an unexpected keyword argument 'selv'. Did you mean 'self'?"),
        ((1.0,), {"what": 3.0}, r"taken() got an unexpected keyword argument 'what'"),
        ((1.0,), {"pixel": 3.0}, r"taken() got an unexpected keyword argument 'pixel': the domain gives the pixel"),
        ((1.0,), {"engine": "fast"}, "got an unexpected keyword argument 'engine': write device=Device(\"fast\"), and"),
        ((1.0,), {"config": 1}, "argument 'config': it is one of a Device, write device=Device(config=...)"),
    ],
)
def test_arguments_that_do_not_match_are_named_as_in_python(
    kernels: ModuleType, r700: Device, given: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    for call in (kernels.taken[2, 1].in_python, kernels.taken[2, 1]):
        with pytest.raises(TypeError) as caught:
            call(*given, **named)
        assert message in str(caught.value)


def test_a_kernel_of_the_pixel_alone_takes_nothing(kernels: ModuleType, device: Device) -> None:
    with pytest.raises(TypeError, match=r"^alone\(\) takes 0 arguments after the pixel but 1 was given$"):
        kernels.alone[2, 1](3, device=device)


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("golden", "device must be a Device, not 'golden': write device=Device(\"golden\"), and keep that device"),
        ("r700", "not 'r700'; one is made as Device(engine), of auto, golden, fast"),
        (Device, "device must be a Device, not <class"),
        (3, "device must be a Device, not 3"),
        (False, "device must be a Device, not False"),
    ],
)
def test_what_is_no_device_is_an_error(kernels: ModuleType, device: Any, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        kernels.alone[2, 1](device=device)
    assert message in str(caught.value)


@pytest.mark.parametrize("isa", ["", "R700", 700, ["r700"]])
def test_what_is_no_instruction_set_is_an_error(kernels: ModuleType, isa: Any) -> None:
    with pytest.raises(ValueError, match="kernels are compiled for r5xx or r700, not for "):
        kernels.alone[2, 1](isa=isa)


@pytest.mark.parametrize("side", [2, np.int64(2), np.uint8(2), np.prod([2, 1]), np.array(2), np.arange(3)[2]])
def test_sides_are_whole_numbers_of_any_kind(kernels: ModuleType, r700: Device, side: Any) -> None:
    for found in (kernels.alone[side, side](device=r700), kernels.alone[side, side].in_python()):
        assert np.array_equal(found, [[0, 1]] * 2)


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ((4, 1.0), "not [4, 1.0]: the height is a float, not a whole number"),
        ((np.float32(4), 1), "the width is a float32, not a whole number"),
        ((True, 1), "not [True, 1]: the width is a bool"),
        ((4, np.False_), "the height is a bool, not a whole number"),
        ((-4, 1), "not [-4, 1]: the width is too small"),
        ((4, 0), "not [4, 0]: the height is too small"),
        ((4097, 1), "not [4097, 1]: the width is too large"),
        ((np.int64(1 << 40), 1), "the width is too large"),
        (("4", 1), "the width is a str, not a whole number"),
        ((None, 1), "the width is a NoneType, not a whole number"),
        ((slice(4), 1), "the width is a slice, not a whole number"),
        ((4, np.array([1])), "the height is a ndarray, not a whole number"),
        (4, "not 4"),
        ((4, 1, 1), "not [4, 1, 1]"),
    ],
)
def test_a_domain_that_is_none_says_why(kernels: ModuleType, size: Any, reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        kernels.alone[size]
    assert str(caught.value).startswith("a domain is [width, height], each 1 to 4096, not ")
    assert str(caught.value).endswith(reason)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("picture", None, "'picture' is an image, an array of np.float32, and not None"),
        ("picture", object(), "'picture' is an image, an array of np.float32, and not <object object"),
        ("picture", 3.0, "'picture' has shape []: an image is [height, width]"),
        ("picture", [[1.0], [1.0, 2.0]], "'picture' has items of different lengths: [[1.0], [1.0, 2.0]]"),
        ("picture", np.zeros((1, 1), complex), "'picture' is an array of complex128: give it as np.float32"),
        ("picture", np.zeros((1, 1), ">i4"), "'picture' is an array of int32: give it as np.float32; numbers of 32"),
        (
            "picture",
            np.ma.masked_less(np.ones((1, 1)), 2),
            "'picture' is a masked array, and kernels know no masks: give",
        ),
        ("factor", "2", "'factor' is of float, and not '2': convert it"),
        ("factor", 1j, "'factor' is of float, and not 1j: convert it"),
        ("factor", np.zeros((1, 1)), "'factor' is a float, and not an array of float64 [1, 1]"),
        ("factor", 10**400, "'factor' is of float, which has 32 bits: 1000000"),
        ("steps", 1 << 70, "'steps' is of int, which has 32 bits: 1180591620717411303424 does not fit"),
        ("steps", 2.0, "'steps' is of int, and not 2.0: convert it"),
        ("shift", 1.0, "'shift' is a vec2, and not 1.0"),
        ("shift", (1, 2, 3), "'shift' is a vec2, and not (1, 2, 3)"),
        ("flag", 0.5, "'flag' is of bool, and not 0.5: convert it"),
        ("weights", {0.5}, "'weights' is a list of float, and not {0.5}"),
    ],
)
def test_what_an_argument_takes_is_said_with_its_name(
    kernels: ModuleType, r700: Device, name: str, value: Any, message: str
) -> None:
    named = {"picture": np.ones((1, 1)), "factor": 1, "steps": 1, "shift": (1, 1), "flag": True, "weights": [1]}
    for call in (kernels.mixed[1, 1].in_python, kernels.mixed[1, 1]):
        with pytest.raises((TypeError, ValueError)) as caught:
            call(**{**named, name: value})
        assert message in str(caught.value)


def test_long_whole_numbers_are_floats_where_floats_are_taken(kernels: ModuleType, device: Device) -> None:
    expected = np.float32(2**70)
    assert kernels.taken[1, 1](0.0, 2**70, device=device)[0, 0] == expected
    assert kernels.taken[1, 1].in_python(0.0, 2**70)[0, 0] == expected


def test_an_image_whose_width_is_no_pitch_is_named(kernels: ModuleType, device: Device) -> None:
    with pytest.raises(ValueError, match=r"'picture' is read by texture\(\), .*: 5 is not, the next one is 8"):
        kernels.sampled[2, 2](np.zeros((2, 8)), np.zeros((2, 5)), device=device)


def test_a_file_of_kernels_is_not_needed_for_names(tmp_path: Path) -> None:
    """Of the pixel, which has any name."""
    made = module(tmp_path, f"{HEAD}\n@ctm.kernel\ndef k(here: ivec2, there: int):\n    return here.x + there\n", "one")
    assert np.array_equal(made.k[2, 1](there=np.int64(1)), [[1, 2]])
    with pytest.raises(TypeError, match="'here': the domain gives the pixel"):
        made.k[2, 1](here=(1, 1), there=1)
