"""The lock-step comparison is worth something: mistakes in the core are found, and named."""

import pytest

from ctm.rtl.config import DEFAULT
from ctm.tb.lib.planting import Fault, planted
from ctm.tb.r5xx.lockstep import PROGRAMS, TIMINGS, check_cases
from ctm.tb.r5xx.simulation.simulation import CoreSimulation

FAULTS = {
    "the stack is popped on a jump": Fault(
        "rtl.r5xx.flow.control", "pops = Mux(jumps, breaks, ends)", "pops = Mux(jumps, ends, breaks)"
    ),
    "WRITE_INACTIVE counts for the ALU result": Fault(
        "rtl.r5xx.alu.writeback", "Mux(common.alu_result_sel, strict[SCALAR], strict[0])",
        "Mux(common.alu_result_sel, free[SCALAR], free[0])",
    ),
    "aL is not added to a constant's address": Fault(
        "rtl.r5xx.alu.sources", "index.eq(address + Mux(relative, self.loop_index, 0))", "index.eq(address)"
    ),
    "the alpha unit's temporaries are the RGB unit's": Fault(
        "rtl.dpp.registers.file", "for address in self.sources.addresses[field])",
        "for address in self.sources.addresses[0])",
    ),
    "temporaries that do not exist are read": Fault(
        "rtl.dpp.registers.placement", "return number <= self._highest", "return number <= self._highest + 1"
    ),
    "the semaphore is free too early": Fault(
        "rtl.dpp.memory.scoreboard", "Mux(texture & self.texture.acquires, following,",
        "Mux(texture & self.texture.acquires, pending,",
    ),
    "a fetch's result is not swizzled": Fault(
        "rtl.dpp.memory.fetch_return", "held.words[lane][found.swizzle[channel]]", "held.words[lane][channel]"
    ),
    "uncovered pixels are fetched for and written": Fault(
        "rtl.r5xx.texture.port", "uncovered_too = (~inst.ignore_uncovered)", "uncovered_too = (~inst.unscaled)"
    ),
    "operands of an instruction that presubtracts are those of another": Fault(
        "rtl.r5xx.alu.alu", "stage.presubtracts.eq(delay_valid(m, self.presubtracts, cycles)[-1])",
        "stage.presubtracts.eq(self.presubtracts)",
    ),
    "one temporary is not cleared": Fault(
        "rtl.dpp.registers.file", "rows.eq((1 << (1 << n)) - 1)", "rows.eq((1 << (1 << n)) - 1 - (2 if n else 0))",
    ),
    "words that were not written keep another wavefront's contents": Fault(
        "rtl.dpp.registers.file", "(enable | written.is_fresh.replicate(width))", "enable",
    ),
    "killed pixels send outputs": Fault(
        "rtl.dpp.wavefronts.retirement", "stores = state.covered & state.valid_mask & passed",
        "stores = state.covered & passed",
    ),
    "LAST ends a wavefront that has inactive pixels": Fault(
        "rtl.r5xx.alu.port", "all_active = ~(wavefront.covered & wavefront.valid_mask & ~wavefront.active).any()",
        "all_active = Value.cast(1)",
    ),
    "a wavefront vacates its wave slot while its fetches are outstanding": Fault(
        "rtl.dpp.wavefronts.scheduler", "is_alone = self.outstanding.drained & ~self.wave_slots.faulted",
        "is_alone = ~self.wave_slots.faulted",
    ),
    "a wavefront that has vacated its wave slot writes temporaries of the next one": Fault(
        "rtl.r5xx.alu.port", "keeps_wave = valid & ~token.again & ~token.error & ~token.vacated",
        "keeps_wave = valid & ~token.again & ~token.error",
    ),
    "a wavefront that has vacated its wave slot writes predicates of the next one": Fault(
        "rtl.r5xx.alu.writes", "keeps_wave & last if self._array.beats > 1 else keeps_wave)", "effective)"
    ),
    "a wavefront may execute one instruction more": Fault(
        "rtl.dpp.wavefronts.watchdog", "(following == self.most)", "(following == self.most + 1)"
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_found_and_named(name: str) -> None:
    with planted(FAULTS[name], "ctm.rtl.r5xx.core") as core:
        simulation = CoreSimulation(DEFAULT, core.Core(DEFAULT))
    with pytest.raises(AssertionError, match=r"^seed \d+, 4 lanes"):
        check_cases(simulation, range(2 * PROGRAMS), TIMINGS)


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_can_still_be_made(name: str) -> None:
    with planted(FAULTS[name], "ctm.rtl.r5xx.core"):
        pass
