"""Memory that responds with an error: the unit that reports it, and what continues."""

import numpy as np
import pytest

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r5xx.opcodes import InstructionType, Presubtract, RgbOperation, Swizzle, TextureOperation, ZeroTest
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.fault import MachineError
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.r5xx.machine import BOOLS, BUFFER, FLOATS, INTS, OUTPUT, PROGRAM, Machine, alu, flow, move, tex
from ctm.tb.r5xx.statements import ALU, ENDLOOP, LOOP, NOT_ALU, add, begin_if, compare, end_if, fetch, jump

INPUT = 0x100000
LAYOUT = Layout(width=4, height=4, format=DataFormat.FLOAT32_4)
LOOKUP = tex(
    inst={"inst": TextureOperation.LOOKUP.value, "unscaled": 1, "tex_sem_acquire": 1},
    addr={"src_t_swiz": 1, "dst_addr": 1, "dst_g_swiz": 1, "dst_b_swiz": 2, "dst_a_swiz": 3},
    rgb_wmask=7, alpha_wmask=1, tex_sem_wait=1,
)  # fmt: skip
SET_INPUT = CommandBuffer().set_inp_fmt(0, INPUT, LAYOUT.format_word, 4)


def bus_error(machine: Machine, buffer: CommandBuffer) -> MachineError:
    with pytest.raises(MachineError) as caught:
        machine.commands(buffer)
    assert caught.value.status is Status.BUS_ERROR
    return caught.value


@pytest.mark.parametrize(("first", "address"), [(BUFFER + 8, BUFFER + 8), (BUFFER + 12, BUFFER + 8)])
def test_a_command_that_cannot_be_read_stops_the_buffer_there(first: int, address: int) -> None:
    machine = Machine()
    machine.memory.respond_with_errors(first, first + 4)
    assert bus_error(machine, CommandBuffer().set_cond_val(1.0).set_cond_val(2.0)).address == address
    assert machine.model.state.conditional_value == 0x3F800000


def test_a_program_that_cannot_be_read_is_reported_at_its_start() -> None:
    machine = Machine()
    machine.load([move(0, 0, output=0)])
    machine.memory.respond_with_errors(PROGRAM, PROGRAM + 4)
    error = bus_error(machine, CommandBuffer().set_inst_fmt(PROGRAM).start_program())
    assert (error.client, error.address) == (BusClient.INSTRUCTION, PROGRAM)


