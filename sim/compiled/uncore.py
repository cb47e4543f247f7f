"""The machine in two models: a core, compiled once for any number of cores, and the uncore, which is all else.

A compiled model has a copy of a module's code for each instance, and a cycle runs through all copies. Here cores are
objects of one class, and the engine copies signals across their borders (`Uncore.border`). That is exact because core
outputs are registered: none depends on an input in the same cycle, except on `EARLY`.
"""

import gc
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from amaranth import ClockDomain, Module, ResetSignal, Signal, UnusedElaboratable, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.core_module import CoreInstance, CoreModule
from ctm.rtl.instruction_sets import INSTRUCTION_SETS
from ctm.rtl.isa.limits import ADDRESS_BITS
from ctm.rtl.lib.clock_gating import resettable
from ctm.rtl.lib.forwarding import forward
from ctm.rtl.lib.instance import instance_of
from ctm.rtl.machine import Machine
from ctm.rtl.mc.inputs.caches import InputCaches
from ctm.sim.compiled.gated import gated
from ctm.sim.compiled.sampled import Sampled
from ctm.sim.compiled.verilog import Port, ports

_CACHES = "ctm_input_caches"
EARLY = "program"
"""An input of cores that seldom changes; outputs depend on it in the same cycle, so it is copied first."""
_BORDER = """
#include <cstring>

constexpr unsigned CORES = {cores};

// Whether the target changes.
template <typename Signal>
bool put(Signal& target, const Signal& source) {{
    if (!std::memcmp(&target, &source, sizeof target)) return false;
    target = source;
    return true;
}}

template <typename Uncore, typename Cores>
void give_early(const Uncore& uncore, Cores& cores) {{
    {early}
}}

template <typename Uncore, typename Cores>
void take(Uncore& uncore, const Cores& cores) {{
    {taken}
}}

template <typename Uncore, typename Cores>
void give(const Uncore& uncore, Cores& cores) {{
    {given}
}}

template <typename Uncore, typename Cores>
void show(const Uncore& uncore, Cores& cores) {{
    for (auto& core : cores) core.observer.runs(uncore.executable);
    {shown}
}}
"""


class Uncore(wiring.Component):
    """`Sampled` with a port for each that its cores would have.

    With `caches_apart` its input cache is an instance of a module that `caches_verilog` writes.

    Members
    -------
    as those of `Sampled`
    reset : ``Out(1)``
        The machine's, which resets cores too.
    core_0_load and so on
        Core 0's `load`, with the opposite direction.
    executable : ``Out(32)``
        Byte address of the next program's executable.
    core_0_access_hit, core_0_access_miss, core_0_access_wave, core_0_access_entry
        An access of core 0 to its first level of the input cache hits, or misses, and the number of the fetch that
        makes it; only if it is watched.
    core_0_refill_requested, core_0_refill_tag
        The second level takes a request for a line that core 0 missed, in the order of these; likewise.
    bank_0_access_hit, bank_0_access_miss, bank_0_access_requester, bank_0_access_tag
        A request hits or misses in bank 0 of the second level, its core and its tag; likewise.
    """

    def __init__(self, config: MachineConfig, *, is_watched: bool = False, caches_apart: bool = False) -> None:
        instruction_set = INSTRUCTION_SETS[config.array.instruction_set]
        self._sockets = [_Socket(config, instruction_set) for _ in range(config.array.cores)]
        waiting = iter(self._sockets)
        self._machine = Sampled(config, lambda *_: next(waiting))
        crossing = {name: (Out if port.is_input else In)(port.width) for name, port in self._crossing()}
        machine = self._machine.ctm.machine
        caches: InputCaches = machine.controller.caches
        self._caches = [level.cached for level in caches.first_levels] if is_watched else []
        self._banks = caches.shared.cached if is_watched else []
        accesses = {name: Out(max(1, len(value))) for name, value in self._accesses()}
        own = {"reset": Out(1), "executable": Out(ADDRESS_BITS), **accesses}
        if caches_apart:
            instance = _CachesInstance(caches, machine.soft_reset)
            with warnings.catch_warnings():
                # The caches are not used here, which Amaranth tells when they go.
                warnings.simplefilter("ignore", UnusedElaboratable)
                machine.controller.caches = instance  # type: ignore[assignment]
                del caches
                gc.collect()
        super().__init__({**self._machine.signature.members, **own, **crossing})

    def _crossing(self) -> Iterator[tuple[str, Port]]:
        for number, socket in enumerate(self._sockets):
            yield from ((f"core_{number}_{_plain(port)}", port) for port in ports(socket))

    def _accesses(self) -> Iterator[tuple[str, Value]]:
        """The ports of a watched input cache."""
        for number, cache in enumerate(self._caches):
            tag, request = cache.looked_up.passenger.tag, cache.lines.request
            for name, value in {"hit": cache.hit, "miss": cache.miss, "wave": tag.wave, "entry": tag.entry}.items():
                yield f"core_{number}_access_{name}", Value.cast(value)
            yield f"core_{number}_refill_requested", request.valid & request.ready & ~request.payload.uncached
            yield f"core_{number}_refill_tag", Value.cast(request.payload.tag)
        for number, bank in enumerate(self._banks):
            by = bank.looked_up
            for name, value in {"hit": bank.hit, "miss": bank.miss, "requester": by.requester, "tag": by.tag}.items():
                yield f"bank_{number}_access_{name}", Value.cast(value)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.machine = self._machine
        m.d.comb += [getattr(self, name).eq(value) for name, value in self._accesses()]
        forward(m, self, self._machine, self._machine.signature.members)
        m.d.comb += self.reset.eq(self._machine.reset)
        m.d.comb += self.executable.eq(self._machine.ctm.machine.processor.executable)
        for name, port in self._crossing():
            outer = getattr(self, name)
            m.d.comb += outer.eq(port.value) if port.is_input else port.value.eq(outer)
        return m

    def border(self) -> str:
        """C++ for an object of each model, `Uncore` and an array of `CORES` cores, whatever classes they are.

        ``take(uncore, cores)`` copies the cores' outputs to the uncore. ``give_early(uncore, cores)`` copies their
        early inputs and ``give(uncore, cores)`` all others; each sets `is_given` of a core whose inputs change.
        ``show(uncore, cores)`` gives the observers of cores the executable and the accesses to the cache.
        """
        lines: dict[str, list[str]] = {"early": [], "taken": [], "given": [], "shown": []}
        for number, socket in enumerate(self._sockets):
            core, uncore = f"cores[{number}]", f"uncore.core_{number}"
            lines["given"].append(f"{core}.is_given |= put({core}.rst, uncore.reset);")
            for port in ports(socket):
                inside, outside = f"{core}.core_{_plain(port)}", f"{uncore}_{_plain(port)}"
                if port.is_input:
                    kind = "early" if port.name == EARLY else "given"
                    lines[kind].append(f"{core}.is_given |= put({inside}, {outside});")
                else:
                    lines["taken"].append(f"{outside} = {inside};")
        for number in range(len(self._caches)):
            own = f"uncore.core_{number}"
            access = ", ".join(f"{own}_access_{name}" for name in ("hit", "miss", "wave", "entry"))
            lines["shown"] += [
                f"cores[{number}].observer.accesses({access});",
                f"cores[{number}].observer.requests({own}_refill_requested, {own}_refill_tag);",
            ]
        for number in range(len(self._banks)):
            own = f"uncore.bank_{number}_access"
            lines["shown"].append(f"cores[{own}_requester].observer.shared({own}_hit, {own}_miss, {own}_tag);")
        return _BORDER.format(cores=len(self._sockets), **{kind: "\n    ".join(own) for kind, own in lines.items()})


