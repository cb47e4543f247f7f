"""A component with a core's border that is no core: each wavefront goes to every memory client once.

It proves that the simulation around it works, and with a `Mistake` that the simulation finds it.
"""

from typing import Any

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import enum, wiring

from ctm.rtl.border.clients import LINE_BEATS, ConstantBank, words_layout
from ctm.rtl.border.programs import wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.r5xx.trace import traced_members


class Mistake(enum.Enum, shape=3):
    """What a copier does wrong. A program's watchdog says it, of which there is no other use, if nothing is given."""

    NOTHING = 0
    DROPS_VALID = 1
    CHANGES_PAYLOAD = 2
    NEVER_IDLE = 3
    IDLE_TOO_EARLY = 4
    FETCHES_BEYOND = 5


class Copier(wiring.Component):
    """Copies an element of input 0 to target 0 for each lane, one wavefront after the other.

    It fetches instruction 0, loads float line 0 and tests (value: channel 0 of the element). Target 1 takes
    word 0 of the instruction and of the line's beats 0, 1 and 3, target 2 the lanes that passed. With uncached writes
    the lane's channel 0, inverted, goes to its own position last. An element with an error response is a fault instead.
    """

    def __init__(self, config: ArrayConfig, mistake: Mistake | None = None) -> None:
        self._config, self._given, self._mistake = config, mistake, Signal(Mistake)
        super().__init__(traced_members(config))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lanes = self._config.lanes
        wavefront = Signal(wavefront_layout(lanes))
        instruction, beats = Signal(32), Signal(32 * LINE_BEATS)
        words, passed = Signal(words_layout(lanes)), Signal(lanes)
        beat, invalidates, waited = Signal(range(LINE_BEATS)), Signal(8), Signal(4)
        m.d.comb += self._mistake.eq(self.program.settings.watchdog if self._given is None else self._given)
        m.d.sync += invalidates.eq(invalidates + (self.program.invalidate_code & self.program.invalidate_constants))
        self._trace(m, invalidates)
        self._drive(m, wavefront, words, passed, instruction, beats)

        with m.FSM():
            with m.State("GROUP"):
                m.d.comb += [self.idle.eq(self._mistake != Mistake.NEVER_IDLE), self.wavefront.ready.eq(1)]
                with m.If(self.wavefront.valid):
                    m.d.sync += wavefront.eq(self.wavefront.payload)
                    m.next = "FETCH"
            self._send(m, "FETCH", self.code.request, "FETCHED")
            with m.State("FETCHED"):
                m.d.comb += self.code.response.ready.eq(1)
                with m.If(self.code.response.valid):
                    m.d.sync += instruction.eq(self.code.response.payload.words[0])
                    m.next = "LOAD"
            self._send(m, "LOAD", self.constants.request, "LOADED")
            with m.State("LOADED"):
                m.d.comb += self.constants.response.ready.eq(1)
                with m.If(self.constants.response.valid):
                    m.d.sync += [
                        beats.eq(Cat(beats[32:], self.constants.response.payload.words[0])),
                        beat.eq(beat + 1),
                    ]
                    with m.If(beat == LINE_BEATS - 1):
                        m.next = "LOOK_UP"
            self._send(m, "LOOK_UP", self.fetches.request, "LOOKED_UP")
            with m.State("LOOKED_UP"):
                m.d.comb += self.fetches.response.ready.eq(1)
                with m.If(self.fetches.response.valid):
                    m.d.sync += [words.eq(self.fetches.response.payload.words), waited.eq(0)]
                    m.d.comb += [
                        self.fault.valid.eq(self.fetches.response.payload.error),
                        self.activity.issued.eq(0b010),
                    ]
                    m.next = "TEST"
                    with m.If(self.fetches.response.payload.error):
                        m.next = "GROUP"
            self._send(m, "TEST", self.tests.request, "TESTED")
            with m.State("TESTED"):
                m.d.comb += self.tests.response.ready.eq(1)
                with m.If(self.tests.response.valid):
                    m.d.comb += self.activity.issued.eq(0b101)
                    m.d.sync += passed.eq(self.tests.response.payload.passed)
                    m.next = "SEND0"
            for target in range(3):
                with m.State(f"SEND{target}"):
                    self._offer(m, self.output, waited)
                    m.d.comb += self.output.payload.target.eq(target)
                    with m.If(self.output.ready):
                        m.next = f"SEND{target + 1}"
            with m.State("SEND3"):
                m.next = "GROUP"
                with m.If(self.program.settings.uncached_writes):
                    m.next = "WRITE"
            self._send(m, "WRITE", self.uncached.write, "WRITTEN")
            with m.State("WRITTEN"):
                m.d.comb += [
                    self.uncached.done.ready.eq(1),
                    self.idle.eq(self._mistake == Mistake.IDLE_TOO_EARLY),
                ]
                with m.If(self.uncached.done.valid):
                    m.next = "GROUP"
        return m

    def _trace(self, m: Module, invalidates: Signal) -> None:
        """Drive events; the PC of flow events counts the invalidations of code and constants."""
        m.d.comb += [
            self.trace.start.valid.eq(self.wavefront.valid & self.wavefront.ready),
            self.trace.start.wavefront.eq(self.wavefront.payload),
            self.trace.fetch.valid.eq(self.fetches.response.valid & self.fetches.response.ready),
            self.trace.fetch.context.eq(self.fetches.response.payload.tag.wave),
            self.trace.fetch.words.eq(self.fetches.response.payload.words),
            self.trace.flow.valid.eq(self.tests.response.valid & self.tests.response.ready),
            self.trace.flow.pc.eq(invalidates),
            self.trace.flow.state.active.eq(self.tests.response.payload.passed),
            self.trace.flow.state.frames[2].iterations.eq(0xA5),
        ]

    def _send(self, m: Module, state: str, request: Any, following: str) -> None:
        with m.State(state):
            m.d.comb += request.valid.eq(1)
            with m.If(request.ready):
                m.next = following

    def _offer(self, m: Module, request: Any, waited: Signal) -> None:
        """Offer an output; with a mistake the second cycle of waiting is not as the first."""
        m.d.sync += waited.eq(waited + 1)
        m.d.comb += request.valid.eq(~waited[0] | (self._mistake != Mistake.DROPS_VALID))

    def _drive(self, m: Module, wavefront: Any, words: Any, passed: Any, instruction: Any, beats: Any) -> None:
        """Payloads."""
        lanes = self._config.lanes
        element, toggle = self.output.payload.words, Signal()
        m.d.sync += toggle.eq(~toggle)
        m.d.comb += [
            self.code.request.payload.number.eq(Mux(self._mistake == Mistake.FETCHES_BEYOND, 100, 0)),
            self.constants.request.payload.bank.eq(ConstantBank.FLOAT),
            self.fetches.request.payload.tag.wave.eq(wavefront.i[1:]),
            self.fetches.request.payload.fetch.eq(wavefront.covered),
            self.tests.request.payload.i.eq(wavefront.i),
            self.tests.request.payload.j.eq(wavefront.j),
            self.tests.request.payload.mask.eq(wavefront.covered),
            self.output.payload.i.eq(wavefront.i),
            self.output.payload.j.eq(wavefront.j),
            self.uncached.write.payload.mask.eq(wavefront.covered),
            self.uncached.write.payload.acquires.eq(1),
            self.fault.payload.status.eq(Status.BUS_ERROR),
            self.fault.payload.client.eq(BusClient.INPUT),
            self.fault.payload.pc.eq(3),
            self.fault.payload.i.eq(wavefront.i),
            self.fault.payload.j.eq(wavefront.j),
        ]
        for lane in range(lanes):
            i, j = wavefront.i + (2 * (lane // 4) + lane % 2), wavefront.j + (lane >> 1 & 1)
            m.d.comb += [
                self.fetches.request.payload.x[lane].eq(i),
                self.fetches.request.payload.y[lane].eq(j),
                self.uncached.write.payload.x[lane].eq(i),
                self.uncached.write.payload.y[lane].eq(j),
                self.uncached.write.payload.values[lane].eq(~words[lane][0]),
                self.tests.request.payload["values"][lane].eq(words[lane][0]),
                self.output.payload.mask[lane].eq(wavefront.covered[lane].replicate(4)),
                element[lane].eq(words[lane]),
            ]
            with m.If(self.output.payload.target == 1):
                m.d.comb += element[lane].eq(Cat(instruction, beats[:64], beats[96:]))
            with m.If(self.output.payload.target == 2):
                m.d.comb += element[lane].eq(passed[lane])
            with m.If(toggle & (self._mistake == Mistake.CHANGES_PAYLOAD)):
                m.d.comb += element[lane][0].eq(lane)
