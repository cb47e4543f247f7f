"""An R5xx launch, ready to be compiled and run."""

from functools import lru_cache
from typing import Any

from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.sim.engines.fast.arrangement import may_keep_rows
from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.fast.program import FallBackError, Prepared, check_independence, final_test, prepared
from ctm.sim.engines.fast.r5xx.graph import Graph, TooManyPathsError
from ctm.sim.engines.fast.r5xx.translation import Source, translate
from ctm.sim.engines.fast.r5xx.writers import writers
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r5xx.program import Program, decode_code

_FEW_CHANNELS, _SHORT = 24, 64
"""Channels of temporaries, and instructions, of programs whose vectors take two of the host's registers."""

Words = tuple[tuple[int, ...], ...]
"""The words of each instruction."""


def prepare(launch: Launch[Any], host: Host) -> Prepared:
    """What is compiled of a launch for a host.

    Raises
    ------
    FallBackError
        It is for the golden model.
    """
    program: Program = launch.program
    check_independence(launch)
    source = _source(launch, program)
    width = launch.lanes
    if source.graph.keeps_wavefronts_together:
        is_doubled = host.width == host.register and _is_small(source)
        width = max(width, 2 * host.width if is_doubled else host.width)
    return prepared(
        launch,
        host,
        lambda frame: translate(source, frame),
        width=width,
        rows=may_keep_rows(launch.domain, launch.lanes, width // launch.lanes),
        units=tuple(unit.name for unit in InstructionType),
        in_order=program.uncached_writes,
    )


def _is_small(source: Source) -> bool:
    """Whether the host has time and registers for a second vector beside each.

    Most such programs wait for results and for memory; with more channels registers would not suffice, and LLVM takes
    up to three times as long.
    """
    channels = {channel for channel, _ in writers(source.instructions, source.plans)}
    return len(channels) <= _FEW_CHANNELS and len(source.instructions) <= _SHORT


@lru_cache(maxsize=64)
def _graph(code: Words, code_offset: int, uncached_writes: bool, start: int, end: int, full: bool) -> Graph:
    """The graph of a program's code; programs that start again and again are looked at once."""
    instructions = decode_code(code, code_offset, uncached_writes).instructions
    return Graph(instructions, start=start, end=end, full_flow_control=full)


def _source(launch: Launch[Any], program: Program) -> Source:
    code = program.code
    try:
        graph = _graph(
            program.image.code, program.code_offset, program.uncached_writes, program.start, program.end,
            program.full_flow_control,
        )  # fmt: skip
    except TooManyPathsError:
        raise FallBackError("calls lead to its code by too many paths") from None
    return Source(
        instructions=code.instructions,
        plans=code.plans,
        graph=graph,
        end=program.end,
        temporaries=program.temporaries,
        zero_times_anything=program.zero_times_anything,
        full_flow_control=program.full_flow_control,
        uncached_writes=program.uncached_writes,
        conditional_from_program=program.conditional_from_program,
        outputs=program.outputs,
        output_mask=launch.output_mask,
        test=final_test(launch),
    )
