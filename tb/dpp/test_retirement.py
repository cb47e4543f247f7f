"""Retirement: wavefronts at their end, tested and not, against their expected outputs."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.outputs import OutputSizes
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.retirement import Retirement
from ctm.rtl.isa.limits import CHANNELS, OUTPUTS, QUAD
from ctm.rtl.isa.word import unpack
from ctm.tb.dpp.instruction_sets import SHAPES
from ctm.tb.lib.some import fewer, pairs
from ctm.tb.lib.streams import STALLS, Sink, Source, simulate

WAVEFRONTS = fewer(50)
WORD = 32
PROGRAM_VALUE = 0x3FC00000


def joined(values: Any, bits: int) -> int:
    return sum(int(value) << bits * index for index, value in enumerate(values))


def mask_of(bits: np.ndarray) -> int:
    return joined(bits, 1)


def pair_of(position: dict[str, int], lane: int) -> tuple[int, int]:
    """The pair of a lane: quads lie beside each other."""
    return position["i"] + 2 * (lane // QUAD) + lane % 2, position["j"] + lane % QUAD // 2


class Wavefront:
    """A wavefront at its end: its position, lanes, output registers [target, lane, channel] and conditional values."""

    def __init__(self, generator: np.random.Generator, lanes: int) -> None:
        self.position = {"i": 2 * int(generator.integers(1 << 12)), "j": int(generator.integers(1 << 12))}
        self.faulted = bool(generator.random() < 0.2)
        self.covered, self.valid_mask, self.given, self.passed = generator.random((4, lanes)) < 0.7
        share = generator.choice([0, 0.5, 1], OUTPUTS)
        self.written = generator.random((OUTPUTS, lanes, CHANNELS)) < share[:, None, None]
        self.words = generator.integers(0, 1 << 32, self.written.shape, np.uint32)
        self.values = generator.integers(0, 1 << 32, lanes, np.uint32)

    def test(self, value: int) -> dict[str, int]:
        """The request to the conditional unit, where lanes that gave no value have `value`."""
        values = np.where(self.given, self.values, np.uint32(value))
        mask = mask_of(self.covered & self.valid_mask)
        return {**self.position, "mask": mask, "values": joined(values, WORD)}

    @property
    def targets(self) -> int:
        """Output registers that are sent."""
        return 0 if self.faulted else int(self.written.any((1, 2)).sum())

    def outputs(self, tested: bool) -> list[tuple[int, ...]]:
        """Stored words, each with its target, pair and channel, lane by lane."""
        stores = self.covered & self.valid_mask & (self.passed if tested else True) & (not self.faulted)
        found = np.argwhere(self.written & stores[:, None]).tolist()
        return [
            (target, *pair_of(self.position, lane), channel, int(self.words[target, lane, channel]))
            for target, lane, channel in found
        ]


class Bench:
    """The component, the memories that it reads and the wavefronts in it."""

    def __init__(self, config: ArrayConfig, shapes: Shapes, stall: float) -> None:
        self.config, self.unit = config, Retirement(OutputSizes.of(config), shapes)
        self.generator = generator = np.random.default_rng(config.lanes)
        self.in_beats = config.beats > 1
        self.tests, self.output = (
            Sink(port, generator, stall) for port in (self.unit.tester.request, self.unit.output)
        )
        self.responses = Source(self.unit.tester.response, generator, stall)
        self.made = 0
        self.tested: list[Wavefront] = []
        self.released: list[Wavefront] = []
        """In their order: those that vacated their wave slots may come before others."""
        self._inside: dict[int, Wavefront] = {}
        """The wavefronts inside by their contexts."""
        self._asked: tuple[np.ndarray, np.ndarray] | None = None
        """Words and conditional values whose address was read in the previous cycle."""
        self._states = [Wavefront(generator, config.lanes) for _ in range(2 * config.threads)]

    def _read(self, context: Any) -> None:
        """Drive the wavefront states and the output registers; words come a cycle after their address."""
        unit = self.unit
        if self._asked:
            words, values = self._asked
            context.set(Value.cast(unit.outputs.words), joined(words.ravel(), WORD))
            context.set(Value.cast(unit.conditional.values), joined(values, WORD))
        tested, begun = (
            self._states[context.get(bank)] for bank in (unit.conditional.context, unit.outputs.next_context)
        )
        for port, wavefront in ((unit.tested_state, tested), (unit.state, begun)):
            context.set(port.i, wavefront.position["i"])
            context.set(port.j, wavefront.position["j"])
            context.set(port.covered, mask_of(wavefront.covered))
            context.set(port.valid_mask, mask_of(wavefront.valid_mask))
        context.set(unit.conditional.written, mask_of(tested.given))
        context.set(Value.cast(unit.outputs.written), mask_of(begun.written.ravel()))

    def _ask(self, context: Any) -> None:
        """Record the words that are read, which depend on whether an output is taken."""
        unit, rate = self.unit, self.config.at_once
        tested, sent = (self._states[context.get(bank)] for bank in (unit.conditional.context, unit.outputs.context))
        beats = (context.get(unit.outputs.beat), context.get(unit.conditional.beat)) if self.in_beats else (0, 0)
        own, tested_own = (slice(rate * beat, rate * (beat + 1)) for beat in beats)
        self._asked = sent.words[context.get(unit.outputs.target), own], tested.values[tested_own]

    def _offer(self, context: Any, share: float) -> None:
        """Offer a wavefront, one that has vacated its wave slot, or both."""
        unit, ended = self.unit, self.unit.ended.wavefront
        for port, is_ready in ((ended, context.get(unit.ended.ready)), (unit.vacated, 1)):
            free = [bank for bank in range(len(self._states)) if bank not in self._inside]
            offers = bool(free and self.made < WAVEFRONTS and is_ready and self.generator.random() < share)
            context.set(port.valid, offers)
            if not offers:
                continue
            bank, wavefront = int(self.generator.choice(free)), Wavefront(self.generator, self.config.lanes)
            context.set(port.context, bank)
            if port is ended:
                context.set(port.faulted, wavefront.faulted)
            wavefront.faulted &= port is ended
            self._states[bank] = self._inside[bank] = wavefront
            self.made += 1

    def _check_release(self, context: Any) -> None:
        release = self.unit.release
        if context.get(release.valid):
            wavefront = self._inside.pop(context.get(release.context))
            assert context.get(release.faulted) == wavefront.faulted
            self.released.append(wavefront)
            # Its outputs are accepted: the next program may change their buffers.
            sent = self.config.beats * sum(released.targets for released in self.released)
            assert len(self.output.received) >= sent

    async def step(self, context: Any, share: float) -> None:
        """One cycle, in which a wavefront comes with a probability of `share`."""
        self._read(context)
        self._offer(context, share)
        asked, tested = len(self.tests.received), self._states[context.get(self.unit.conditional.context)]
        for end in (self.tests, self.output, self.responses):
            end.drive(context)
        self._ask(context)
        for end in (self.tests, self.output, self.responses):
            end.finish(context)
        if len(self.tests.received) > asked:
            self.tested.append(tested)
            self.responses.waiting.append(mask_of(tested.passed))
        self._check_release(context)
        await context.tick()

    def sent(self) -> list[tuple[int, ...]]:
        """Stored words, in the form of `Wavefront.outputs`."""
        layout = self.unit.output.payload.shape()
        result: list[tuple[int, ...]] = []
        for payload in self.output.received:
            output = unpack(layout, payload)
            for index in range(self.config.at_once * CHANNELS):
                if output["mask"] >> index & 1:
                    lane, channel = divmod(index, CHANNELS)
                    word = output["words"] >> WORD * index & 0xFFFFFFFF
                    result.append((output["target"], *pair_of(output, lane), channel, word))
        return result


PROGRAMS = {
    "no tests": {"tests": 0, "conditional_from_program": 0},
    "values of the program": {"tests": 1, "conditional_from_program": 1},
    "values of the PE": {"tests": 1, "conditional_from_program": 0},
}


@pytest.mark.parametrize(("core", "stall"), pairs((("r5xx", 4), ("r5xx", 1), ("invented", 2)), STALLS))
@pytest.mark.parametrize("share", [1.0, 0.05])
@pytest.mark.parametrize("name", PROGRAMS)
def test_random_wavefronts(core, name, share, stall):
    (instruction_set, rate), program = core, PROGRAMS[name]
    config = ArrayConfig(rate=rate, threads=16, temporaries=128)
    bench = Bench(config, SHAPES[instruction_set], stall)

    async def testbench(context: Any) -> None:
        context.set(bench.unit.program, {**program, "conditional_value": PROGRAM_VALUE})
        await context.tick()
        for _ in range(100 * config.beats * WAVEFRONTS):
            await bench.step(context, share)
            if len(bench.released) == WAVEFRONTS:
                break
        for _ in range(5):
            await bench.step(context, 0)

    simulate(bench.unit, testbench)
    assert len(bench.released) == WAVEFRONTS
    value = 0 if program["conditional_from_program"] else PROGRAM_VALUE
    tested = [wavefront for wavefront in bench.released if program["tests"] and not wavefront.faulted]
    assert bench.tested == tested
    layout = bench.unit.tester.request.payload.shape()
    assert [unpack(layout, payload) for payload in bench.tests.received] == [
        wavefront.test(value) for wavefront in tested
    ]
    assert bench.sent() == [
        output for wavefront in bench.released for output in wavefront.outputs(bool(program["tests"]))
    ]
