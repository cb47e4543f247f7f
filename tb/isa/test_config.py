"""The configuration of the array: sizes of wavefronts."""

from dataclasses import replace
from typing import Any

import pytest

from ctm.rtl.config import (
    DEFAULT,
    DEFAULT_PRESETS,
    PRESETS,
    R700,
    ArrayConfig,
    MachineConfig,
    with_settings,
)
from ctm.rtl.instruction_sets import INSTRUCTION_SETS as HARDWARE
from ctm.rtl.isa.program_formats import PROGRAM_FORMATS
from ctm.sim.golden.instruction_sets import INSTRUCTION_SETS as MODELLED


def test_a_wavefront_is_the_lanes_or_configured() -> None:
    assert DEFAULT.array.wavefront_lanes == DEFAULT.array.lanes == 4
    assert (R700.array.lanes, R700.array.wavefront_lanes) == (4, 16)
    assert with_settings(R700, {"array.wavefront": 64}).array.wavefront_lanes == 64
    assert with_settings(R700, {"array.wavefront": 0, "array.lanes": 8}).array.wavefront_lanes == 8


@pytest.mark.parametrize("size", [4, 8, 16])
def test_an_array_can_have_wavefronts_of_another_size(size: int) -> None:
    assert DEFAULT.array.with_wavefront(size) == ArrayConfig(lanes=size)
    assert R700.array.with_wavefront(size).wavefront_lanes == size


@pytest.mark.parametrize("size", [1, 2, 6, 128])
def test_other_wavefronts_are_errors(size: int) -> None:
    with pytest.raises(ValueError, match=r"array\.wavefront must be"):
        with_settings(R700, {"array.wavefront": size})


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"wavefront": 4, "lanes": 8}, "wavefront must be 8 at least for as many lanes, not 4"),
        ({"wavefront": 64}, "threads must be 8 at most for a wavefront of 64 on 4 lanes, not 16"),
        ({"wavefront": 32, "threads": 32}, "threads must be 16 at most for a wavefront of 32 on 4 lanes, not 32"),
        (
            {"wavefront": 64, "threads": 8, "temporaries": 1024},
            "temporaries must be 2048 at least for a wavefront of 64 on 4 lanes, not 1024",
        ),
        ({"temporaries": 256}, "temporaries must be 512 at least for a wavefront of 16 on 4 lanes, not 256"),
    ],
)
def test_unsupported_hardware_is_an_error(settings: dict[str, int | str], problem: str) -> None:
    config = with_settings(R700, {f"array.{name}": value for name, value in settings.items()})
    with pytest.raises(ValueError, match=f"^array.{problem}$"):
        config.check_hardware()


def test_a_section_of_another_type_is_an_error() -> None:
    wrong: Any = 5
    with pytest.raises(TypeError, match="^array must be of type ArrayConfig, not 5$"):
        MachineConfig(array=wrong)


def test_there_is_hardware_of_every_size_of_a_wavefront() -> None:
    for preset in PRESETS.values():
        preset.check_hardware()
    for lanes in (4, 8, 16):
        for size in (0, 4, 8, 16, 32, 64):
            if not 0 < size < lanes:
                settings = {"lanes": lanes, "wavefront": size, "threads": 8}
                with_settings(R700, {f"array.{name}": value for name, value in settings.items()}).check_hardware()


def test_r5xx_has_no_wavefronts() -> None:
    with pytest.raises(ValueError, match="array.wavefront must be 0 for r5xx: a wavefront is its lanes"):
        with_settings(DEFAULT, {"array.wavefront": 16})


def test_the_small_machine_computes_one_pixel_in_a_cycle() -> None:
    small = PRESETS["small"]
    assert (small.array.wavefront_lanes, small.array.at_once, small.memory.ports) == (4, 1, ("local",))