class _CachesInstance(wiring.Component):
    """An instance of the module `_CACHES`, which `caches_verilog` writes."""

    def __init__(self, caches: InputCaches, reset: Value) -> None:
        self._reset = reset
        super().__init__(dict(caches.signature.members))

    def elaborate(self, platform: object) -> Any:
        """Instantiate the module."""
        return instance_of(self, _CACHES, reset=ResetSignal() | self._reset)


def caches_verilog(config: MachineConfig) -> str:
    """The input cache of a machine as a module of its own, for an `Uncore` with `caches_apart`."""
    return gated(Machine(config, CoreInstance).controller.caches, _CACHES)


class _Socket(CoreInstance):
    """Stands for a core that is a model of its own: the caller drives its outputs."""

    def elaborate(self, platform: object) -> Any:
        """It is empty."""
        return Module()


class SimulatedCore(wiring.Component):
    """A core as a model of its own, with a register at each input.

    Members
    -------
    clk : ``In(1)``
    given_clk : ``In(1)``
        At its rising edge inputs are taken.
    rst, core_load and so on
        As those of a core.
    watch_take_valid and so on
        As those of the core's observer (`ctm.rtl.dpp.watch`); only if it is watched.
    """

    def __init__(self, config: MachineConfig, *, is_watched: bool = False) -> None:
        instruction_set = INSTRUCTION_SETS[config.array.instruction_set]
        self.core = CoreModule(config, instruction_set)
        self.watch = instruction_set.watch(config.array, self.core.core) if is_watched else None
        members = {f"core_{_plain(port)}": (In if port.is_input else Out)(port.width) for port in ports(self.core)}
        shown = {f"watch_{port.name}": Out(port.width) for port in self._shown()}
        super().__init__({"clk": In(1), "rst": In(1), "given_clk": In(1), **members, **shown})

    def _shown(self) -> Iterable[Port]:
        return ports(self.watch) if self.watch is not None else ()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        sync: Any = ClockDomain()
        given: Any = ClockDomain(reset_less=True)
        m.domains.sync, m.domains.given = sync, given
        reset = Signal(init=1)
        m.d.given += reset.eq(self.rst)
        m.d.comb += [sync.clk.eq(self.clk), given.clk.eq(self.given_clk), sync.rst.eq(reset)]
        core = self.core
        if self.watch is not None:
            # Before the core, because it adds readers to the core's memories.
            m.submodules.watch = resettable(self.watch, core.reset)
            m.d.comb += [getattr(self, f"watch_{port.name}").eq(port.value) for port in self._shown()]
        m.submodules.core = core
        for port in ports(self.core):
            outer = getattr(self, f"core_{_plain(port)}")
            if port.is_input:
                m.d.given += port.value.eq(outer)
            else:
                m.d.comb += outer.eq(port.value)
        return m


def _plain(port: Port) -> str:
    """A port's name without double underscores, which Verilator encodes in C++."""
    return port.name.replace("__", "_")
