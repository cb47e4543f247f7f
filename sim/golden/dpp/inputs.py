"""The inputs of a program: what fetches read, as it was at the program's start."""

from dataclasses import dataclass

from ctm.sim.golden.dpp.instruction_set import Program
from ctm.sim.golden.mc.address import extent
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.memory import Memory


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The sixteen inputs. `cached[n]` is the memory that a cached fetch from input n reads: as it was at the start."""

    buffers: tuple[Buffer, ...]
    cached: tuple[Memory, ...]
    memory: Memory


def inputs_as_at_start(
    memory: Memory,
    buffers: tuple[Buffer, ...],
    program: Program,
    outputs: tuple[Buffer, ...],
    conditional: Buffer | None,
) -> Inputs:
    """The inputs of a program: one that overlaps memory that the program writes is read from a copy."""
    # Outputs of a program that is run for vertices are no buffers.
    written = [outputs[output] for output in (*program.outputs, *program.uncached_outputs) if output < len(outputs)]
    if conditional is not None:
        written.append(conditional)
    cached = [memory] * len(buffers)
    for index in program.cached_inputs:
        if any(overlap(buffers[index], output) for output in written):
            cached[index] = _copy(memory, buffers[index])
    return Inputs(buffers=buffers, cached=tuple(cached), memory=memory)


def ranges(buffer: Buffer) -> list[tuple[int, int]]:
    """Address ranges [first, end) that a buffer's elements lie in; two where they wrap."""
    end, limit = buffer.base + extent(buffer), 1 << 32
    return [(buffer.base, end)] if end <= limit else [(buffer.base, limit), (0, end - limit)]


def overlap(one: Buffer, other: Buffer) -> bool:
    """Whether two buffers have an address in common."""
    return any(
        first < other_end and other_first < end
        for first, end in ranges(one)
        for other_first, other_end in ranges(other)
    )


def _copy(memory: Memory, buffer: Buffer) -> Memory:
    result = Memory()
    for first, end in ranges(buffer):
        result.bytes[first:end] = memory.bytes[first:end]
    return result
