"""The compiled command processor against the golden one: commands, their errors, domains, faults, resets."""

import pytest

from ctm.rtl.isa.commands import BY_NAME, COMMANDS, Command
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer
from ctm.tb.pe.checking import check
from ctm.tb.pe.processor_cases import (
    BUFFER,
    CASES,
    LONG_CASES,
    ON_LANES,
    TIMINGS,
    check_cases,
    check_resets,
    compiled,
    program,
    run,
    work,
)
from ctm.tb.pe.simulation import Fault, Loss, Outcome, Timing


def statuses(outcome: Outcome) -> list[Status]:
    return [Status(values[0]) for values in outcome.values_of("error")]


def number_of_cases(request: pytest.FixtureRequest) -> int:
    return LONG_CASES if request.config.getoption("--long") else CASES


@ON_LANES
def test_random_streams(lanes: int, request: pytest.FixtureRequest) -> None:
    check_cases(compiled(lanes), range(number_of_cases(request)))


@pytest.mark.slow
@ON_LANES
def test_a_reset_in_any_cycle_leaves_nothing(lanes: int, request: pytest.FixtureRequest) -> None:
    check_resets(compiled(lanes), range(number_of_cases(request)))


def test_a_reset_in_each_cycle_of_a_buffer_leaves_nothing() -> None:
    first = work(program(1, 1, 9, 5).set_cond_val(2.0).start_program().wait_for_idle(), memory=(shared := Memory()))
    then = work(
        CommandBuffer().set_domain(0, 0, 1, 1).init_perf_counters(enable=True), [], memory=shared, address=2 * BUFFER
    )
    cycles = compiled(4).run(first, TIMINGS["far"]).cycles
    assert cycles > 500
    for cut in range(1, cycles):
        compiled(4).run(first, TIMINGS["far"], cut=cut)
        check(compiled(4), then, Timing(), f"reset in cycle {cut}")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_buffer_may_end_anywhere_in_a_command(command: Command) -> None:
    empty = CommandBuffer().set_domain(1, 0, 0, 0).words
    whole = [*empty, command.word, *[0] * len(command.parameters), 0xC0001900, 5]
    for given in range(len(whole) + 1):
        for address in (BUFFER, BUFFER + 56, BUFFER + 60):
            outcome = run(whole[:given], address=address)
            is_whole = given in (0, len(empty), len(empty) + command.length, len(whole))
            assert statuses(outcome) == ([] if is_whole else [Status.TRUNCATED])