@pytest.mark.parametrize("lanes", [4, 8])
def test_a_fetch_that_fails_ends_its_group_without_output_and_no_other(lanes: int) -> None:
    machine = Machine(lanes=lanes)
    machine.memory.view(np.float32)[INPUT // 4 :][:64] = 1.0
    machine.load([LOOKUP, move(0, 1, output=0, tex_sem_wait=1)])
    # The element of (3, 2) fails: its group are columns 2..3, or with 8 lanes 0..3, of rows 2..3.
    machine.memory.respond_with_errors(INPUT + 16 * 11, INPUT + 16 * 12)
    with pytest.raises(MachineError) as caught:
        machine.start((0, 0, 3, 3), before=SET_INPUT)
    error = caught.value
    assert (error.status, error.pc, error.i, error.j) == (Status.BUS_ERROR, 0, 2 if lanes == 4 else 0, 2)
    assert (error.client, error.address) == (BusClient.INPUT, INPUT + 16 * 11)
    expected = np.ones((4, 4))
    expected[2:, 2 if lanes == 4 else 0 :] = 0
    np.testing.assert_array_equal(machine.output(0, LAYOUT)[..., 0], expected)


def test_a_write_that_fails_is_dropped_and_reported_at_the_next_flush() -> None:
    machine = Machine()
    machine.load([move(0, 0, output=0)])
    machine.memory.respond_with_errors(OUTPUT + 16, OUTPUT + 32)
    found = machine.start((0, 0, 3, 0))
    assert list(found[0, 0, :, 3]) == [1, 0, 1, 1]
    error = bus_error(machine, CommandBuffer().set_cond_val(0.0).flush_out_cache())
    assert (error.client, error.address) == (BusClient.OUTPUT, OUTPUT + 16)
    machine.commands(CommandBuffer().flush_out_cache())


def test_a_channel_that_the_format_lacks_is_not_written_and_so_cannot_fail() -> None:
    machine = Machine()
    machine.load([move(0, 0, output=0, rgb_omask=6)])
    machine.memory.respond_with_errors(OUTPUT, OUTPUT + 64)
    machine.start((0, 0, 3, 0), data_format=DataFormat.FLOAT32_1)
    machine.commands(CommandBuffer().flush_out_cache())


@pytest.mark.parametrize("ignored", [False, True])
def test_uncovered_pixels_fetch_nothing_where_they_are_ignored(ignored: bool) -> None:
    machine = Machine()
    machine.load([fetch(ignore_uncovered=ignored), move(0, 1, output=0, tex_sem_wait=1)])
    # The element of the uncovered (1, 0) fails.
    machine.memory.respond_with_errors(INPUT + 16, INPUT + 32)
    if ignored:
        machine.start((0, 0, 0, 0), before=SET_INPUT)
        return
    with pytest.raises(MachineError) as caught:
        machine.start((0, 0, 0, 0), before=SET_INPUT)
    assert (caught.value.status, caught.value.address) == (Status.BUS_ERROR, INPUT + 16)


def test_counters_that_cannot_be_written_are_reported() -> None:
    machine = Machine()
    machine.memory.respond_with_errors(0x5004, 0x5008)
    error = bus_error(machine, CommandBuffer().init_perf_counters(enable=True).read_perf_counters(0x5000))
    assert (error.client, error.address) == (BusClient.COUNTERS, 0x5000)


def test_a_conditional_access_that_fails_fails_the_test() -> None:
    machine = Machine()
    machine.load([move(0, 0, output=0)])
    layout = Layout(width=4, height=1, format=DataFormat.FLOAT32_1)
    before = CommandBuffer().set_cond_out_fmt(0x8000, layout.format_word, 1).set_cond_test(ConditionalTest.EQUAL)
    machine.memory.respond_with_errors(0x8004, 0x8008)
    found = machine.start((0, 0, 3, 0), before=before)
    assert list(found[0, 0, :, 3]) == [1, 0, 1, 1]
    error = bus_error(machine, CommandBuffer().wait_for_idle())
    assert (error.client, error.address) == (BusClient.CONDITIONAL_OUTPUT, 0x8004)


CONSTANT_USERS = {
    FLOATS + 16 * 5: alu(
        rgb_wmask=7, rgb={"addr0": 5, "addr0_const": 1, "rgb_op": RgbOperation.MIN.value, "rgb_addrd": 1}
    ),
    INTS + 4 * 3: flow(inst={"op": 3, "jump_func": 0}, addr={"int_addr": 3, "jump_addr": 2}),
    BOOLS + 4 * 7: flow(inst={"jump_func": 0xAA}, addr={"bool_addr": 7, "jump_addr": 2}),
}


@pytest.mark.parametrize("address", CONSTANT_USERS)
def test_a_constant_that_cannot_be_read_faults_where_it_is_needed_only(address: int) -> None:
    machine = Machine()
    machine.memory.respond_with_errors(address, address + 4)
    machine.load([CONSTANT_USERS[address], move(0, 0), move(0, 0, output=0)])
    with pytest.raises(MachineError) as caught:
        machine.start((0, 0, 1, 1))
    assert (caught.value.status, caught.value.pc, caught.value.address) == (Status.BUS_ERROR, 0, address)
    machine.load([move(0, 0), move(0, 0, output=0)])
    machine.start((0, 0, 1, 1))


@pytest.mark.parametrize("first", [0, 2])
def test_groups_that_leave_a_loop_need_its_step_too_whatever_runs_beside_them(first: int) -> None:
    machine = Machine()
    machine.set_floats(1, 2.0, 0.0, 0.0, 0.0)
    machine.set_int(0, 3)
    machine.memory.respond_with_errors(INTS + 4, INTS + 8)
    # The group of columns 2..3 leaves at the loop's first end, that of 0..1 goes round.
    machine.load([
        compare(1, ZeroTest.GREATER_EQUAL),
        jump(4, 0, op=LOOP, int_addr=0),
        add(1),
        jump(2, NOT_ALU, op=ENDLOOP, jump_any=1, int_addr=1),
        move(0, 0, output=0),
    ])  # fmt: skip
    with pytest.raises(MachineError) as caught:
        machine.start((first, 0, 3, 0))
    assert (caught.value.status, caught.value.pc, caught.value.i) == (Status.BUS_ERROR, 3, first)
    assert caught.value.address == INTS + 4
    assert not machine.output(0, LAYOUT).any()


@pytest.mark.parametrize("write_inactive", [0, 1])
def test_inactive_pixels_fetch_where_they_are_written(write_inactive: int) -> None:
    machine = Machine()
    machine.set_floats(1, 1.0, 0.0, 0.0, 0.0)
    # Column 1 does not enter; its element fails.
    machine.memory.respond_with_errors(INPUT + 16, INPUT + 32)
    machine.load([
        compare(1, ZeroTest.EQUAL),
        begin_if(4, ALU),
        fetch(write_inactive=write_inactive),
        end_if(),
        move(0, 1, output=0, tex_sem_wait=1),
    ])  # fmt: skip
    if not write_inactive:
        machine.start((0, 0, 1, 0), before=SET_INPUT)
        return
    with pytest.raises(MachineError) as caught:
        machine.start((0, 0, 1, 0), before=SET_INPUT)
    assert (caught.value.status, caught.value.pc, caught.value.address) == (Status.BUS_ERROR, 2, INPUT + 16)


@pytest.mark.parametrize("presubtract", Presubtract)
def test_a_presubtract_reads_src1_only_where_it_has_one(presubtract: Presubtract) -> None:
    machine = Machine()
    machine.memory.respond_with_errors(FLOATS + 16 * 9, FLOATS + 16 * 10)
    rgb = {"addr1": 9, "addr1_const": 1, "srcp_op": presubtract.value, "sel_a": 3}
    rgb |= {"red_swiz_b": Swizzle.ONE.value, "red_swiz_c": Swizzle.ZERO.value}
    machine.load([alu(rgb=rgb, type=InstructionType.OUTPUT.value, rgb_omask=1)])
    if presubtract in (Presubtract.BIAS, Presubtract.INV):
        assert machine.start((0, 0, 0, 0))[0, 0, 0, 0] == 1
        return
    with pytest.raises(MachineError) as caught:
        machine.start((0, 0, 0, 0))
    assert (caught.value.status, caught.value.client) == (Status.BUS_ERROR, BusClient.FLOAT_CONSTANT)
