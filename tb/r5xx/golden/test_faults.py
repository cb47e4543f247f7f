"""Faults of programs: every illegal instruction, the program counter, the watchdog, and the wavefronts that go on."""

import numpy as np
import pytest

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r5xx.instruction import ALPHA_INST, COMMON, FC_INST, RGB_ADDR, RGB_INST, RGBA_INST, WORDS
from ctm.rtl.isa.r5xx.opcodes import InstructionType, ZeroTest
from ctm.rtl.isa.status import Status
from ctm.rtl.isa.word import replace
from ctm.sim.fault import MachineError
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.r5xx.machine import Instruction, Machine, alu, flow, move, tex
from ctm.tb.r5xx.statements import add, begin_if, compare, end_if, jump

PLAIN = {
    InstructionType.ALU: alu(),
    InstructionType.OUTPUT: alu(type=1),
    InstructionType.FC: flow(inst={"jump_func": 0, "jump_any": 1}),
    InstructionType.TEX: tex(inst={}, addr={}),
}
"""An instruction of each type that does nothing."""


def changed(instruction: Instruction, word: int, **fields: int) -> Instruction:
    """`instruction` with fields of one of its words changed."""
    layout = WORDS[InstructionType(instruction[0] & 3)][word]
    return (*instruction[:word], replace(layout, instruction[word], **fields), *instruction[word + 1 :])


def fault(
    program: list[Instruction], *, lanes: int = 4, watchdog: int = 1000, **information: int
) -> MachineError | None:
    machine = Machine(lanes=lanes, watchdog=watchdog)
    machine.load(program, **information)
    try:
        machine.start((0, 0, 3, 3))
    except MachineError as error:
        return error
    return None


ILLEGAL = {
    **{f"RGB_OP {code}": changed(alu(), 5, rgb_op=code) for code in (6, 13, 14, 15)},
    "ALPHA_OP 4": changed(alu(), 4, op=4),
    **{
        f"{unit}_PRED_SEL {code} on {kind.name}": changed(plain, 0, **{f"{unit}_pred_sel": code})
        for unit in ("rgb", "alpha")
        for code in (6, 7)
        for kind, plain in PLAIN.items()
    },
    "RGB_PRED_SEL per channel on FC": changed(PLAIN[InstructionType.FC], 0, rgb_pred_sel=1),
    "A_OP 3": changed(PLAIN[InstructionType.FC], 2, a_op=3),
    "B_OP0 3": changed(PLAIN[InstructionType.FC], 2, b_op0=3),
    "B_OP1 3": changed(PLAIN[InstructionType.FC], 2, b_op1=3),
    **{
        f"SOP with alpha {code}": changed(changed(alu(), 5, rgb_op=10), 4, op=code)
        for code in (0, 2, 3, 5, 6, 7, 14, 15)
    },
    **{f"DP with RGB {code}": changed(changed(alu(), 5, rgb_op=code), 4, op=1) for code in (0, 4, 5, 7, 8, 9, 11, 12)},
    **{
        f"disabled modifier, RGB {code}": changed(changed(alu(), 5, rgb_op=code), 3, omod=7)
        for code in (0, 1, 2, 3, 9, 11, 12)
    },
    **{
        f"disabled modifier, alpha {code}": changed(changed(alu(), 4, op=code), 4, omod=7)
        for code in (0, 7, 8, 10, 13, 14, 15)
    },
    **{
        f"swizzle 7 in {name}": changed(alu(), word, **{name: 7})
        for word, layout in ((3, RGB_INST), (4, ALPHA_INST), (5, RGBA_INST))
        for name, _ in layout
        if "swiz" in name
    },
    **{
        f"aL with inline constant, word {word} source {source}": changed(
            alu(), word, **{f"addr{source}": 0x80, f"addr{source}_rel": 1}
        )
        for word in (1, 2)
        for source in range(3)
    },
}


def test_the_layouts_have_twelve_alu_swizzles() -> None:
    assert sum("swizzle 7" in name for name in ILLEGAL) == 12
    assert {name for name, _ in COMMON} >= {"rgb_pred_sel", "alpha_pred_sel"}
    assert {name for name, _ in FC_INST} >= {"a_op", "b_op0", "b_op1"}
    assert {name for name, _ in RGB_ADDR} >= {"addr0_rel"}


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_field_values_fault_even_where_they_are_not_used(name: str) -> None:
    error = fault([move(0, 0), ILLEGAL[name], move(0, 0, output=0)])
    assert error is not None
    assert (error.status, error.pc, error.i, error.j) == (Status.ILLEGAL_INSTRUCTION, 1, 0, 0)


@pytest.mark.parametrize(
    "instruction",
    [
        *PLAIN.values(),
        changed(PLAIN[InstructionType.FC], 0, alpha_pred_sel=1),
        changed(PLAIN[InstructionType.FC], 2, b_pop_cnt=31, reserved_low=1, reserved_high=7),
        changed(PLAIN[InstructionType.TEX], 1, reserved_low=0xFFFF, reserved_high=15),
        changed(alu(), 1, addr0=0xFF, addr1=0xFF, addr1_const=1, addr1_rel=1),
        changed(changed(alu(), 5, rgb_op=1), 4, op=8),
    ],
)
def test_legal_oddities_run(instruction: Instruction) -> None:
    assert fault([instruction, move(0, 0, output=0)]) is None