@pytest.mark.parametrize("index", range(40))
def test_an_error_is_reported_at_the_command_that_needs_the_line(index: int) -> None:
    commands = [word for number in range(4) for word in (0xC0030700, 0, 0, 0, number, 0xC0000600, number)]
    lines = [BUFFER // 64 + line for line in range(4)]
    for line in lines:
        run(commands, [], address=BUFFER + 4 * index, error_lines=[(line, line + 1)], timing=TIMINGS["stalls"])
    # After an error other errors of memory do not matter.
    commands[3] = 0xFFFF_FFFF
    assert statuses(run([0, *commands], error_lines=[(lines[1], lines[2])])) == [Status.BAD_COMMAND]


@pytest.mark.parametrize("bit", range(32))
def test_every_command_word_with_one_wrong_bit_has_error_or_another_command(bit: int) -> None:
    known = {word for command in COMMANDS for word in command.words}
    for word in known:
        outcome = run([word ^ 1 << bit, *[0] * 4])
        assert (word ^ 1 << bit in known) or statuses(outcome) == [Status.BAD_COMMAND]


def test_the_first_wrong_parameter_is_reported_unless_a_later_one_cannot_be_read() -> None:
    words = [0xC0030C00, 4, 0, 0x0600_0000, 0]
    assert run(words).values_of("error") == [(Status.BAD_PARAMETER.value, 0, BUFFER + 4, 4, 0, 0, 0)]
    across, line = BUFFER + 52, BUFFER // 64
    outcome = run(words, address=across, error_lines=[(line + 1, line + 2)])
    assert outcome.values_of("error") == [(Status.BUS_ERROR.value, 0, across, 0, 0, 0, 0)]


@pytest.mark.parametrize("name", [command.name for command in COMMANDS if "format" in command.parameters])
def test_every_format_word_is_taken_or_illegal(name: str) -> None:
    command = BY_NAME[name]
    index = 1 + list(command.parameters).index("format")
    for code in range(8):
        for tiling in range(4):
            words = [command.word, *[0] * len(command.parameters)]
            words[index] = code << 24 | tiling << 16
            run(words)


DOMAINS = [
    (0, 0, 0, 0), (1, 1, 1, 1), (0, 0, 1, 4095), (3, 0, 3, 4095), (0, 0, 4095, 0), (1, 4095, 4094, 4095),
    (4095, 4095, 4095, 4095), (4094, 4093, 4095, 4095), (4089, 1, 4095, 2), (3, 5, 30, 9), (0, 0, 63, 33), (7, 3, 8, 4),
    (6, 2, 17, 2), (5, 0, 4, 9), (0, 9, 9, 8), (4095, 0, 0, 4095),
]  # fmt: skip


@pytest.mark.parametrize("tested", [False, True])
@pytest.mark.parametrize("domain", DOMAINS)
@ON_LANES
def test_a_domain_is_walked_wavefront_by_wavefront(lanes: int, domain: tuple[int, ...], tested: bool) -> None:
    test = ConditionalTest.LESS if tested else ConditionalTest.ALWAYS
    location = ConditionalLocation.PE if tested else ConditionalLocation.DPP
    before = CommandBuffer().set_cond_test(test).set_cond_loc(location).set_cond_val(1.5)
    outcome = run([*before.words, *program(*domain).words], lanes=lanes, salt=77)
    i0, j0, i1, j1 = domain
    assert outcome.values_of("walked") == [((i1 - i0 + 1) * (j1 - j0 + 1),)] * (i0 <= i1 and j0 <= j1)


def test_a_program_whose_tests_all_fail_gives_no_wavefront_and_ends() -> None:
    buffer = CommandBuffer().set_cond_test(ConditionalTest.LESS)
    walked = []
    for salt in range(40):
        outcome = run([*buffer.words, *program(5, 5, 5, 5).words], salt=salt)
        walked.append(len(outcome.values_of("wavefront")))
        assert outcome.values_of("walked") == [(1,)]
    assert set(walked) == {0, 1}


def test_an_empty_domain_loads_nothing() -> None:
    outcome = run(CommandBuffer().set_inst_fmt(0x5000).set_domain(1, 0, 0, 0).start_program())
    assert statuses(outcome) == []
    assert outcome.values_of("image") == []


def fault(number: int = 0, status: Status = Status.STACK, **settings: int) -> Fault:
    values = {"program": number, "wavefront": 1, "client": 3, "pc": 17, "i": 40, "j": 50, "address": 0xABC0}
    return Fault(**{**values, "status": status.value, **settings})


BESIDE = CommandBuffer().set_domain(8, 8, 20, 20).set_cond_val(9.0).init_perf_counters(enable=False)


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("status", [Status.STACK, Status.BUS_ERROR])
@pytest.mark.parametrize("following", [[], [0], [0xC0000800], CommandBuffer().set_out_mask().words])
def test_commands_after_a_program_that_faults_count_as_not_executed(
    status: Status, timing: str, following: list[int]
) -> None:
    first = CommandBuffer().set_cond_val(3.0).init_perf_counters(enable=True)
    again = CommandBuffer().start_program().wait_for_idle().read_perf_counters(0x4000_0000)
    words = [*first.words, *program(0, 0, 9, 5).words, *BESIDE.words, *following]
    outcome = run(words, again, faults=[fault(status=status)], timing=TIMINGS[timing])
    assert statuses(outcome) == [status]
    assert outcome.values_of("starts") == [(0x4040_0000,)] * 2
    assert outcome.values_of("walked") == [(60,)] * 2
    assert len(outcome.values_of("counters")) == 1


def test_the_first_fault_wins_and_the_last_program_of_a_buffer_counts() -> None:
    faults = [fault(1, wavefront=0, pc=1), fault(1, wavefront=1, pc=2), fault(1, wavefront=9, pc=3)]
    buffer = program(0, 0, 9, 5).start_program()
    outcome = run(buffer, buffer, faults=faults, timing=Timing(hold=0, latency=3))
    assert [values[4] for values in outcome.values_of("error")] == [1]


@pytest.mark.parametrize("timing", TIMINGS)
def test_what_is_lost_is_reported_once_by_the_next_command_that_reports(timing: str) -> None:
    def loss(at_flush: bool, address: int) -> Loss:
        return Loss(at_flush=at_flush, number=0, client=BusClient.OUTPUT.value, address=address)

    start = program(0, 0, 5, 5)
    for report in ("wait_for_idle", "flush_out_cache", "flush_cond_out_cache"):
        last = [BY_NAME[report].word, 0]
        outcome = run([*start.words, *last], [*last, *last], losses=[loss(False, 0x1230)], timing=TIMINGS[timing])
        assert outcome.values_of("error") == [(Status.BUS_ERROR.value, BusClient.OUTPUT.value, 0x1230, 0, 0, 0, 0)]
    flush = CommandBuffer().wait_for_idle().flush_out_cache().wait_for_idle()
    outcome = run(flush, flush, losses=[loss(True, 0x50)], timing=TIMINGS[timing])
    assert [values[2] for values in outcome.values_of("error")] == [0x50]


def test_the_program_is_loaded_again_only_when_it_is_set_or_invalidated_or_could_not_be_loaded() -> None:
    start = program(0, 0, 0, 0)
    assert len(run([*start.words, *start.words[-2:]], start.words[-2:]).values_of("image")) == 1
    assert len(run(start, CommandBuffer().inv_inst_cache().start_program()).values_of("image")) == 2
    assert len(run(start, start).values_of("image")) == 2
    assert (
        statuses(run(CommandBuffer().start_program(), CommandBuffer().start_program())) == [Status.BAD_EXECUTABLE] * 2
    )


def test_a_buffer_of_no_words_is_consumed_at_once() -> None:
    outcome = run([], [], [])
    taken, consumed = outcome.times_of("buffer"), outcome.times_of("consumed")
    assert [after - before for before, after in zip(taken, consumed, strict=True)] == [4] * 3
    assert outcome.most_lines == 0
