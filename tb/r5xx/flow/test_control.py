"""Flow control, compiled, against the golden model: random instructions on wavefronts in random states."""

from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.r5xx.instruction import COMMON, FC_ADDR, FC_INST, INSTRUCTION
from ctm.rtl.isa.r5xx.limits import BRANCH_COUNTER_FULL, BRANCH_COUNTER_PARTIAL
from ctm.rtl.isa.r5xx.opcodes import FlowOperation, InstructionType
from ctm.rtl.isa.word import fields, pack, unpack
from ctm.rtl.r5xx.flow.control import FlowControl, FlowFault, needs_boolean, needs_integer
from ctm.rtl.r5xx.state import control_state_layout
from ctm.sim.compiled import CompiledUnit
from ctm.sim.golden.dpp.constants import BusError, Constants
from ctm.sim.golden.pe.loader import load
from ctm.sim.golden.r5xx import flow
from ctm.sim.golden.r5xx.decode import decode
from ctm.sim.golden.r5xx.instruction import Flow, Illegal
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.state import Batch
from ctm.sim.memory import Memory
from ctm.tb.jobs.folder import executable
from ctm.tb.lib.some import fewer, some
from ctm.tb.r5xx.flow_states import Lanes, meaning, pack_states, random_control, randomise, start

WAVEFRONTS = 16
INSTRUCTIONS = fewer(300)
KINDS = (FlowOperation.LOOP, FlowOperation.REP)
INT_CONSTANTS = [0x00000000, 0x00000001, 0x00FF0502, 0x007F10FF, 0x0080FF03]


class Row(NamedTuple):
    """One wavefront's instruction: the hardware's inputs, and the state and fault that are expected."""

    inputs: dict[str, int]
    state: int
    fault: FlowFault


def random_words(generator: np.random.Generator) -> tuple[int, ...]:
    """A flow-control instruction; one in twenty has any bits at all."""
    common = {name: int(generator.integers(1 << width)) for name, _, width in fields(COMMON)}
    inst = {name: int(generator.integers(1 << width)) for name, _, width in fields(FC_INST)}
    addr = {name: int(generator.integers(1 << width)) for name, _, width in fields(FC_ADDR)}
    common["type"] = InstructionType.FC.value
    addr["int_addr"] = int(generator.integers(len(INT_CONSTANTS)))
    if generator.integers(20):
        common["rgb_pred_sel"] = int(generator.choice([0, 2, 3, 4, 5]))
        common["alpha_pred_sel"] = int(generator.integers(6))
        inst["a_op"] = int(generator.choice([0, 0, 0, 1, 2]))
        inst["b_op0"], inst["b_op1"] = (int(generator.integers(3)) for _ in range(2))
        inst["b_pop_cnt"] = int(generator.choice([0, 1, 1, 2, 31]))
        inst["jump_func"] = int(generator.choice([0, 0xFF, 0xCC, 0x33, 0xF0, 0x0F, inst["jump_func"]]))
    return (pack(COMMON, **common), 0, pack(FC_INST, **inst), pack(FC_ADDR, **addr), 0, 0)


def program_with(full: bool, code_offset: int, *, fails: bool) -> Program:
    """A program; all its int and bool constants may have error responses."""
    memory = Memory()
    if fails:
        memory.respond_with_errors(0x30000, 0x40000)
    memory.write(0, executable([(0,) * 6], us_fc_ctrl=int(full) << 31, offset=code_offset))
    memory.write(0x30000, np.array(INT_CONSTANTS, np.uint32).tobytes())
    memory.write(0x31000, np.arange(32, dtype=np.uint32).tobytes())
    return Program(image=load(memory, 0, "r5xx"), constants=Constants(memory, 0x20000, 0x30000, 0x31000))


def needs_constant(words: tuple[int, ...]) -> bool:
    """Whether it needs a constant, as the hardware says."""
    found = constant_needs()(words=np.array([words], np.uint32))
    return bool(found["integer"][0] or found["boolean"][0])


@cache
def constant_needs() -> CompiledUnit:
    return CompiledUnit(ConstantNeeds())


class ConstantNeeds(wiring.Component):
    """The two functions as a component."""

    words: In(INSTRUCTION)
    integer: Out(1)
    boolean: Out(1)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += [self.integer.eq(needs_integer(self.words)), self.boolean.eq(needs_boolean(self.words))]
        return m


