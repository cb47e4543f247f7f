"""A model on paper of a machine of many cores: the load of each unit, and the time that all of them take.

It knows the demand of a workload on one core, as counted there, how often tiles share lines, that units with similar
load delay each other, and that latency costs cycles at the start only. Cores must hold enough
groups to fill the pipeline of arithmetic. docs/performance.md has it beside cycles of the hardware.
"""

import math
from dataclasses import dataclass

from ctm.rtl.border.lines import CODE_LINES
from ctm.rtl.config import CacheConfig, MachineConfig

_LINE = CacheConfig.LINE_BYTES
_NUMBER = 4
_BLOCK = 8
"""Numbers of a matrix product in each direction that a wavefront of four pixels computes."""
_FETCH, _READ = 31, 12
"""Cycles of a fetch, and of a line that the command processor or the code reader requests, beside memory's latency."""
_LOADS = 5
"""Lines of an executable that are read one after the other, before its code."""
_QUEUES = 6
"""How sharply the busiest unit bounds: the times of units are added as powers of this."""


@dataclass(frozen=True, kw_only=True)
class PaperMachine:
    """What the model knows of a machine, which may be larger than any that can be built."""

    cores: int
    threads: int
    """Slots of a core."""
    banks: int
    output_banks: int
    ports: int
    width: int
    """Bytes a cycle of memory in all, in each direction."""
    latency: int

    @classmethod
    def of(cls, config: MachineConfig) -> "PaperMachine":
        """A machine that can be built."""
        array, memory = config.array, config.memory
        return cls(
            cores=array.cores,
            threads=array.threads,
            banks=config.shared_cache.banks,
            output_banks=config.output_cache.banks,
            ports=memory.local_ports,
            width=memory.bytes_per_cycle * memory.local_ports,
            latency=memory.latency,
        )


@dataclass(frozen=True, kw_only=True)
class Demand:
    """What a workload asks for, in all, as one core counts it; lines are of 64 bytes."""

    groups: int
    issues: int
    """ALU and OUTPUT instructions of groups."""
    accesses: int
    """Lines that fetches access."""
    asked: int
    """Lines that the first level has not."""
    read: int
    """Lines that come from memory, each input once."""
    stores: int
    """Lines that groups write, whole or masked."""
    written: int
    """Bytes of all outputs."""
    code: int
    """Bytes of the program."""
    product: int = 0
    """Of a product of square matrices, their side: its lines depend on how many cores share them."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Cycles, what bounds them, and the bytes that memory gives."""

    cycles: float
    bound: str
    read_bytes: float


def predict(demand: Demand, machine: PaperMachine) -> Prediction:
    """What a machine does with a workload."""
    cores, width = machine.cores, machine.width
    resident = machine.threads * cores
    # The core with the most groups: idle cores take over groups of others, but only whole ones.
    share = max(1 / cores, math.ceil(demand.groups / cores) / demand.groups)
    asked, read = _shared_lines(demand, machine)
    busy = {
        "arithmetic": demand.issues * share,
        "input cache": demand.accesses * share,
        "slots": _held(demand, machine) * share,
        "shared cache": asked / machine.banks,
        "memory": _LINE * read / width,
        "outputs": demand.stores / machine.output_banks,
    }
    bound = max(busy, key=lambda unit: busy[unit])
    # Only the last groups' writes add cycles: those of the others overlap with execution.
    last = min(demand.groups, resident) / demand.groups
    end = last * _together(busy["outputs"], demand.written / width)
    cycles = _start(demand, machine) + _together(*busy.values()) + end
    return Prediction(cycles=cycles, bound=bound, read_bytes=_LINE * read)


def _together(*times: float) -> float:
    """Cycles of units that are busy for these times, work in parallel and wait for each other."""
    summed: float = sum(time**_QUEUES for time in times)
    return math.pow(summed, 1 / _QUEUES)


def _start(demand: Demand, machine: PaperMachine) -> float:
    """Cycles until the first groups have their fetches: an executable, its code a burst at a time, and the fetches."""
    # Lines that are asked for together come from all ports.
    code_lines = machine.latency + _READ + CODE_LINES * _LINE / machine.width
    code = math.ceil(demand.code / _LINE / CODE_LINES) * code_lines
    return _LOADS * (_line(machine) + _READ) + code + machine.latency + _FETCH


def _held(demand: Demand, machine: PaperMachine) -> float:
    """Cycles for which a core's slots are held, if it has all groups: each for as long as one fetch at least."""
    held = demand.groups * (_line(machine) + _FETCH) if demand.accesses else 0
    return held / machine.threads


def _line(machine: PaperMachine) -> float:
    """Cycles in which memory brings one line, from the line's own port."""
    return machine.latency + _LINE * machine.ports / machine.width


def least_product_bytes(side: int, machine: PaperMachine) -> float:
    """Bytes of both matrices, each read once for each block that all cores compute together."""
    return _product_bytes(side, machine.threads * machine.cores)


def _shared_lines(demand: Demand, machine: PaperMachine) -> tuple[float, float]:
    """Lines that first levels ask for, and that memory gives."""
    if not demand.product:
        return demand.asked, demand.read
    own = _product_bytes(demand.product, machine.threads)
    return own / _LINE, least_product_bytes(demand.product, machine) / _LINE


def _product_bytes(side: int, groups: int) -> float:
    """Bytes of both matrices, each read once for each block that so many groups compute."""
    bits = (groups - 1).bit_length()
    across, up = min(side, _BLOCK << (bits + 1) // 2), min(side, _BLOCK << bits // 2)
    return _NUMBER * side**3 * (1 / across + 1 / up)
