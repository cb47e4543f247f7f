"""The entry of the lanes: what an ALU or OUTPUT instruction brings there, all at once or beat by beat."""

from typing import Any

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import Taken, keep
from ctm.rtl.isa.limits import QUAD
from ctm.rtl.lib.pipeline import delay, delay_valid
from ctm.rtl.r5xx.alu.alu import Alu


def beats_latency(config: ArrayConfig) -> int:
    """Cycles that beats add between an instruction's first source and its last result."""
    return 2 * config.beats - 1 if config.beats > 1 else 0


def enter(
    m: Module, config: ArrayConfig, alu: Alu, taken: Taken, *,
    complete: Value, token: data.View, control: data.View, sources: Any,
) -> data.View:  # fmt: skip
    """Give the lanes their operands, and the token that goes beside.

    With several beats the first one enters after the cycle of the last one's sources (`complete`). Then it is decided
    whether the wavefront vacates its wave slot, and src0 of all lanes of the first quad has been read.
    """
    beats = config.beats
    delayed_sources = [sources]
    if beats > 1:
        token, control = (
            keep(m, config, value, complete, name=name) for name, value in (("entered", token), ("control", control))
        )
        for _ in range(beats):
            delayed_sources.append(delay(m, delayed_sources[-1], name="sources"))
    m.d.comb += [alu.words.eq(token.words), alu.control.eq(control), alu.sources.eq(delayed_sources[-1])]
    if config.at_once < QUAD:
        quad = Signal(alu.quad.shape(), name="quad", reset_less=True)
        slices = QUAD // config.at_once
        begins = delay(m, taken.beat, beats, name="beat")[: (slices - 1).bit_length()] == 0
        for index, word in enumerate(quad):
            number, lane = divmod(index, config.at_once)
            with m.If(begins):
                m.d.sync += Value.cast(word).eq(delayed_sources[beats - 1 - number][lane][0])
        m.d.comb += alu.quad.eq(quad)
    return token


def arrivals(m: Module, config: ArrayConfig, taken: Taken, presubtracts: Value) -> tuple[Signal, Signal]:
    """Whether sources are at the entry in this cycle: of a direct instruction, and of one that presubtracts."""
    direct_here, presubtracted_here = Signal(), Signal()
    direct = taken.issue.valid & ~presubtracts
    if config.beats > 1:
        bits = delay_valid(m, Cat(direct, presubtracts), config.beats)[-1]
        direct, presubtracts = bits[0], bits[1]
    m.d.sync += [direct_here.eq(direct), presubtracted_here.eq(presubtracts)]
    return direct_here, presubtracted_here


def lanes_free(m: Module, config: ArrayConfig, taken: Taken, presubtracts: Value, cycles: int) -> Value:
    """Whether a direct instruction that is issued now finds the lanes free in all its beats.

    One that presubtracts takes them `cycles` later than a direct one.
    """
    beats = config.beats
    before = delay_valid(m, presubtracts & taken.first, cycles + beats - 2)
    return ~Cat(before[age - 1] for age in range(max(1, cycles - beats + 1), cycles + beats)).any()
