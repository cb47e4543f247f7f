"""ClauseEnds: a clause ends when its wave slot is drained, with its last budget and its first problem."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.r700.fetch.ends import ClauseEnds
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

CONFIG = ArrayConfig(instruction_set="r700", threads=4, lookups=8)
CLAUSES, CYCLES, INSTRUCTIONS = fewer(80), 1500, 16
Problem = tuple[Status, BusClient, int]
FINE = Status.OK, BusClient.COMMAND, 0


@dataclass(kw_only=True)
class Clause:
    """A clause of a wave slot: its first address, fetches in flight by their instructions, and how it ends."""

    begin: int
    fetches: list[int]
    number: int = 0
    """The instruction that is executed."""
    is_executed: bool = False
    budget: int = 0
    error: Problem | None = None
    """Of the first error response."""
    problem: Problem = FINE
    """Of the last micro-op."""


class Bench:
    """Clauses of all wave slots, whose micro-ops, responses and outcomes come in random cycles."""

    def __init__(self, seed: int, stall: float) -> None:
        self.unit: Any = ClauseEnds(CONFIG)
        self.draw, self.stall = np.random.default_rng(seed), stall
        self.clauses: dict[int, Clause] = {}
        self.ends: list[Problem] = []

    def _chance(self, probability: float) -> bool:
        return bool(self.draw.random() < probability)

    def _begin(self, context: Any, wave: int) -> None:
        """Begin a clause in a wave slot that has none."""
        begins = wave not in self.clauses and self._chance(0.5)
        clause = Clause(begin=2 * int(self.draw.integers(1000)), fetches=[])
        context.set(self.unit.begins, {"valid": begins, "wave": wave, "address": clause.begin})
        if begins:
            self.clauses[wave] = clause

    def _execute(self, context: Any, wave: int) -> None:
        """Execute a micro-op; one with a problem only if no fetch is in flight, as `FetchControl` does."""
        clause, draw = self.clauses.get(wave), self.draw
        executes = clause is not None and not clause.is_executed and self._chance(0.5)
        executed = {"valid": executes, "wave": wave, "ends": self._chance(0.2), "budget": int(draw.integers(1 << 32))}
        problem = Status.ILLEGAL_INSTRUCTION, BusClient.INSTRUCTION, int(draw.integers(1 << 13))
        if clause is None or clause.fetches or self._chance(0.8):
            problem = FINE
        fields = dict(zip(("status", "client", "address"), problem, strict=True))
        context.set(self.unit.executed, executed | {"problem": fields})
        if clause is None or not executes:
            return
        last = clause.number == INSTRUCTIONS - 1
        context.set(self.unit.executed.ends, executed["ends"] or last)
        clause.is_executed = bool(executed["ends"]) or last or problem is not FINE
        clause.budget, clause.problem = executed["budget"], problem
        clause.fetches += [clause.number] * int(draw.integers(3)) if problem is FINE else []
        clause.number += 1

    def _respond(self, context: Any, wave: int) -> None:
        """Respond to the oldest fetch of a wave slot."""
        clause = self.clauses.get(wave)
        responds = clause is not None and bool(clause.fetches) and self._chance(0.5)
        instruction, error = int(self.draw.integers(INSTRUCTIONS)), responds and self._chance(0.15)
        if clause is not None and responds:
            address = clause.begin + 2 * clause.fetches.pop(0)
            instruction = address // 2 % INSTRUCTIONS
            if error and clause.error is None:
                clause.error = Status.BUS_ERROR, BusClient.INPUT, address
        context.set(self.unit.error, {"valid": error, "wave": wave, "instruction": instruction})

    async def run(self, context: Any) -> None:
        """Compare the outcome of each cycle, before what happens in the cycle has an effect."""
        unit = self.unit
        offered: tuple[int, int, Problem] | None = None
        for _ in range(CYCLES):
            executed = {wave: clause for wave, clause in self.clauses.items() if clause.is_executed}
            settled = [not (wave in self.clauses and self.clauses[wave].fetches) for wave in range(CONFIG.threads)]
            drained = [is_settled and not self._chance(self.stall) for is_settled in settled]
            context.set(unit.drained, sum(1 << wave for wave, is_drained in enumerate(drained) if is_drained))
            ready = not self._chance(self.stall)
            context.set(unit.outcome.ready, ready)
            for happens in (self._respond, self._execute, self._begin):
                happens(context, int(self.draw.integers(CONFIG.threads)))
            ending = [wave for wave in sorted(executed) if drained[wave]]
            assert context.get(unit.waits) == bool(executed)
            assert context.get(unit.outcome.valid) == (offered is not None)
            is_free = offered is None
            if offered is not None:
                outcome = context.get(unit.outcome.payload)
                found = Status(outcome.problem.status), BusClient(outcome.problem.client), outcome.problem.address
                assert (outcome.wave, outcome.budget, found) == offered
                if ready:
                    self.ends.append(found)
                    offered = None
            if is_free and ending:
                clause = self.clauses.pop(ending[0])
                offered = ending[0], clause.budget, clause.error or clause.problem
            await context.tick()


def check(seed: int, stall: float) -> None:
    """Clauses of wave slots that are not drained, and outcomes that are not accepted, in a share `stall` of cycles."""
    bench = Bench(seed, stall)
    simulate(bench.unit, bench.run)
    assert len(bench.ends) > CLAUSES
    assert {status for status, _, _ in bench.ends} == {Status.OK, Status.BUS_ERROR, Status.ILLEGAL_INSTRUCTION}


def compare() -> None:
    """What the ordinary suite compares."""
    for seed, stall in enumerate((0, 0.5)):
        check(seed, stall)


@pytest.mark.slow
def test_clauses_end_with_their_first_problem() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_more_clauses(seed: int) -> None:
    check(seed, (0, 0.3, 0.8)[seed % 3])
