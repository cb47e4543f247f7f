"""Models that are compiled each by itself and linked, and what two machines share of them."""

import ctypes
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from ctm.rtl.config import PRESETS, R700, TINY, MachineConfig, with_settings
from ctm.rtl.dpp.core_border import core_members
from ctm.rtl.dpp.core_module import NAME
from ctm.rtl.instruction_sets import INSTRUCTION_SETS
from ctm.sim.compiled import ToolchainError
from ctm.sim.compiled.gated import gated
from ctm.sim.compiled.halves import CORE, core, core_config, uncore
from ctm.sim.compiled.tools import separate, toolchain
from ctm.sim.compiled.tools.separate import Separate, build_separately
from ctm.sim.compiled.tools.toolchain import Model
from ctm.sim.compiled.uncore import SimulatedCore
from ctm.sim.engines.rtl import QUICK, RtlEngine, quick_models
from ctm.sim.report.workloads import matmul, prepare, saxpy
from ctm.tb.lib.machines import BEATS

WRAPPER = """
#include "models.h"
extern "C" __attribute__((visibility("default"))) int call(int value) {
    VerilatedContext context;
    Vfirst first{&context};
    Vsecond second{&context};
    first.a = value;
    first.eval();
    second.a = first.b + MORE;
    second.eval();
    return second.b;
}
"""
_OTHERS: dict[str, int | str] = {
    "array.walk": "tiles", "input_cache.sets": 64, "shared_cache.banks": 2, "memory.data_bits": 256,
}  # fmt: skip
OTHER_MEMORY = with_settings(TINY, _OTHERS)


def written(top: str, step: int, more: int = 0) -> Model:
    verilog = f"module {top}(input [7:0] a, output [7:0] b); assign b = a + 8'd{step}; endmodule\n"
    return Model(top, verilog, f"constexpr int MORE = {more};\n" if top == "first" else "")


def module(top: str, step: int, more: int = 0) -> Separate:
    return Separate(top, f"{top} {step} {more}", partial(written, top, step, more))


def built(*modules: Separate, is_here: bool = True) -> ctypes.CDLL:
    file = build_separately(modules, WRAPPER, standard="-std=c++17", tell=lambda: None, is_here=is_here)
    return ctypes.CDLL(str(file))


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The modules that Verilator was called for, in order; the cache has none of them before."""
    names: list[str] = []
    real = toolchain.verilate

    def verilate(verilator: toolchain.Verilator, model: Model, folder: Path) -> Path:
        names.append(model.top)
        return real(verilator, model, folder)

    monkeypatch.setattr(separate, "verilate", verilate)
    monkeypatch.setattr(toolchain, "_BUILD", f"{toolchain._BUILD} {tmp_path}")
    yield names


@pytest.mark.slow
def test_a_module_that_is_known_is_not_compiled_again(compiled: list[str]) -> None:
    assert built(module("first", 1), module("second", 2)).call(10) == 13
    assert compiled == ["first", "second"]
    assert built(module("first", 1), module("second", 5)).call(10) == 16
    assert built(module("first", 3, more=100), module("second", 5)).call(10) == 118
    assert built(module("first", 1), module("second", 2)).call(250) == 253
    assert compiled == ["first", "second", "second", "first"]


@pytest.mark.slow
def test_several_are_compiled_beside_each_other(tmp_path: Path) -> None:
    # Other processes have no patches of this one: their keys alone make these modules new.
    first, second = (Separate(top, f"{top} {tmp_path}", partial(written, top, 7)) for top in ("first", "second"))
    assert built(first, second, is_here=False).call(1) == 15


def test_what_goes_wrong_beside_is_an_error_here(tmp_path: Path) -> None:
    broken = Separate("first", f"broken {tmp_path}", partial(Model, "first", "module first(input a; endmodule\n"))
    second = Separate("second", f"second {tmp_path}", partial(written, "second", 7))
    with pytest.raises(ToolchainError, match="verilator_bin failed"):
        built(broken, second, is_here=False)


@pytest.mark.slow
def test_tell_is_called_once_before_anything_is_made(compiled: list[str]) -> None:
    told: list[int] = []

    def build() -> Path:
        modules = module("first", 21), module("second", 22)
        return build_separately(
            modules, WRAPPER, standard="-std=c++17", tell=lambda: told.append(len(compiled)), is_here=True
        )

    assert build() == build()
    assert told == [0]


def test_machines_that_differ_in_memory_and_walk_have_the_same_core() -> None:
    assert core(OTHER_MEMORY).key == core(TINY).key
    assert uncore(OTHER_MEMORY, top="ctm").key != uncore(TINY, top="ctm").key
    assert core(with_settings(TINY, {"array.threads": 8})).key != core(TINY).key
    assert core(TINY, is_watched=True).key != core(TINY).key
    quick = with_settings(TINY, {"arithmetic.product": 0})
    assert core(quick).key != core(TINY).key and uncore(quick, top="ctm").key == uncore(TINY, top="ctm").key


@pytest.mark.parametrize("name", PRESETS)
def test_the_core_of_a_configuration_has_the_ports_that_the_machine_connects(name: str) -> None:
    config = PRESETS[name]
    shapes = INSTRUCTION_SETS[config.array.instruction_set].shapes
    assert core_members(core_config(config).array, shapes) == core_members(config.array, shapes)
    assert CORE == NAME


@pytest.mark.long
@pytest.mark.parametrize("config", [OTHER_MEMORY, PRESETS["wide"], PRESETS["compact"], PRESETS["r700-small"]])
def test_a_core_is_the_same_whatever_is_around_it(config: MachineConfig) -> None:
    own, canonical = (gated(SimulatedCore(each), CORE) for each in (config, core_config(config)))
    assert own == canonical


@pytest.mark.long
@pytest.mark.parametrize("config", [BEATS, TINY, R700], ids=["beats", "r5xx", "r700"])
def test_two_models_do_what_one_does_in_the_same_cycles(config: MachineConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctm.sim.report import r700_workloads

    def course() -> list[object]:
        kinds = {"r5xx": (matmul(32), saxpy(32)), "r700": (r700_workloads.matmul(32), r700_workloads.mandelbrot(16))}
        reports: list[object] = [RtlEngine.library(config)]
        for workload in kinds[config.array.instruction_set]:
            prepared = prepare(workload, "rtl", config)
            prepared.device.run(prepared.commands)
            assert prepared.is_right()
            reports += [prepared.device.report(), prepared.cycles]
        return reports

    monkeypatch.setenv(QUICK, "0")
    with quick_models():
        of_one = course()
    monkeypatch.delenv(QUICK)
    with quick_models():
        of_two = course()
    assert of_one[0] != of_two[0]
    assert of_one[1:] == of_two[1:]
