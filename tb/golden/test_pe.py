"""Command processor: commands, their errors, conditional execution, persistence of state."""

import numpy as np
import pytest

from ctm.rtl.isa.commands import BY_WORD, COMMANDS, Command
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.sim.runtime import CommandBuffer, Layout
from ctm.tb.r5xx.machine import BUFFER, OUTPUT, PROGRAM, Machine, move

COPY_INDEX = [move(0, 0, output=0)]
"""A program that stores r0 = (i, j, 0, 1)."""


def error_of(machine: Machine, words: list[int]) -> MachineError:
    with pytest.raises(MachineError) as caught:
        machine.commands(words)
    return caught.value


def parameters(count: int) -> list[int]:
    return [0] * count


@pytest.mark.parametrize("domain", [(0, 0, 6, 4), (1, 1, 5, 3), (3, 2, 3, 2), (0, 0, 0, 0), (2, 1, 9, 1)])
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_the_program_runs_once_for_every_pair_of_the_domain(domain: tuple[int, int, int, int], lanes: int) -> None:
    machine = Machine(lanes=lanes)
    machine.load(COPY_INDEX)
    i0, j0, i1, j1 = domain
    (found,) = machine.start(domain)
    expected = np.zeros((j1 + 1, i1 + 1, 4), np.float32)
    for j in range(j0, j1 + 1):
        for i in range(i0, i1 + 1):
            expected[j, i] = (i, j, 0, 1)
    np.testing.assert_array_equal(found, expected)


def test_groups_are_walked_as_whole_quads_of_one_quad_row() -> None:
    # Columns 1..9 touch the quads 0, 2, 4, 6, 8; rows 3..4 the quad rows 2 and 4. With 8 lanes a group has two quads.
    machine = Machine(lanes=8)
    machine.load(COPY_INDEX)
    machine.start((1, 3, 9, 4))
    assert machine.counters.wavefronts == 2 * 3
    assert machine.counters.instructions == 6
    assert machine.counters.lane_instructions == 48


@pytest.mark.parametrize("domain", [(5, 0, 4, 0), (0, 5, 0, 4)])
def test_an_empty_domain_does_nothing_and_is_no_error(domain: tuple[int, int, int, int]) -> None:
    machine = Machine()
    machine.commands(CommandBuffer().set_inst_fmt(PROGRAM).set_domain(*domain).start_program())
    assert machine.counters.instructions == 0


def test_a_word_that_is_no_command_stops_the_buffer() -> None:
    machine = Machine()
    error = error_of(machine, [0xC0000600, 0x3F800000, 0xC0001D00, 0, 0xC0030700, 1, 2, 3, 4])
    assert (error.status, error.address, error.word) == (Status.BAD_COMMAND, BUFFER + 8, 0xC0001D00)
    assert machine.model.state.conditional_value == 0x3F800000
    assert machine.model.state.domain.i0 == 0


@pytest.mark.parametrize("word", [0xC0010300, 0xC0000700, 0x00000800, 0xC0000801, 0xC0001E00])
def test_a_command_word_must_match_exactly(word: int) -> None:
    assert word not in BY_WORD
    assert error_of(Machine(), [word, 0]).status is Status.BAD_COMMAND


@pytest.mark.parametrize("words", [[0xC0010200, 1], [0xC0000200, 1]])
def test_both_spellings_of_an_inconsistent_header_take_one_parameter(words: list[int]) -> None:
    machine = Machine()
    machine.commands([*words, 0xC0000600, 7])
    assert machine.model.state.counters_enabled
    assert machine.model.state.conditional_value == 7


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_is_truncated_at_every_parameter(command: Command) -> None:
    for given in range(command.length - 1):
        error = error_of(Machine(), [0xC0000900, 0, command.word, *parameters(given)])
        assert (error.status, error.address, error.word) == (Status.TRUNCATED, BUFFER + 8, command.word)


