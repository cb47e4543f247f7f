"""How long the command processor takes, and what its counters count."""

from collections.abc import Callable
from functools import cache

import pytest

from ctm.rtl.isa.commands import BY_NAME
from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.sim.runtime import CommandBuffer
from ctm.tb.pe.processor_cases import ON_LANES, PROGRAM, program, run
from ctm.tb.pe.simulation import Outcome, Timing

COUNTERS = 0x4000_0000
START_CYCLES = 6
"""From an idle array to the first wavefront that is offered."""
HELD = 2
"""Cycles that the model's array holds a wavefront at least."""
UNTESTED = CommandBuffer().set_cond_loc(ConditionalLocation.DPP)
SET_VALUE = [BY_NAME["set_cond_val"].word, 0]


def quickly(buffer: CommandBuffer | list[int], lanes: int = 4, **timing: int) -> Outcome:
    return run(buffer, lanes=lanes, timing=Timing(**timing))


@ON_LANES
def test_a_program_starts_six_cycles_after_the_one_before(lanes: int) -> None:
    outcome = quickly([*UNTESTED.words, *program(0, 0, 1, 1).start_program().start_program().words], lanes)
    wavefronts = outcome.times_of("wavefront")
    assert [after - before - HELD for before, after in zip(wavefronts, wavefronts[1:], strict=False)] == [
        START_CYCLES
    ] * 2
    assert [
        start - wavefront - HELD for start, wavefront in zip(outcome.times_of("starts")[1:], wavefronts, strict=False)
    ] == [START_CYCLES - 2] * 2


@pytest.mark.parametrize("location", ConditionalLocation)
@ON_LANES
def test_a_wavefront_is_given_in_each_cycle_tested_or_not(lanes: int, location: ConditionalLocation) -> None:
    buffer = CommandBuffer().set_cond_loc(location)
    times = quickly([*buffer.words, *program(1, 1, 99, 20).words], lanes).times_of("wavefront")
    assert len(times) > 100
    assert times[-1] - times[0] == len(times) - 1


@cache
def cycles_of(commands: int, latency: int) -> int:
    """Cycles from the take of a buffer of so many set_cond_val to its end."""
    outcome = quickly(SET_VALUE * commands, latency=latency)
    return outcome.times_of("consumed")[0] - outcome.times_of("buffer")[0]


@pytest.mark.parametrize("latency", [0, 50, 100])
def test_a_word_is_taken_in_each_cycle(latency: int) -> None:
    assert cycles_of(1000, latency) - cycles_of(200, latency) == 2 * 800
    assert cycles_of(1, latency) < 20 + latency


def test_eight_lines_are_prefetched_and_no_more_than_the_buffer_has() -> None:
    assert quickly(SET_VALUE * 1000, latency=200).most_lines == 8
    assert quickly(SET_VALUE * 24, latency=100).most_lines == 3
    assert quickly(SET_VALUE * 3, latency=100).most_lines == 1


def counted(fill: Callable[[CommandBuffer], object], **timing: int) -> tuple[Outcome, list[tuple[int, int]]]:
    """Clocks and active clocks of each read_perf_counters of a buffer."""
    buffer = CommandBuffer().set_inst_fmt(PROGRAM).set_domain(0, 0, 9, 9)
    fill(buffer)
    outcome = quickly(buffer, **timing)
    return outcome, [(clocks, active) for _, clocks, active in outcome.values_of("counters")]


def test_clocks_are_counted_from_start_to_stop() -> None:
    for commands in (0, 1, 20):

        def fill(buffer: CommandBuffer, commands: int = commands) -> None:
            buffer.init_perf_counters(enable=True).start_perf_counters()
            buffer.words += SET_VALUE * commands
            buffer.stop_perf_counters().read_perf_counters(COUNTERS)

        assert counted(fill)[1] == [(2 + 2 * commands, 0)]


def test_active_clocks_are_those_in_which_the_array_works() -> None:
    def fill(buffer: CommandBuffer) -> None:
        buffer.init_perf_counters(enable=True).start_perf_counters().start_program().wait_for_idle()
        buffer.stop_perf_counters().read_perf_counters(COUNTERS)

    for hold in (0, 30):
        outcome, ((clocks, active),) = counted(fill, hold=hold, latency=10)
        assert 25 <= active == outcome.busy < clocks < outcome.cycles


def test_the_counters_go_on_beside_a_program() -> None:
    def fill(buffer: CommandBuffer) -> None:
        buffer.init_perf_counters(enable=True).start_program()
        buffer.words += SET_VALUE * 20
        buffer.start_perf_counters().read_perf_counters(COUNTERS).stop_perf_counters().read_perf_counters(
            COUNTERS + 2048
        )

    outcome, ((first, active), (then, active_then)) = counted(fill, hold=50)
    assert 0 < active < outcome.busy
    assert active == active_then
    assert first < then


def test_start_clears_stop_stops_and_disabled_nothing_happens() -> None:
    def fill(buffer: CommandBuffer) -> None:
        def read() -> None:
            buffer.read_perf_counters(COUNTERS)

        buffer.start_perf_counters()
        read()
        buffer.init_perf_counters(enable=True)
        read()
        buffer.start_perf_counters().stop_perf_counters()
        read()
        buffer.start_perf_counters().stop_perf_counters()
        read()
        buffer.start_perf_counters().init_perf_counters(enable=False).start_perf_counters().stop_perf_counters()
        read()
        buffer.init_perf_counters(enable=True)
        read()
        read()
        buffer.start_perf_counters().init_perf_counters(enable=True)
        read()
        read()

    _, reads = counted(fill)
    assert reads[:5] == [(0, 0), (2, 0), (2, 0), (2, 0), (2, 0)]
    assert 2 < reads[5][0] < reads[6][0]
