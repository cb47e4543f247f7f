"""Hazard reports: each rule, and that what the rules allow is not reported."""

import pytest

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r5xx.opcodes import TextureOperation, UmrtTarget, ZeroTest
from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.r5xx.machine import OUTPUT, Instruction, Machine, alu, move, tex
from ctm.tb.r5xx.statements import begin_if, begin_loop, compare, end_if, end_loop, fetch, predicate

LAYOUT = Layout(width=8, height=8, format=DataFormat.FLOAT32_4)
PLAIN = {"tex_sem_wait": 0}
BOUND = CommandBuffer().set_inp_fmt(0, 0x100000, LAYOUT.format_word, 8)


def hazards(program: list[Instruction], *, before: CommandBuffer = BOUND, **information: int) -> str:
    """What is reported of a program; the output is appended. Empty where nothing is."""
    machine = Machine(hazards=True)
    machine.set_int(0, 2)
    machine.load([*program, move(0, 0, output=0, tex_sem_wait=1)], **information)
    try:
        machine.start((0, 0, 7, 7), before=before)
    except MachineError as error:
        assert error.status is Status.HAZARD
        return error.detail
    return ""


def independent_fetch(destination: int, *, source: int = 0, acquire: int = 0, wait: int = 0) -> Instruction:
    """A fetch with semaphore bits as given."""
    addr = {"src_addr": source, "src_t_swiz": 1, "dst_addr": destination}
    inst = {"inst": TextureOperation.LOOKUP.value, "unscaled": 1, "tex_sem_acquire": acquire}
    return tex(inst=inst, addr=addr, rgb_wmask=7, tex_sem_wait=wait)


def test_a_fetch_must_be_waited_for_before_its_result_is_read_or_overwritten() -> None:
    taken = independent_fetch(1, acquire=1, wait=1)
    assert "pc 1: reads r1.r, which a fetch has not delivered" in hazards([taken, move(2, 1)])
    assert "pc 1: overwrites r1.g" in hazards([taken, move(1, 0)])
    assert "pc 1: reads r1.r" in hazards([taken, independent_fetch(2, source=1)])
    assert "pc 1: overwrites r1.r" in hazards([taken, independent_fetch(1)])
    assert not hazards([taken, move(2, 1, tex_sem_wait=1)])
    # Alpha was not looked up.
    assert not hazards([taken, move(2, 1, rgb_wmask=0)])


def test_waiting_helps_only_after_an_acquire_that_covers_the_fetch() -> None:
    assert "reads r1" in hazards([independent_fetch(1), move(2, 1, tex_sem_wait=1)])
    assert not hazards([independent_fetch(1), independent_fetch(2, acquire=1, wait=1), move(3, 1, tex_sem_wait=1)])
    overtaken = [independent_fetch(2, acquire=1, wait=1), independent_fetch(1), move(3, 1, tex_sem_wait=1)]
    assert "pc 2: reads r1" in hazards(overtaken)


def test_a_second_acquire_must_wait() -> None:
    assert "acquires the texture semaphore" in hazards(
        [independent_fetch(1, acquire=1), independent_fetch(2, acquire=1)]
    )
    assert not hazards([independent_fetch(1, acquire=1), independent_fetch(2, acquire=1, wait=1)])


def test_fetches_of_one_wavefront_may_overwrite_each_others_sources() -> None:
    group = [move(1, 0), independent_fetch(2, source=1), independent_fetch(1, source=0, acquire=1, wait=1)]
    assert not hazards([*group, move(3, 1, tex_sem_wait=1)])


def presubtracted(source: int) -> Instruction:
    """r3.r = (1 - r[source].r) * 1."""
    rgb = {"addr0": source, "srcp_op": 3, "sel_a": 3, "red_swiz_b": 6, "red_swiz_c": 4, "rgb_addrd": 3}
    return alu(rgb=rgb, rgb_wmask=1)


def test_presubtract_needs_a_nop_after_the_write_of_its_source() -> None:
    assert "pc 1: needs r1.r early" in hazards([move(1, 0), presubtracted(1)])
    assert not hazards([move(1, 0, nop=1), presubtracted(1)])
    assert not hazards([move(1, 0), move(2, 0), presubtracted(1)])
    assert not hazards([move(1, 0, rgb_wmask=6), presubtracted(1)])


def test_derivatives_need_a_nop_after_the_write_of_their_source() -> None:
    step = alu(rgb={"addr0": 1, "rgb_op": 11, "red_swiz_b": 6, "rgb_addrd": 3}, rgb_wmask=1)
    assert "needs r1.r early" in hazards([move(1, 0), step])
    assert not hazards([move(1, 0, nop=1), step])
    # Operand B is read as in any other operation.
    factor = alu(rgb={"addr0": 2, "addr1": 1, "sel_b": 1, "rgb_op": 11, "rgb_addrd": 3}, rgb_wmask=1)
    assert not hazards([move(1, 0), factor])