@pytest.mark.parametrize(
    ("words", "index"),
    [
        ([0xC0030B00, 0, 0, 0x05000000, 0], 3),
        ([0xC0030B00, 0, 0, 0x07000000, 0], 3),
        ([0xC0030C00, 4, 0, 0, 0], 1),
        ([0xC0030C00, 15, 0, 0x06000000, 0], 1),
        ([0xC0030C00, 3, 0, 0x06000000, 0], 3),
        ([0xC0020D00, 0, 0x05000000, 0], 2),
        ([0xC0010A00, 0, 4], 2),
        ([0xC0010E00, 0, 0x00010000], 2),
        ([0xC0010F00, 0, 0x00030000], 2),
        ([0xC0011000, 0, 0x00010000], 2),
    ],
)
def test_a_parameter_that_is_not_allowed_is_named_and_changes_nothing(words: list[int], index: int) -> None:
    machine = Machine()
    before = repr(machine.model.state)
    error = error_of(machine, words)
    assert (error.status, error.address, error.word) == (Status.BAD_PARAMETER, BUFFER + 4 * index, words[index])
    assert repr(machine.model.state) == before


def test_the_address_of_a_bad_parameter_wraps_as_the_buffer_does() -> None:
    machine = Machine()
    words = np.array([0xC0030C00, 4, 0, 0, 0], "<u4").tobytes()
    machine.memory.write(0xFFFF_FFFC, words[:4])
    machine.memory.write(0, words[4:])
    with pytest.raises(MachineError) as caught:
        machine.model.run(0xFFFF_FFFC, 5)
    assert (caught.value.status, caught.value.address, caught.value.word) == (Status.BAD_PARAMETER, 0, 4)


def test_reserved_bits_are_ignored() -> None:
    machine = Machine()
    machine.commands([0xC0030B00, 0xFFFFFFF3, 0x12345FFF, 0xFCFCE003 | 0x04020040, 0xFFFFE005])
    buffer = machine.model.state.inputs[3]
    assert (buffer.base, buffer.pitch, buffer.height) == (0x12345800, 64, 5)
    machine.commands([0xC0030700, 0xFFFFF001, 0xFFFFF002, 0xFFFFF003, 0xFFFFF004])
    assert machine.model.state.domain.__dict__ == {"i0": 1, "j0": 2, "i1": 3, "j1": 4}
    machine.commands([0xC0001900, 0xFFFFFFF5, 0xC0001A00, 0xFFFFFFFE, 0xC0001B00, 0xFFFFFFF9, 0xC0001C00, 0xFFFFFFFE])
    state = machine.model.state
    assert state.output_mask == (True, False, True, False)
    assert not state.conditional.write_enabled
    assert state.conditional.test is ConditionalTest.LESS
    assert state.conditional.location is ConditionalLocation.DPP
    # Of a constant's format word only the tiling counts, and the 2x2 form of linear is linear.
    machine.commands([0xC0010E00, 0x1000, 0x07FC0000 & ~0x00010000 | 0x00020000])


def test_the_next_buffer_runs_after_an_error() -> None:
    machine = Machine()
    machine.load(COPY_INDEX)
    error_of(machine, [0])
    assert machine.start((0, 0, 1, 1))[0, 1, 1, 1] == 1.0


def test_performance_counters_are_written_as_two_zero_words_if_enabled() -> None:
    machine = Machine()
    machine.memory.write(0x5000, b"\xaa" * 16)
    machine.commands(CommandBuffer().start_perf_counters().stop_perf_counters().read_perf_counters(0x5000))
    assert machine.memory.read(0x5000, 16) == b"\xaa" * 16
    machine.commands(CommandBuffer().init_perf_counters(enable=True).read_perf_counters(0x57FF))
    assert machine.memory.read(0x5000, 16) == bytes(8) + b"\xaa" * 8


def test_the_program_is_loaded_again_only_when_it_is_set_or_invalidated() -> None:
    machine = Machine()
    machine.load(COPY_INDEX)
    machine.start((0, 0, 0, 0))
    machine.memory.write(PROGRAM, b"not a program")
    machine.commands(CommandBuffer().start_program())
    for command in (CommandBuffer().inv_inst_cache(), CommandBuffer().set_inst_fmt(PROGRAM)):
        error = error_of(machine, [*command.words, *CommandBuffer().start_program().words])
        assert (error.status, error.address, error.word) == (
            Status.BAD_EXECUTABLE,
            BUFFER + 4 * len(command.words),
            0xC0000800,
        )


