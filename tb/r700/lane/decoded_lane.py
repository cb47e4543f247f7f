"""A lane with the decoders of its slots, so that tests give instructions and compare their results."""

from typing import Any

from amaranth import Fragment, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.function_table import share_tables
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.alu import OutputModifier
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, VECTOR_SLOTS
from ctm.rtl.lib.clock_gating import ClockGating
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r700.border.lane import GROUP_OPERANDS, INDEX, SLOT_OPERANDS, LaneControl
from ctm.rtl.r700.code.slot_control import CODE_BITS, SlotDecoder
from ctm.rtl.r700.lane.lane import Lane

INSTRUCTION = data.StructLayout(
    {
        "code": CODE_BITS,
        "three_operands": 1,
        "absolute": 2,
        "negate": SLOT_OPERANDS,
        "omod": OutputModifier,
        "clamp": 1,
    }
)


class DecodedLane(wiring.Component):
    """A lane; `latency` is the lane's. `gated`: its units are gated, and its inputs are registered, as gating demands.

    Members
    -------
    instructions : ``In(ArrayLayout(INSTRUCTION, 5))``
    dx10_clamp : ``In(1)``
    operands : ``In(GROUP_OPERANDS)``
    words : ``Out(ArrayLayout(32, 5))``
    indices : ``Out(ArrayLayout(INDEX, 4))``
    predicate : ``Out(1)``
    kill : ``Out(5)``
    """

    instructions: In(data.ArrayLayout(INSTRUCTION, GROUP_SLOTS))
    dx10_clamp: In(1)
    operands: In(GROUP_OPERANDS)
    words: Out(data.ArrayLayout(WORD_BITS, GROUP_SLOTS))
    indices: Out(data.ArrayLayout(INDEX, VECTOR_SLOTS))
    predicate: Out(1)
    kill: Out(GROUP_SLOTS)

    def __init__(self, config: PipelineConfig, *, gated: bool = False) -> None:
        self._lane: Any = Lane(config)
        self._gated = gated
        self.latency = self._lane.latency + int(gated)
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lane = self._lane
        platform = ClockGating() if self._gated else None
        m.submodules.lane = Fragment.get(lane, platform)
        lane.gate_together(m, platform, lane.control)
        share_tables(m, [lane.functions])
        control: Any = Signal(LaneControl)
        m.d.comb += control.dx10_clamp.eq(self.dx10_clamp)
        for number in range(GROUP_SLOTS):
            m.submodules[f"decoder_{number}"] = decoder = SlotDecoder()
            instruction: Any = self.instructions[number]
            m.d.comb += [
                *(getattr(decoder, name).eq(getattr(instruction, name)) for name, _ in INSTRUCTION),
                control.slots[number].eq(decoder.control),
            ]
        m.d.comb += [
            lane.operands.eq(delay(m, self.operands, int(self._gated))),
            lane.control.eq(delay(m, control, int(self._gated))),
            self.words.eq(lane.results.words),
            self.indices.eq(lane.results.indices),
            self.predicate.eq(lane.results.predicate),
            self.kill.eq(lane.results.kill),
        ]
        return m
