"""The hardware as an engine that reports what its cores do: see `ctm.rtl.dpp.watch`."""

import ctypes
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.halves import core, standard, uncore
from ctm.sim.compiled.tools.separate import build_separately
from ctm.sim.engines.cycle_accurate import SimulatedMachine
from ctm.sim.engines.engine import Notice
from ctm.sim.engines.model import TOP, CompiledMachine, hardware, host
from ctm.sim.engines.rtl import RtlEngine, cores_source
from ctm.sim.engines.seen import EVENT, RESIDENCY, ROW, WINDOW, Seen, Track, Watching

_LISTS = """
#define WATCH_PORTS(USE) {ports}
#define WATCH_SLOTS(USE) {slots}
enum {{ WATCHED_SLOTS = {count}, WATCHED_FETCHES = {fetches}, WATCHED_REFILLS = {refills}, WATCHED_BEATS = {beats} }};
"""


class WatchedEngine(RtlEngine):
    """`RtlEngine` with an observer at each core: the same bits in the same cycles."""

    def __init__(self, config: MachineConfig, *, watch: Watching, **options: Any) -> None:
        self._watch = watch
        super().__init__(config, **options)

    @staticmethod
    def library(config: MachineConfig, tell: Notice = lambda: None) -> Path:
        """See `CompiledEngine.library`."""
        # It imports the cores' hardware, for which users of other engines should not wait.
        from ctm.rtl.instruction_sets import INSTRUCTION_SETS

        config = hardware(config)
        array = config.array
        ports, slots = len(INSTRUCTION_SETS[array.instruction_set].shapes.ports), array.threads
        lists = _LISTS.format(
            ports=_uses(ports), slots=_uses(slots), count=slots, fetches=array.lookups,
            refills=config.memory.outstanding_lines, beats=array.cycles_per_wavefront,
        )  # fmt: skip
        sources = ("watching/watch.h", "verilated.h", *cores_source(config))
        wrapper = f'#include "models.h"\n{lists}\n{host(config.memory, *sources, following=["watching/watch.cc"])}'
        halves = uncore(config, top=TOP, is_watched=True), core(config, is_watched=True)
        return build_separately(halves, wrapper, standard=standard(config), tell=tell)

    def make_machine(self, config: MachineConfig) -> SimulatedMachine:
        """The compiled machine, whose cores are watched from its first cycle on."""
        machine = _WatchedMachine(self.library(config, self.tell), config, self.memory, self.disturbance)
        machine.keep_events(self._watch.most_events)
        self._watched, self._array = machine, config.array
        memory = config.memory
        self._bytes_per_cycle = memory.local_ports * min(memory.bytes_per_cycle, memory.data_bits // 8)
        return machine

    def seen(self) -> Seen:
        """What was seen so far."""
        machine, cores = self._watched, range(self._array.cores)
        events = np.concatenate([machine.array("events", EVENT, core) for core in cores])
        return Seen(
            rows=np.concatenate([machine.array("rows", ROW, core) for core in cores]),
            residencies=np.concatenate([machine.array("residencies", RESIDENCY, core) for core in cores]),
            events=events[np.argsort(events["cycle"], kind="stable")],
            lost_events=sum(machine.lost_events(core) for core in cores),
            traffic=machine.array("traffic", WINDOW),
            bytes_per_cycle=self._bytes_per_cycle,
            array=self._array,
            tracks=tuple(Track(f"core {core}", "wavefront ({i}, {j})") for core in cores),
            has_times=True,
        )


class _WatchedMachine(CompiledMachine):
    """The functions of `watch.cc`."""

    @cached_property
    def _functions(self) -> ctypes.CDLL:
        library, pointer, number, core = self.library, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32
        library.machine_keep_events.argtypes, library.machine_keep_events.restype = [pointer, number], None
        library.machine_lost_events.argtypes, library.machine_lost_events.restype = [pointer, core], number
        for name in ("rows", "residencies", "events"):
            function = getattr(library, f"machine_{name}")
            function.argtypes, function.restype = [pointer, core, pointer, number], number
        library.machine_traffic.argtypes, library.machine_traffic.restype = [pointer, pointer, number], number
        return library

    def keep_events(self, most: int) -> None:
        """Keep up to so many events of each core."""
        self._functions.machine_keep_events(self.handle, most)

    def lost_events(self, core: int) -> int:
        """Events of a core that were not kept."""
        return int(self._functions.machine_lost_events(self.handle, core))

    def array(self, name: str, dtype: np.dtype[Any], *of: int) -> npt.NDArray[Any]:
        """All elements of this name, those of a core where each core has its own."""
        function = getattr(self._functions, f"machine_{name}")
        found = np.zeros(function(self.handle, *of, None, 0), dtype)
        function(self.handle, *of, found.ctypes.data, len(found))
        return found


def _uses(count: int) -> str:
    return " ".join(f"USE({number})" for number in range(count))