def conditional(test: ConditionalTest, value: float, location: ConditionalLocation, *, write: bool) -> CommandBuffer:
    layout = Layout(width=8, height=2, format=DataFormat.FLOAT32_1)
    buffer = CommandBuffer().set_cond_out_fmt(0x8000, layout.format_word, 2).set_cond_test(test)
    return buffer.set_cond_loc(location).set_cond_val(value).set_cond_out_mask(enable=write)


@pytest.mark.parametrize("location", ConditionalLocation)
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_pairs_whose_test_fails_store_nothing_and_others_update_the_buffer(
    location: ConditionalLocation, lanes: int
) -> None:
    machine = Machine(lanes=lanes)
    machine.load(COPY_INDEX)
    depth = np.arange(16, dtype=np.float32).reshape(2, 8)
    machine.memory.write(0x8000, depth.tobytes())
    (found,) = machine.start((0, 0, 7, 1), before=conditional(ConditionalTest.LESS, 5.0, location, write=True))
    passed = depth > 5.0
    np.testing.assert_array_equal(found[..., 3], passed.astype(np.float32))
    stored = np.frombuffer(machine.memory.read(0x8000, 64), np.float32).reshape(2, 8)
    np.testing.assert_array_equal(stored, np.where(passed, 5.0, depth))


def test_conditional_execution_issues_no_group_whose_pairs_all_fail() -> None:
    machine = Machine()
    machine.load(COPY_INDEX)
    machine.memory.write(0x8000, np.array([1, 1, 9, 9, 1, 1, 9, 1] + [1] * 8, "<f4").tobytes())
    machine.start((0, 0, 7, 1), before=conditional(ConditionalTest.LESS, 5.0, ConditionalLocation.PE, write=False))
    assert machine.counters.wavefronts == 2


@pytest.mark.parametrize("location", ConditionalLocation)
def test_a_conditional_buffer_of_another_format_is_an_error_when_it_is_touched(location: ConditionalLocation) -> None:
    machine = Machine()
    machine.load(COPY_INDEX)
    wrong = CommandBuffer().append("set_cond_out_fmt", 0x8000, Layout(
        width=8, height=2, format=DataFormat.FLOAT32_2).format_word, 2).set_cond_loc(location)  # fmt: skip
    machine.start((0, 0, 1, 1), before=wrong)
    with pytest.raises(MachineError) as caught:
        machine.start((0, 0, 1, 1), before=wrong.set_cond_test(ConditionalTest.EQUAL))
    assert caught.value.status is Status.BAD_CONDITIONAL_FORMAT


def test_output_mask_enables_channels_of_all_outputs() -> None:
    machine = Machine()
    machine.load([move(0, 0, output=0, type=1), move(0, 0, output=1)])
    mask = CommandBuffer().set_out_mask(red=False, blue=False)
    first, second = machine.start((1, 1, 1, 1), outputs=2, before=mask)
    assert list(first[1, 1]) == list(second[1, 1]) == [0, 1, 0, 1]


def test_writes_outside_the_output_are_dropped() -> None:
    machine = Machine()
    machine.load(COPY_INDEX)
    layout = Layout(width=4, height=2, format=DataFormat.FLOAT32_4)
    machine.commands(
        CommandBuffer().set_inst_fmt(PROGRAM).set_out_fmt(0, OUTPUT, layout.format_word, 2)
        .set_domain(0, 0, 9, 5).start_program()
    )  # fmt: skip
    words = machine.memory.view(np.uint32)[OUTPUT // 4 : OUTPUT // 4 + 4096]
    assert words[: 4 * 8].any()
    assert not words[4 * 8 :].any()


def test_the_reset_state_runs_nothing_and_writes_nothing() -> None:
    machine = Machine()
    state = machine.model.state
    assert state.output_mask == (True,) * 4
    assert not state.conditional.write_enabled
    assert state.conditional.test is ConditionalTest.ALWAYS
    assert state.conditional.location is ConditionalLocation.PE
    error = error_of(machine, CommandBuffer().start_program().words)
    assert error.status is Status.BAD_EXECUTABLE