def test_flow_control_waits_for_the_alu() -> None:
    def branch(**fields: int) -> Instruction:
        instruction = begin_if(3, has_else=False, **fields)
        return (instruction[0] & ~(1 << 10), *instruction[1:])

    assert "set ALU_WAIT" in hazards([compare(0, ZeroTest.EQUAL), branch(), end_if()])
    assert "set ALU_WAIT" in hazards([predicate(0, ZeroTest.EQUAL), branch(function=0x33, rgb_pred_sel=2), end_if()])
    assert not hazards([compare(0, ZeroTest.EQUAL), begin_if(3), end_if()])
    assert not hazards([compare(0, ZeroTest.EQUAL), branch(function=0x55), end_if()])


def test_the_alu_result_does_not_survive_flow_control() -> None:
    program = [compare(0, ZeroTest.EQUAL), begin_if(5), begin_if(4), end_if(), end_if()]
    assert "pc 2: uses the ALU result" in hazards(program)
    renewed = [compare(0, ZeroTest.EQUAL), begin_if(6), compare(0, ZeroTest.EQUAL), begin_if(5), end_if(), end_if()]
    assert not hazards(renewed)


def test_what_is_outstanding_is_remembered_round_a_loop() -> None:
    # The second iteration reads the first one's fetch.
    program = [begin_loop(4), move(2, 1), independent_fetch(1, acquire=1, wait=1), end_loop(1)]
    assert "pc 1: reads r1.r" in hazards(program)


def test_reads_of_what_another_pixel_writes_are_reported() -> None:
    own = CommandBuffer().set_inp_fmt(0, OUTPUT, LAYOUT.format_word, 8)
    assert not hazards([fetch()], before=own)
    # Swapped coordinates: (j, i).
    swapped = fetch(swizzle={"src_s_swiz": 1, "src_t_swiz": 0})
    assert "which another pixel of the program writes" in hazards([swapped], before=own)
    assert not hazards([swapped])


def test_uncached_reads_after_writes_need_an_acquiring_write_and_a_wait() -> None:
    layout = Layout(width=8, height=8, format=DataFormat.FLOAT32_1)

    def found(target: UmrtTarget, wait: int) -> str:
        machine = Machine(hazards=True)
        read = fetch(TextureOperation.LOOKUP_UNCACHED, destination=2, tex_sem_wait=wait)
        machine.load(
            [move(0, 1, output=target.value, tex_sem_wait=1), read, move(0, 0, tex_sem_wait=1)], uncached_writes=True
        )
        commands = CommandBuffer().set_inst_fmt(0x10000).set_out_fmt(0, OUTPUT, layout.format_word, 8)
        commands.set_inp_fmt(0, 0x200000, layout.format_word, 8)
        try:
            machine.commands(commands.set_domain(0, 0, 0, 0).start_program())
        except MachineError as error:
            return error.detail
        return ""

    assert "reads uncached while a write is outstanding" in found(UmrtTarget.PER_PROCESSOR_IDX, 1)
    assert "reads uncached while a write is outstanding" in found(UmrtTarget.PER_PROCESSOR_IDX_ACQUIRE, 0)
    assert not found(UmrtTarget.PER_PROCESSOR_IDX_ACQUIRE, 1)
    assert not found(UmrtTarget.SAME_IDX_ACQUIRE, 1)


@pytest.mark.parametrize("target", UmrtTarget)
def test_only_an_acquiring_write_waits_for_the_fetch_that_it_stores(target: UmrtTarget) -> None:
    layout = Layout(width=8, height=8, format=DataFormat.FLOAT32_1)
    machine = Machine(hazards=True)
    machine.load(
        [independent_fetch(1, acquire=1), *[move(0, 1, output=target.value)] * 2, move(0, 0)], uncached_writes=True
    )
    commands = CommandBuffer().set_inst_fmt(0x10000).set_out_fmt(0, OUTPUT, layout.format_word, 8)
    commands.set_inp_fmt(0, 0x200000, layout.format_word, 8).set_domain(0, 0, 0, 0).start_program()
    if target in (UmrtTarget.SAME_IDX_ACQUIRE, UmrtTarget.PER_PROCESSOR_IDX_ACQUIRE):
        machine.commands(commands)
        return
    with pytest.raises(MachineError, match="reads r1.r, which a fetch has not delivered"):
        machine.commands(commands)


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_results_do_not_change_when_hazards_are_watched(lanes: int) -> None:
    machine = Machine(lanes=lanes, hazards=True)
    machine.load([move(0, 0, output=0)])
    assert machine.start((0, 0, 4, 4))[0, 4, 4].tolist() == [4, 4, 0, 1]