def test_an_illegal_instruction_that_is_jumped_over_does_not_fault() -> None:
    assert fault([jump(2), ILLEGAL["A_OP 3"], move(0, 0, output=0)]) is None


@pytest.mark.parametrize(
    ("program", "pc", "information"),
    [
        ([move(0, 0)], 1, {"end": 5}),
        ([jump(511)], 511, {"end": 1}),
        ([move(0, 0)], 7, {"start": 7}),
        ([jump(500)], 512, {"end": 1, "offset": 12, "start": 0}),
    ],
)
def test_a_program_counter_outside_the_code_faults(
    program: list[Instruction], pc: int, information: dict[str, int]
) -> None:
    padded = [move(0, 0)] * information.get("offset", 0) + program
    error = fault(padded, **information)
    assert error is not None
    assert (error.status, error.pc) == (Status.PC_RANGE, pc)


@pytest.mark.parametrize("watchdog", [1, 2, 3, 600, 601, 4096, 4097, 1 << 24])
def test_the_watchdog_stops_a_wavefront_before_one_instruction_too_many(watchdog: int) -> None:
    endless = [move(1, 0), jump(0)]
    machine = Machine(watchdog=watchdog)
    machine.load([*endless, move(0, 0, output=0)])
    with pytest.raises(MachineError) as caught:
        machine.start((0, 0, 3, 1))
    assert (caught.value.status, caught.value.pc) == (Status.WATCHDOG, watchdog % 2)
    assert machine.counters.instructions == 2 * watchdog
    assert machine.counters.lane_instructions == 8 * watchdog


def test_a_watchdog_that_changes_state_for_long_is_stopped_all_the_same() -> None:
    # r1.r counts up: no state comes back.
    machine = Machine(watchdog=3000)
    machine.set_floats(0, 1.0, 1.0, 1.0, 1.0)
    machine.load([add(0), jump(0), move(0, 0, output=0)])
    with pytest.raises(MachineError) as caught:
        machine.start((0, 0, 0, 0))
    assert (caught.value.status, machine.counters.instructions) == (Status.WATCHDOG, 3000)


def test_exactly_as_many_instructions_as_allowed_are_no_fault() -> None:
    program = [move(0, 0), move(0, 0), move(0, 0, output=0)]
    assert fault(program, watchdog=3) is None
    error = fault(program, watchdog=2)
    assert error is not None
    assert error.pc == 2


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_a_fault_stops_its_wavefront_without_output_and_no_other(lanes: int) -> None:
    # Only groups with i < 2 enter the branch and fault in it.
    machine = Machine(lanes=lanes)
    machine.set_floats(0, 2.0, 0, 0, 0)
    program = [
        move(0, 0, output=0),
        compare(0, ZeroTest.LESS),
        begin_if(5),
        ILLEGAL["ALPHA_OP 4"],
        end_if(),
        move(0, 0),
    ]
    machine.load(program)
    with pytest.raises(MachineError) as caught:
        machine.start((0, 0, 31, 1))
    assert (caught.value.status, caught.value.pc, caught.value.i, caught.value.j) == (
        Status.ILLEGAL_INSTRUCTION,
        3,
        0,
        0,
    )
    found = machine.output(0, Layout(width=32, height=2, format=DataFormat.FLOAT32_4))[..., 3]
    expected = np.ones((2, 32))
    expected[:, : lanes // 2] = 0
    np.testing.assert_array_equal(found, expected)


def test_a_fault_drops_the_remaining_commands_and_the_machine_goes_on() -> None:
    machine = Machine()
    machine.load([ILLEGAL["ALPHA_OP 4"]])
    commands = CommandBuffer().set_inst_fmt(0x10000).set_domain(0, 0, 1, 1).start_program().set_cond_val(1.0)
    with pytest.raises(MachineError):
        machine.commands(commands)
    assert machine.model.state.conditional_value == 0
    machine.load([move(0, 0, output=0)])
    assert machine.start((0, 0, 0, 0))[0, 0, 0, 3] == 1


def test_the_first_wavefront_of_the_walk_is_the_one_reported() -> None:
    # Groups with i >= 2 fault early, those with i < 2 later: the report is that of (0, 0).
    machine = Machine()
    machine.set_floats(0, 2.0, 0, 0, 0)
    program = [
        compare(0, ZeroTest.GREATER_EQUAL),
        begin_if(4),
        ILLEGAL["ALPHA_OP 4"],
        end_if(),
        jump(300),
    ]
    machine.load(program, end=400)
    with pytest.raises(MachineError) as caught:
        machine.start((0, 0, 3, 0))
    assert (caught.value.status, caught.value.pc, caught.value.i) == (Status.PC_RANGE, 300, 0)
