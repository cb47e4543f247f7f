"""R5xx hazards: reads of values that the rules of synchronisation do not promise.

The model executes one instruction at a time and so always reads the new value; hardware need not. Source: CTM Guide
pp. 24-26 and 32-34. State is kept per batch: what is outstanding depends only on the instructions that its wavefronts
executed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ctm.rtl.isa.r5xx.opcodes import ACQUIRING, WITHOUT_LOOKUP, Presubtract, TextureOperation
from ctm.sim.golden.dpp.hazard import Hazards
from ctm.sim.golden.r5xx.instruction import Address, Alu, Bank, Flow, Illegal, Instruction, Row, Tex
from ctm.sim.golden.r5xx.operands import temporary
from ctm.sim.golden.r5xx.plan import DERIVATIVES, Block, Reading
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.scoreboard import Channel, Scoreboard
from ctm.sim.golden.r5xx.state import Batch

_CONSTANT = -1


class HazardMonitor:
    """Watches the instructions of every batch and reports hazards."""

    def __init__(self, program: Program, hazards: Hazards) -> None:
        self._uncached_writes = program.uncached_writes
        self._hazards = hazards

    def watch(self, batch: Batch, instruction: Instruction, blocks: Sequence[Block]) -> None:
        """Check the instruction that `batch` is about to execute, and note what it leaves outstanding."""
        if isinstance(instruction, Illegal):
            return
        state = batch.outstanding
        writes_uncached = self._writes_uncached(instruction)
        acquires = writes_uncached and isinstance(instruction, Alu) and instruction.rgb.target in ACQUIRING
        # An acquiring write waits even without TEX_SEM_WAIT.
        state = state.waited() if instruction.common.wait_semaphore or acquires else state
        state = replace(state, alu=False) if instruction.common.alu_wait else state
        if isinstance(instruction, Flow):
            texts = list(_flow_hazards(instruction, state))
            state = replace(state, alu_result_used=True, last_written=frozenset())
        elif isinstance(instruction, Tex):
            texts = list(_tex_hazards(batch, instruction, state))
            state = _after_tex(batch, instruction, state)
        else:
            texts = list(_alu_hazards(batch, instruction, blocks, state))
            state = _after_alu(batch, instruction, state)
            state = replace(state, uncached_write=False) if writes_uncached else state
            state = state.acquired() if acquires else state
        for text in texts:
            self._hazards.report(batch.control.pc, text, int(batch.i[0]), int(batch.j[0]))
        batch.outstanding = state

    def _writes_uncached(self, instruction: Instruction) -> bool:
        is_output = isinstance(instruction, Alu) and instruction.is_output
        return self._uncached_writes and is_output and bool(instruction.common.output_mask)


def _name(channel: Channel) -> str:
    return f"r{channel[0]}.{'rgba'[channel[1]]}"


def _undelivered(state: Scoreboard, channels: set[Channel], verb: str) -> Iterator[str]:
    for channel in sorted(channels & state.fetches.keys()):
        yield f"{verb} {_name(channel)}, which a fetch has not delivered: wait for the texture semaphore"


def _flow_hazards(instruction: Flow, state: Scoreboard) -> Iterator[str]:
    function = instruction.jump_function
    uses_result = function >> 4 != function & 0xF
    depends_on_predicate = function & 0x33 != function >> 2 & 0x33
    uses_predicate = depends_on_predicate and instruction.common.predicates[0].bit(0) is not None
    if (uses_result or uses_predicate) and state.alu:
        yield "decides by what an ALU instruction has not delivered: set ALU_WAIT"
    if uses_result and state.alu_result_used:
        yield "uses the ALU result, which did not survive the flow-control instruction before"


def _tex_hazards(batch: Batch, instruction: Tex, state: Scoreboard) -> Iterator[str]:
    if instruction.acquire and state.semaphore:
        yield "acquires the texture semaphore while it is held: set TEX_SEM_WAIT too"
    if instruction.operation is TextureOperation.NOP:
        return
    is_kill = instruction.operation is TextureOperation.KILL_LT_0
    channels = instruction.common.write_mask if is_kill else _coordinates(instruction)
    source = temporary(batch, instruction.source)
    yield from _undelivered(state, {(source, channel) for channel in channels}, "reads")
    if is_kill:
        return
    yield from _undelivered(state, _fetched(batch, instruction), "overwrites")
    if instruction.operation is TextureOperation.LOOKUP_UNCACHED and state.uncached_write is not None:
        yield "reads uncached while a write is outstanding: use an acquiring write and TEX_SEM_WAIT"


def _after_tex(batch: Batch, instruction: Tex, state: Scoreboard) -> Scoreboard:
    fetches = dict(state.fetches)
    if instruction.operation not in WITHOUT_LOOKUP:
        fetches |= dict.fromkeys(_fetched(batch, instruction), False)
    state = replace(state, fetches=fetches, last_written=frozenset())
    return state.acquired() if instruction.acquire else state


def _coordinates(instruction: Tex) -> Sequence[int]:
    """Channels of the source that a fetch reads: S and T, and Q for the projection."""
    s, t, _, q = instruction.source_swizzle
    return (s, t, q) if instruction.operation is TextureOperation.LOOKUP_PROJ else (s, t)


def _fetched(batch: Batch, instruction: Tex) -> set[Channel]:
    number = temporary(batch, instruction.destination)
    return {(number, channel) for channel in instruction.common.write_mask}


def _alu_hazards(batch: Batch, instruction: Alu, blocks: Sequence[Block], state: Scoreboard) -> Iterator[str]:
    direct, presubtracted = _read(batch, instruction, blocks)
    yield from _undelivered(state, direct | presubtracted, "reads")
    yield from _undelivered(state, _written(batch, instruction), "overwrites")
    delayed = set(presubtracted)
    for block in blocks:
        if block.operation in DERIVATIVES:
            a, _, c = block.readings
            delayed |= {_channel_of(batch, address, row.channel) for row, address in _sources([a, c])}
    for channel in sorted(delayed & state.last_written):
        yield f"needs {_name(channel)} early, which the instruction before writes: set NOP there"


def _after_alu(batch: Batch, instruction: Alu, state: Scoreboard) -> Scoreboard:
    sets_predicates = bool(instruction.common.output_mask) and not instruction.is_output
    sets_result = instruction.alu_result is not None
    return replace(
        state,
        alu=state.alu or sets_predicates or sets_result,
        alu_result_used=state.alu_result_used and not sets_result,
        last_written=frozenset() if instruction.common.nop else frozenset(_written(batch, instruction)),
    )


def _sources(readings: Iterable[Reading]) -> Iterator[tuple[Row, Address | None]]:
    """Every row of `readings`, literals left out; the address of srcp is None."""
    for reading in readings:
        rows = zip(reading.rows, reading.addresses, strict=True)
        yield from ((row, address) for row, address in rows if row.literal is None)


def _channel_of(batch: Batch, address: Address | None, channel: int) -> Channel:
    """The channel that a source reads; that of a constant is no temporary's."""
    if address is None or address.bank is not Bank.TEMPORARY:
        return _CONSTANT, channel
    return temporary(batch, address), channel


def _read(batch: Batch, instruction: Alu, blocks: Sequence[Block]) -> tuple[set[Channel], set[Channel]]:
    """Channels that operands read, directly and through the presubtract unit."""
    direct, presubtracted = set(), set()
    for row, address in _sources(reading for block in blocks for reading in block.readings):
        if address is not None:
            direct.add(_channel_of(batch, address, row.channel))
            continue
        unit = instruction.unit(row.channel)
        sources = unit.addresses[:2] if unit.presubtract in (Presubtract.SUB, Presubtract.ADD) else unit.addresses[:1]
        presubtracted |= {_channel_of(batch, source, row.channel) for source in sources}
    return direct, presubtracted


def _written(batch: Batch, instruction: Alu) -> set[Channel]:
    return {
        (temporary(batch, instruction.unit(channel).destination), channel) for channel in instruction.common.write_mask
    }
