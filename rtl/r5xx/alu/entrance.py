"""The entry of the lanes: what an ALU or OUTPUT instruction brings there, all at once or beat by beat."""

from dataclasses import dataclass
from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import Taken, counted, keep
from ctm.rtl.isa.r5xx.instruction import ALPHA_ADDR, RGB_ADDR
from ctm.rtl.lib.pipeline import delay, delay_held, delay_valid
from ctm.rtl.r5xx.alu.alu import Alu
from ctm.rtl.r5xx.alu.beat_alu import BeatAlu
from ctm.rtl.r5xx.alu.operands import Neighbour, neighbours
from ctm.rtl.r5xx.alu.token import after_entry, at_entry


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """An instruction in the cycle of its sources: its token, and what is decoded for the lanes."""

    token: data.View
    control: data.View


@dataclass(frozen=True, kw_only=True)
class Entered:
    """What enters the lanes in this cycle.

    `valid`: an instruction, of which `first` says that it is the first beat. `free`: a direct instruction may be issued
    in this cycle.
    """

    token: data.View
    valid: Value
    first: Value
    free: Value


def beats_latency(config: ArrayConfig) -> int:
    """Cycles that beats add between an instruction's first source and its last result."""
    return 2 * config.beats - 1 if config.beats > 1 else 0


def enter(m: Module, alu: Alu, taken: Taken, presubtracts: Value, *, read: Instruction, sources: data.View) -> Entered:
    """Give the lanes their operands, all at once, and the token that goes beside."""
    token, cycles = read.token, alu.presubtract_latency
    m.d.comb += [alu.words.eq(token.words), alu.control.eq(read.control), alu.sources.eq(sources)]
    direct_here, presubtracted_here = Signal(), Signal()
    m.d.sync += [direct_here.eq(taken.issue.valid & ~presubtracts), presubtracted_here.eq(presubtracts)]
    m.d.comb += alu.presubtracts.eq(presubtracted_here)
    presubtracted_bits = delay_valid(m, presubtracted_here, cycles)
    entering, valid = Signal.like(token), Signal()
    m.d.comb += [
        entering.eq(
            Mux(
                presubtracted_bits[-1],
                Value.cast(delay(m, token, cycles, name="presubtracted_token")),
                Value.cast(token),
            )
        ),
        valid.eq(direct_here | presubtracted_bits[-1]),
    ]
    # The sources of one that is issued now come two cycles later.
    upcoming = [presubtracts, presubtracted_here, *presubtracted_bits[1:]]
    return Entered(token=entering, valid=valid, first=valid, free=~upcoming[cycles - 1] if cycles else Const(1))


def enter_in_beats(
    m: Module, config: ArrayConfig, alu: BeatAlu, taken: Taken, presubtracts: Value, *,
    complete: Value, read: Instruction, sources: data.View,
) -> Entered:  # fmt: skip
    """Give the lanes their operands beat by beat, and the token that goes beside.

    The first beat enters after the cycle of the last one's sources (`complete`). Then it is decided whether the
    wavefront vacates its wave slot, and src0 of all lanes of the first quad has been read. The instruction stands
    still while its beats enter; until then one that presubtracts waits beside the one in the entry.
    """
    beats, extra = config.beats, alu.presubtract_latency
    direct = delay_valid(m, taken.issue.valid & ~presubtracts, beats)[-1]
    presubtracted = delay_valid(m, presubtracts, beats + extra)
    operations = RGB_ADDR(read.token.words[1]).srcp_op, ALPHA_ADDR(read.token.words[2]).srcp_op
    m.d.comb += [
        alu.sources.eq(sources),
        alu.presubtracts.eq(presubtracted[2]),
        *(
            own.eq(delay(m, value, name="operation"))
            for own, value in zip((alu.rgb, alu.alpha), operations, strict=True)
        ),
    ]

    comes, upcoming = Signal(name="comes"), {}
    m.d.comb += comes.eq(direct | presubtracted[-1])
    beat = counted(m, config, comes)
    begins = comes & (beat == 0)
    held = {}
    for name, value in (("token", at_entry(m, read.token)), ("control", read.control)):
        upcoming[name] = _upcoming(m, config, value, complete, presubtracted[-1], extra, name=name)
        held[name] = keep(m, config, upcoming[name], begins, name=f"entered_{name}")
    words = Signal.like(read.token.words, name="upcoming_words")
    m.d.comb += [
        words.eq(Mux(begins, Value.cast(upcoming["token"].words), Value.cast(held["token"].words))),
        alu.entering.presubtracted.eq(presubtracted[-1]),
        alu.entering.beat.eq(beat),
        *(
            alu.entering.above[half].eq(neighbour == Neighbour.ABOVE)
            for half, neighbour in zip(("rgb", "alpha"), neighbours(m, words), strict=True)
        ),
        alu.words.eq(held["token"].words),
        alu.control.eq(held["control"]),
    ]
    valid, first = Signal(name="enters"), Signal(name="first_enters")
    m.d.sync += [valid.eq(comes), first.eq(begins)]
    free = _lanes_free(m, config, taken, presubtracts, extra)
    return Entered(token=after_entry(m, held["token"]), valid=valid, first=first, free=free)


def _upcoming(
    m: Module, config: ArrayConfig, value: data.View, complete: Value, presubtracted: Value, extra: int, *, name: str
) -> Any:
    """What enters in the next cycle: what has been read, or what was read `extra` cycles ago if it presubtracts."""
    if not extra:
        return value
    waiting = keep(m, config, value, complete, name=f"waiting_{name}")
    # It is taken in one cycle only, up to which the first register may hold it.
    waiting = delay_held(
        m, waiting, delay_valid(m, complete, 1)[-1], max(0, extra - config.beats), held=config.beats, name=name
    )
    upcoming: Any = Signal(value.shape(), name=f"upcoming_{name}")
    m.d.comb += upcoming.eq(Mux(presubtracted, Value.cast(waiting), Value.cast(value)))
    return upcoming


def _lanes_free(m: Module, config: ArrayConfig, taken: Taken, presubtracts: Value, cycles: int) -> Value:
    """Whether a direct instruction that is issued now finds the lanes free in all its beats.

    One that presubtracts takes them `cycles` later than a direct one.
    """
    if not cycles:
        return Const(1)
    beats = config.beats
    before = delay_valid(m, presubtracts & taken.first, cycles + beats - 2)
    # The next instruction is issued after all beats of the one before.
    return ~Cat(before[age - 1] for age in range(max(beats, cycles - beats + 1), cycles + beats)).any()
