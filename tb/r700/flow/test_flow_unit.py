"""FlowUnit: masks, stack, aL and PC are those of the manual's tables after each CF instruction of a wavefront."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.clients import ConstantBank
from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.r700.flow.unit import FlowUnit
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate
from ctm.tb.r700.flow.random_words import CONSTANTS, draw, spoil, units_of
from ctm.tb.r700.flow.wavefront_model import Constants, StopError, Wavefront, Word

WAVES, SIZE = 4, 8
PROGRAMS = fewer(30)
MOST_WORDS = 40
"""Words that a wavefront executes, at most."""
DEADLINE = 20_000
LINE_BEATS, BEAT_WORDS = 4, 4


@dataclass
class Under:
    """A wavefront in its wave slot: its CF instruction, if begun; the cause of its stop; its state before both.

    It is `elsewhere` while another unit executes its clause.
    """

    model: Wavefront
    base: int
    word: Word | None = None
    stop: str = ""
    elsewhere: bool = False
    before: list[int] = field(default_factory=list)
    depth: int = 0
    active: int = 0


class Bench:
    """The unit, with the code, the constants and the clauses of one program after another."""

    def __init__(self, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        self.config = ArrayConfig(
            instruction_set="r700", wavefront=SIZE, threads=WAVES, temporaries=2048, stack_entries=64
        )
        self.unit: Any = FlowUnit(self.config)
        self.waves: dict[int, Under] = {}
        self.seen: dict[str, int] = {}
        self.cycles = 0

    def _chance(self, probability: float) -> bool:
        return bool(self.draw.random() < probability)

    def _mask(self, within: int, share: float = 0.5) -> int:
        """Some of the pixels of a mask."""
        return within & sum(1 << pixel for pixel in np.flatnonzero(self.draw.random(SIZE) < share).tolist())

    def _program(self) -> None:
        """Another program, and its constants."""
        draw_ = self.draw
        self.words = draw(draw_, int(draw_.integers(10, 30)))
        self.units = [units_of(word) for word in self.words]
        if self._chance(0.2):
            at = int(draw_.integers(len(self.words)))
            self.words[at], self.units[at] = spoil(draw_, self.words[at])
        ints = {
            n: (int(draw_.integers(4)), int(draw_.integers(256)), int(draw_.integers(-128, 128))) for n in CONSTANTS
        }
        bools = {n: self._chance(0.5) for n in CONSTANTS}
        self.constants = Constants(
            ints=ints, bools=bools, error=str(draw_.choice(["", "", "", "", "", "", "INT", "BOOL"]))
        )
        self.space = 4 * int(draw_.choice([1, 2, 3, 16, 16, 16]))
        self.watchdog = int(draw_.choice([7, MOST_WORDS, MOST_WORDS]))
        self.writes: list[dict[str, Any]] = []
        self.loaded = {"INT": 0, "BOOL": 0}
        self.waiting = int(draw_.integers(1, WAVES + 2))

    async def run(self, context: Any) -> None:
        """Execute programs."""
        for _ in range(PROGRAMS):
            self._program()
            program = {
                "start": 0, "size": len(self.words), "stack": self.space, "watchdog": self.watchdog, "memory": 1
            }  # fmt: skip
            context.set(self.unit.program, program)
            while self.waiting or self.waves:
                self.cycles += 1
                assert self.cycles < DEADLINE, "it does not go on"
                await self._cycle(context)

    async def _cycle(self, context: Any) -> None:
        unit = self.unit
        # The unit takes them in this order.
        self._offer_over(context)
        self._offer_start(context)
        self._load(context)
        context.set(unit.alu_clause.ready, self._chance(0.7))
        context.set(unit.fetch_clause.ready, self._chance(0.7))
        context.set(unit.end.ready, self._chance(0.7))
        self._look(context)
        row, reads = context.get(unit.code.row), context.get(unit.code.reads)
        await context.tick()
        hits = bool(reads and self._chance(0.8))
        found = [self._unit(2 * row + half) if hits else 0 for half in range(2)]
        context.set(unit.code.found, {"hit": int(hits), "units": found})

    def _unit(self, at: int) -> int:
        low, high = self.units[at] if at < len(self.units) else (0, 0)
        return low | high << 32

    def _offer_start(self, context: Any) -> None:
        """A wavefront may come to a free wave slot."""
        start = self.unit.start
        free = [wave for wave in range(WAVES) if wave not in self.waves]
        begins = bool(self.waiting and free) and self._chance(0.2)
        context.set(start.valid, begins)
        if not begins:
            return
        wave, base = int(self.draw.choice(free)), int(self.draw.integers(1000))
        model = Wavefront(
            size=SIZE, covered=self._mask((1 << SIZE) - 1, 0.8), words=self.words, constants=self.constants,
            space=self.space, budget=self.watchdog, watched=True,
        )  # fmt: skip
        context.set(start.payload, {"wave": wave, "covered": model.covered, "base": base})
        if context.get(start.ready):
            self.waiting -= 1
            self.waves[wave] = Under(model, base)

    def _offer_over(self, context: Any) -> None:
        """A clause or an export may be over."""
        unit = self.unit
        for port in (unit.alu_outcome, unit.fetch_outcome):
            context.set(port.valid, 0)
        for port, kinds in ((unit.alu_outcome, ("alu",)), (unit.fetch_outcome, ("fetch", "export"))):
            for wave, under in self.waves.items():
                if under.elsewhere and under.word is not None and under.word.starts in kinds and self._chance(0.2):
                    self._finish(context, port, wave)
                    break

    def _finish(self, context: Any, port: Any, wave: int) -> None:
        under = self.waves[wave]
        model, word = under.model, under.word
        assert word is not None
        budget = max(0, model.budget - int(self.draw.integers(3)))
        payload: dict[str, Any] = {"wave": wave, "budget": budget}
        cleared, valid_mask = 0, model.valid_mask
        if word.starts == "alu":
            cleared = self._mask(model.active, 0.4) if self._chance(0.6) else 0
            valid_mask = model.valid_mask & ~self._mask(model.active, 0.02)
            payload |= {"branch_mask": model.branch_mask & ~cleared, "valid_mask": valid_mask, "cleared": cleared}
        stops = self._chance(0.01)
        if stops:
            payload["problem"] = {"status": Status.ILLEGAL_INSTRUCTION, "address": 77}
        context.set(port.valid, 1)
        context.set(port.payload, payload)
        if not context.get(port.ready):
            context.set(port.valid, 0)
            return
        under.elsewhere, under.word = False, None
        model.budget, model.valid_mask, model.branch_mask = budget, valid_mask, model.branch_mask & ~cleared
        if stops:
            under.stop = "given"
            return
        self._then(under, lambda: model.go_on(word, cleared))
        if word.ends and not under.stop:
            under.stop = "over"

    @staticmethod
    def _then(under: Under, act: Any) -> None:
        """Have the model do something, which may stop it."""
        try:
            act()
        except StopError as stop:
            under.stop = str(stop)

    def _load(self, context: Any) -> None:
        """Constants come when they are missed."""
        constants = self.unit.constants
        writes = bool(self.writes) and self._chance(0.5)
        context.set(constants.write.valid, 0)
        context.set(constants.int_loaded, self.loaded["INT"])
        context.set(constants.bool_loaded, self.loaded["BOOL"])
        if writes:
            write = self.writes.pop(0)
            context.set(constants.write, {"valid": 1, **write})
            if write["beat"] == LINE_BEATS - 1:
                self.loaded[write["bank"].name] |= 1 << write["line"]
        elif context.get(constants.miss.valid) and not self.writes:
            for wanted in context.get(constants.miss.lines):
                if wanted.needed:
                    self._miss(ConstantBank(wanted.bank), wanted.line)

    def _miss(self, bank: ConstantBank, line: int) -> None:
        assert not self.loaded[bank.name] >> line & 1, "it has what it misses"
        for beat in range(LINE_BEATS):
            numbers = range((line * LINE_BEATS + beat) * BEAT_WORDS, (line * LINE_BEATS + beat + 1) * BEAT_WORDS)
            ints = [self.constants.ints.get(n, (0, 0, 0)) for n in numbers]
            found = [count | start << 8 | (step & 0xFF) << 16 for count, start, step in ints]
            if bank is ConstantBank.BOOL:
                found = [int(self.constants.bools.get(n, False)) for n in numbers]
            error = self.constants.error == bank.name
            self.writes.append({"bank": bank, "line": line, "beat": beat, "words": found, "error": error})

    def _look(self, context: Any) -> None:
        """Compare what is shown in this cycle."""
        unit = self.unit
        if context.get(unit.issued.valid):
            self._begin(context)
        for port, kinds in ((unit.alu_clause, ("alu",)), (unit.fetch_clause, ("fetch", "export"))):
            if context.get(port.valid) and context.get(port.ready):
                self._hand_over(context.get(port.payload), kinds)
        if context.get(unit.end.valid) and context.get(unit.end.ready):
            self._end(context.get(unit.end.payload))

    def _begin(self, context: Any) -> None:
        """A word begins: everything must be as the one before left it."""
        shown = context.get(self.unit.trace.instruction)
        under, state = self.waves[shown.wave], shown.state
        model = under.model
        assert not under.elsewhere and not under.stop, f"executes after {under.stop or 'a clause'}"
        at = model.word
        self._then(under, lambda: self._start(under))
        names = ("pc", "branch_mask", "continue_mask", "break_mask", "valid_mask", "index", "covered", "depth")
        found = [state[name] for name in names]
        assert found == [at, *under.before, model.covered, under.depth], f"{names}: {at}, {self.words[at]}"
        assert (state.base, context.get(self.unit.issued.active)) == (under.base, under.active)
        if under.stop or under.word is None:
            return
        word = under.word
        self.seen[word.name] = self.seen.get(word.name, 0) + 1
        self._then(under, lambda: self._execute(under, word))

    def _start(self, under: Under) -> None:
        """The state before the word, and the word."""
        model = under.model
        under.before = [model.branch_mask, model.continue_mask, model.break_mask, model.valid_mask, model.index]
        under.depth, under.active = model.depth, model.active
        under.word = model.begin()
        assert under.word is not None, "executes although no pixel is valid"

    @staticmethod
    def _execute(under: Under, word: Word) -> None:
        if not under.model.execute(word):
            under.word = None
            if word.ends:
                under.stop = "over"

    def _hand_over(self, payload: Any, kinds: tuple[str, ...]) -> None:
        under = self.waves[payload.wave]
        model, word = under.model, under.word
        assert word is not None and not under.stop and word.starts in kinds, "hands over what it should not"
        passing = model.passing(word)
        if word.starts != "export":
            assert (payload.begin, payload.end) == (word.addr, word.addr + word.units), word
        assert (payload.loop_index, payload.base, payload.budget) == (model.index, under.base, model.budget)
        if word.starts == "alu":
            inside = model.all & ~model.continue_mask & ~model.break_mask
            assert payload.inside == inside
            assert (payload.branch_mask, payload.valid_mask) == (model.branch_mask, model.valid_mask)
            assert bool(payload.whole) == word.whole_quads
            assert [(each.line, each.lines, each.problem) for each in payload.kcache] == [(5, 2, 0), (7, 1, 0)]
        else:
            quads = [0xF << first for first in range(0, SIZE, 4)]
            wide = sum(quad for quad in quads if quad & passing) if word.whole_quads else passing
            assert (payload.executing, payload.active) == (wide, model.active), word
            assert (payload.covered, payload.valid_mask) == (model.covered, model.valid_mask)
            assert bool(payload.exports) == (word.starts == "export")
            assert payload.exports or bool(payload.textures) == word.name.startswith("TEX")
            assert payload.unit == self._unit(model.word)
        under.elsewhere = True

    def _end(self, payload: Any) -> None:
        under = self.waves.pop(payload.wave)
        model = under.model
        assert under.word is None or under.stop, "ends in a word"
        if not under.stop:
            # The next word is not begun.
            self._then(under, lambda: self._start_of_nothing(model))
        problem, word = payload.problem, payload.pc
        self.seen[under.stop] = self.seen.get(under.stop, 0) + 1
        if under.stop in ("", "over"):
            assert Status(problem.status) is Status.OK
            assert payload.valid_mask == model.valid_mask
        elif under.stop == "given":
            assert (Status(problem.status), problem.address) == (Status.ILLEGAL_INSTRUCTION, 77)
        else:
            error = under.stop in BusClient.__members__
            assert Status(problem.status) is (Status.BUS_ERROR if error else Status[under.stop]), under.stop
            assert not error or BusClient(problem.client) is BusClient[under.stop]
            assert (problem.address, word) == (0, model.word)

    @staticmethod
    def _start_of_nothing(model: Wavefront) -> None:
        assert model.begin() is None, "ends too early"


SEEN = 31
"""Words and reasons to stop that a run should have met."""


def check(seed: int) -> dict[str, int]:
    """Programs of a seed; how often each word was executed, and each reason to stop met."""
    bench = Bench(seed)
    simulate(bench.unit, bench.run)
    return bench.seen


def compare() -> None:
    """As many as find every planted mistake."""
    for seed in range(1, 13):
        check(seed)


@pytest.mark.slow
def test_words_do_what_the_tables_say() -> None:
    seen = check(1)
    assert len(seen) > SEEN, seen


@pytest.mark.long
@pytest.mark.parametrize("seed", range(13, 53))
def test_many_more_programs(seed: int) -> None:
    check(seed)