def test_the_compact_machine_differs_from_the_small_one_in_what_a_program_cannot_see() -> None:
    small, compact = PRESETS["small"], PRESETS["compact"]
    assert (compact.array.wavefront_lanes, compact.array.at_once, compact.memory.ports) == (4, 1, ("local",))
    assert replace(compact.array, threads=small.array.threads) == small.array
    assert compact.arithmetic.latency < small.arithmetic.latency


def test_the_small_r700_differs_from_both_in_what_a_program_cannot_see() -> None:
    small, array = PRESETS["r700-small"], PRESETS["r700-small"].array
    assert (array.wavefront_lanes, array.at_once, array.instruction_set) == (R700.array.wavefront_lanes, 1, "r700")
    assert replace(small, array=PRESETS["small"].array) == PRESETS["small"]


def test_presets_that_draw_differ_in_that_alone() -> None:
    for name in ("r700", "r700-small"):
        plain, draws = PRESETS[name], PRESETS[name.replace("r700", "r700-draw")]
        assert draws.pipeline.draws and not plain.pipeline.draws
        assert replace(draws, array=plain.array, pipeline=plain.pipeline) == plain
        assert replace(draws.array, outputs=plain.array.outputs) == plain.array
        draws.check_hardware()


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"pipeline.stages": "all"}, "pipeline.stages must be one of none, vertex, geometry, not 'all'"),
        ({"pipeline.stages": "none"}, "array.outputs must be 4 where pipeline.stages is none, not 8"),
        ({"array.outputs": 6}, "array.outputs must be a power of two, not 6"),
        ({"pipeline.vertices": 32}, "pipeline.vertices must be 64..256, not 32"),
        ({"pipeline.vertices": 96}, "pipeline.vertices must be a power of two, not 96"),
        ({"array.cores": 2}, "array.cores must be 1 where pipeline.stages is not none, not 2"),
    ],
)  # fmt: skip
def test_a_machine_that_cannot_draw_is_an_error(settings: dict[str, int | str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        with_settings(PRESETS["r700-draw"], settings).check_hardware()


def test_r5xx_does_not_draw() -> None:
    with pytest.raises(ValueError, match="pipeline.stages must be none for r5xx, which has no draws"):
        with_settings(DEFAULT, {"pipeline.stages": "vertex"}).check_hardware()


@pytest.mark.parametrize(
    ("rate", "problem"),
    [
        (3, "a power of two, not 3"),
        (8, r"1\.\.4, not 8"),
        (-1, r"1\.\.4, not -1"),
        ("two", "a whole number, not 'two'"),
    ],
)
def test_other_rates_are_errors(rate: int | str, problem: str) -> None:
    with pytest.raises(ValueError, match=rf"array\.rate must be {problem}"):
        with_settings(DEFAULT, {"array.rate": rate})


def test_a_wavefront_is_computed_at_once_or_in_beats() -> None:
    assert (DEFAULT.array.at_once, DEFAULT.array.beats) == (4, 1)
    slow = with_settings(DEFAULT, {"array.lanes": 8, "array.rate": 2}).array
    assert (slow.wavefront_lanes, slow.at_once, slow.beats) == (8, 2, 4)
    assert (slow.with_wavefront(16).beats, slow.with_wavefront(4).beats) == (8, 2)


@pytest.mark.parametrize(("rate", "cycles"), [(0, 4), (4, 4), (2, 8), (1, 16)])
def test_a_wavefront_keeps_its_size_at_every_rate(rate: int, cycles: int) -> None:
    array = with_settings(R700, {"array.rate": rate}).array
    assert (array.wavefront_lanes, array.cycles_per_wavefront, array.with_wavefront(8).cycles_per_wavefront) == (
        16,
        cycles,
        cycles // 2,
    )
    array.check_hardware()


def test_every_instruction_set_has_a_format_a_model_a_preset_and_hardware() -> None:
    assert set(PROGRAM_FORMATS) == set(MODELLED) == set(DEFAULT_PRESETS) == set(HARDWARE)
    for kind, preset in DEFAULT_PRESETS.items():
        assert PRESETS[preset].array.instruction_set == kind