def rows_of(generator: np.random.Generator, lanes: int) -> list[Row]:
    """One instruction on wavefronts that share everything but their lanes' states."""
    full, code_offset = bool(generator.integers(4)), int(generator.choice([0, 7, 300]))
    fails = not generator.integers(6)
    program = program_with(full, code_offset, fails=fails)
    words = random_words(generator)
    instruction = decode(words, code_offset=code_offset, uncached_writes=False)
    batch = start(program, WAVEFRONTS, lanes)
    randomise(
        batch,
        random_control(generator, KINDS, full),
        generator,
        BRANCH_COUNTER_FULL if full else BRANCH_COUNTER_PARTIAL,
    )
    masks, before = Lanes(lanes), pack_states(batch)
    predicates = [masks.pack(bits) for bits in batch.predicates]
    shared = {
        "words": sum(word << 32 * index for index, word in enumerate(words)),
        "code_offset": code_offset,
        "full": int(full),
        "boolean": int((unpack(FC_ADDR, words[3])["bool_addr"]) != 0),
        "integer": INT_CONSTANTS[unpack(FC_ADDR, words[3])["int_addr"]],
        "error": int(fails and needs_constant(words)),
    }
    columns = {name: masks.pack(getattr(batch, name)) for name in ("valid_mask", "covered", "alu_result")}
    assert isinstance(instruction, Flow | Illegal)
    states, faults = after(batch, program, instruction)
    return [
        Row(
            {
                **shared,
                "state": before[wavefront],
                **{name: column[wavefront] for name, column in columns.items()},
                "predicates": sum(bits[wavefront] << lanes * channel for channel, bits in enumerate(predicates)),
            },
            states[wavefront],
            faults[wavefront],
        )
        for wavefront in range(WAVEFRONTS)
    ]


def after(batch: Batch, program: Program, instruction: Flow | Illegal) -> tuple[list[int], list[FlowFault]]:
    """Each wavefront's state and fault after the instruction, by the golden model."""
    if isinstance(instruction, Illegal):
        return [0] * WAVEFRONTS, [FlowFault.ILLEGAL_INSTRUCTION] * WAVEFRONTS
    try:
        outcome = flow.execute(batch, program, instruction)
    except flow.StackError:
        return [0] * WAVEFRONTS, [FlowFault.STACK] * WAVEFRONTS
    except flow.FrameError:
        return [0] * WAVEFRONTS, [FlowFault.ILLEGAL_INSTRUCTION] * WAVEFRONTS
    except BusError:
        return [0] * WAVEFRONTS, [FlowFault.BUS_ERROR] * WAVEFRONTS
    states, faults = [0] * WAVEFRONTS, [FlowFault.STACK] * WAVEFRONTS
    for jumps, control in ((True, outcome.jump), (False, outcome.stay)):
        chosen = (outcome.jumps == jumps) & ~outcome.overflowed
        if control is None or not chosen.any():
            continue
        field = batch.select(chosen)
        field.control = control
        flow.apply_frames(field, instruction, jumps=jumps)
        for wavefront, state in zip(np.flatnonzero(chosen), pack_states(field), strict=True):
            states[wavefront], faults[wavefront] = state, FlowFault.NONE
    return states, faults


def to_words(values: list[int], bits: int) -> np.ndarray:
    """Integers as the ports take them."""
    if bits <= 64:
        return np.array(values, np.uint64)
    words = -(-bits // 32)
    return np.frombuffer(b"".join(value.to_bytes(4 * words, "little") for value in values), np.uint32).reshape(
        -1, words
    )


@pytest.mark.slow
@pytest.mark.parametrize("lanes", some((4, 8), 2))
def test_random_instructions_on_random_wavefronts(lanes):
    generator = np.random.default_rng(lanes)
    rows = [row for _ in range(INSTRUCTIONS) for row in rows_of(generator, lanes)]
    unit = CompiledUnit(FlowControl(lanes))
    inputs = {name: to_words([row.inputs[name] for row in rows], bits) for name, bits in unit.inputs.items()}
    results = unit(**inputs)
    seen = Counter(row.fault for row in rows)
    assert all(seen[fault] > len(rows) / 50 for fault in FlowFault), seen
    layout = control_state_layout(lanes)
    for row, fault, state in zip(rows, results["fault"], results["next_state"], strict=True):
        shown = {name: hex(value) for name, value in row.inputs.items()}
        assert FlowFault(int(fault)) is row.fault, shown
        if row.fault is FlowFault.NONE:
            bits = int.from_bytes(np.ascontiguousarray(state).tobytes(), "little")
            assert meaning(layout, bits, lanes) == meaning(layout, row.state, lanes), shown
