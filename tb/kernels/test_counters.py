"""Counters that every engine has mean the same on each, whatever the memory's latency and the number of slots."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from ctm import CommandBuffer, DataFormat, Device, Layout, assemble
from ctm.rtl.config import DEFAULT_PRESETS, PRESETS, MachineConfig, with_settings
from ctm.tb.compiler.python.modules import HEAD, module
from ctm.tb.lib.machines import machine

TEXT = f"""{HEAD}
@ctm.kernel
def march(pixel: vec2, scale: float) -> float:
    x = (pixel.x - 15.5) * scale
    y = (15.5 - pixel.y) * scale
    far = sqrt(x * x + y * y + 1.0)
    direction = vec3(x / far, y / far, 1.0 / far)
    at = vec3(0.0, 0.0, -3.0)
    steps = 0
    for _ in range(40):
        d = min(length(at) - 1.0, at.y + 1.0)
        if d < 0.01 or d > 20.0:
            break
        at = at + direction * d
        steps += 1
    return float(steps)

@ctm.kernel
def sieve(pixel: vec2, picture: Image) -> vec2:
    here = texel(picture, pixel)
    if here.x < 0.25:
        discard()
    total = 0.0
    k = 0.0
    while k < here.x * 9.0:
        if texel(picture, pixel.x + k, pixel.y).x > 0.5:
            total += 1.0
        else:
            total += texel(picture, pixel.y, pixel.x + k).x
        k += 1.0
    return vec2(total, k)
"""
PICTURE = np.random.default_rng(5).random((11, 13)).astype(np.float32)
LATENCIES = (1, 20, 200)
SLOTS = (2, 8)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module(tmp_path_factory.mktemp("kernels"), TEXT)


def counts(kernels: ModuleType, engine: str, config: MachineConfig) -> dict[str, int]:
    """Of divergent loops, fetches and discards, over domains that cover some groups incompletely."""
    device = Device(engine, config)
    kernels.march[15, 13](0.0625, device=device)
    kernels.sieve[13, 11](PICTURE, device=device)
    report = device.report()
    assert report.instructions == sum(report.counters[f"issued_{name}"] for name in ("alu", "tex", "fc"))
    return report.equal_counts


def check(kernels: ModuleType, config: MachineConfig) -> None:
    expected = counts(kernels, "golden", config)
    assert expected["lane_instructions"] < expected["instructions"] * config.array.wavefront_lanes
    assert counts(kernels, "fast", config) == expected
    for latency in LATENCIES:
        slow = replace(config, memory=replace(config.memory, latency=latency))
        assert counts(kernels, "rtl", slow) == expected, latency


@pytest.mark.slow
@pytest.mark.parametrize("isa", DEFAULT_PRESETS)
def test_divergent_programs_are_counted_alike(kernels: ModuleType, isa: str) -> None:
    check(kernels, machine(isa))


@pytest.mark.long
@pytest.mark.parametrize("slots", SLOTS)
@pytest.mark.parametrize("isa", DEFAULT_PRESETS)
def test_so_they_are_with_other_numbers_of_slots(kernels: ModuleType, isa: str, slots: int) -> None:
    check(kernels, with_settings(PRESETS[DEFAULT_PRESETS[isa]], {"array.threads": slots}))


@pytest.mark.long
@pytest.mark.parametrize("preset", ["small", "compact"])
def test_so_they_are_on_small_machines(kernels: ModuleType, preset: str) -> None:
    check(kernels, PRESETS[preset])


@pytest.mark.parametrize("engine", ["golden", "fast", "rtl"])
def test_lanes_count_whether_covered_or_not(engine: str) -> None:
    """Five pixels in a row are three quads; each executes three instructions, one of them an output."""
    device = Device(engine, machine("r5xx"))
    source = "ALU r1 = MOV(r0)\nTEX r2 = LOOKUP(i0, r1.rg) unscaled\nOUT o0 = MOV(r2)"
    layout = Layout(width=5, height=1, format=DataFormat.FLOAT32_4)
    picture, target = device.image(layout, np.zeros((1, 5, 4), np.float32)), device.image(layout)
    device.run(
        CommandBuffer()
        .set_inst_fmt(device.place(assemble(source))).set_inp_fmt(0, picture.base, layout.format_word, 1)
        .set_out_fmt(0, target.base, layout.format_word, 1)
        .set_domain(0, 0, 4, 0).start_program().flush_out_cache().wait_for_idle()
    )  # fmt: skip
    assert device.report().equal_counts == {
        "instructions": 9, "lane_instructions": 36, "groups": 3, "issued_alu": 6, "issued_tex": 3, "issued_fc": 0,
    }  # fmt: skip


def test_a_counter_that_differs_is_a_mismatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ctm run --check` compares them."""
    from ctm.sim.engines.fast.engine import FastEngine
    from ctm.tb.cli.invocation import ctm
    from ctm.tb.jobs.folder import Folder

    job = Folder.make(tmp_path).job
    assert ctm("run", job, "--engine", "fast", "--check-all").exit_code == 0
    report = FastEngine.report
    monkeypatch.setattr(
        FastEngine, "report", lambda engine: replace(report(engine), lane_instructions=report(engine).instructions)
    )
    result = ctm("run", job, "--engine", "fast", "--check-all")
    assert (result.exit_code, "counter lane_instructions is 63 instead of 252" in result.stderr) == (1, True)
