"""The two models of a machine, and what each of them is made from: see `ctm.sim.compiled.uncore`."""

from dataclasses import replace
from functools import partial

from ctm.rtl.config import DEFAULT, MachineConfig
from ctm.sim.compiled.sources import sources
from ctm.sim.compiled.tools.beside import Beside
from ctm.sim.compiled.tools.package import YOSYS
from ctm.sim.compiled.tools.separate import Separate
from ctm.sim.compiled.tools.toolchain import Model

CORE = "ctm_core"
"""The module of a core; the C++ of engines has its class by this name."""


def standard(config: MachineConfig) -> str:
    """The compiler's option for what clocks the two: the threads of several cores wait at an atomic number."""
    # As C++20 the library's headers take twice as long.
    return "-std=c++17" if config.array.cores == 1 else "-std=c++20"


def uncore(config: MachineConfig, *, top: str, made_from: str = "", is_watched: bool = False) -> Separate:
    """All but the cores, which does not depend on their arithmetic; C++ of its border follows the headers.

    With `is_watched` it has ports for accesses to the input cache. `made_from` is added to the key, for sources that
    are not the project's own.

    Raises
    ------
    ToolchainError
        Yosys, which writes the Verilog, is missing.
    """
    YOSYS.require()
    own = replace(config, arithmetic=DEFAULT.arithmetic, presubtract=DEFAULT.presubtract)
    kind = "watched uncore" if is_watched else "uncore"
    return Separate(top, f"{kind} {made_from} {sources()} {own}", partial(_uncore, own, top, is_watched))


def core(config: MachineConfig, *, is_watched: bool = False) -> Separate:
    """One core, with its observer if it is watched; errors as `uncore`."""
    YOSYS.require()
    own = core_config(config)
    kind = "watched core" if is_watched else "core"
    return Separate(CORE, f"{kind} {sources()} {own}", partial(_core, own, is_watched))


def core_config(config: MachineConfig) -> MachineConfig:
    """The same configuration for all machines that have the same core: what it does not see is the default's."""
    array = replace(config.array, cores=DEFAULT.array.cores, walk=DEFAULT.array.walk)
    return replace(
        DEFAULT, array=array, arithmetic=config.arithmetic, presubtract=config.presubtract, pipeline=config.pipeline
    )  # fmt: skip


# Hardware is imported in these functions, so that a start with cached models does not wait for it.


def _uncore(config: MachineConfig, top: str, is_watched: bool) -> Model:
    from ctm.sim.compiled.gated import gated
    from ctm.sim.compiled.uncore import Uncore, caches_verilog

    if is_watched:
        made = Uncore(config, is_watched=True)
        return Model(top, gated(made, top), made.border())
    # A process beside this one writes the input cache, a third of it.
    with Beside(caches_verilog, config) as caches:
        made = Uncore(config, caches_apart=True)
        return Model(top, gated(made, top) + caches.result(), made.border())


def _core(config: MachineConfig, is_watched: bool) -> Model:
    from ctm.sim.compiled.gated import gated
    from ctm.sim.compiled.uncore import SimulatedCore

    return Model(CORE, gated(SimulatedCore(config, is_watched=is_watched), CORE))
