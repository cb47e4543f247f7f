"""A core's trace, for comparison with the golden model. A design that does not connect it has no logic of it."""

from typing import Any

from amaranth import Cat, Module, Value
from amaranth.lib import data
from amaranth.lib.wiring import Member, Out

from ctm.rtl.border.clients import words_layout
from ctm.rtl.border.programs import wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import beat_fields
from ctm.rtl.dpp.core_border import core_members
from ctm.rtl.dpp.core_units import CoreUnits
from ctm.rtl.dpp.wavefronts.scheduling import context_bits
from ctm.rtl.isa.limits import CHANNELS, REGISTER_BITS
from ctm.rtl.r5xx.core_units import Units
from ctm.rtl.r5xx.shapes import SHAPES
from ctm.rtl.r5xx.state import PC_BITS, control_state_layout


def traced_members(config: ArrayConfig) -> dict[str, Member]:
    """The border of a core, and its `trace`."""
    return {**core_members(config, SHAPES), "trace": Out(trace_layout(config))}


def trace_layout(config: ArrayConfig) -> data.StructLayout:
    """Events of one cycle, each with `valid` and the context of its wavefront.

    start
        A wavefront takes a wave slot. All its state is then that of a program's start, but for the temporaries.
    clear
        All lanes of a temporary are set, and the 31 above it are 0, before the wavefront's first instruction.
    alu
        An ALU or OUTPUT instruction has written: registers, words and enables of temporaries (channel by channel),
        and predicates (of the red bit all lanes, then green, blue, alpha) and ALU results as they are now.
    texture
        A fetch or NOP was issued, or a kill is done: `valid_mask` is as it is now.
    fetch_error
        The oldest outstanding fetch had an error response, and writes nothing more.
    fetch
        The oldest outstanding fetch has written its temporary.
    flow
        A flow-control instruction is done: the control state is as it is now.
    fault
        The wavefront stops at `pc` without that instruction.
    end
        The context is free again; its outputs have been sent, unless it has faulted.

    With several beats a clear, an ALU instruction and a fetch are an event for each, with a number; predicates and ALU
    results are valid in the last one.
    """
    lanes, beat = config.lanes, beat_fields(config)
    words = beat | {"words": words_layout(config.at_once)}
    event: dict[str, Any] = {"valid": 1, "context": context_bits(config)}
    instruction = event | {"pc": PC_BITS}
    enables = data.ArrayLayout(CHANNELS, config.at_once)
    write = {"register": REGISTER_BITS, **words, "enable": enables}
    events: dict[str, dict[str, Any]] = {
        "start": event | {"wavefront": wavefront_layout(lanes)},
        "clear": event | {"register": REGISTER_BITS, **words},
        "alu": instruction
        | {
            "rgb_register": REGISTER_BITS,
            "alpha_register": REGISTER_BITS,
            **words,
            "enable": enables,
            "predicates": CHANNELS * lanes,
            "alu_result": lanes,
        },
        "texture": instruction | {"valid_mask": lanes},
        "fetch_error": event,
        "fetch": event | write,
        "flow": instruction | {"state": control_state_layout(lanes)},
        "fault": instruction,
        "end": event | {"faulted": 1},
    }
    return data.StructLayout({name: data.StructLayout(fields) for name, fields in events.items()})


def connect_trace(
    m: Module, trace: data.View, generic: CoreUnits, own: Units, fault: data.View, fault_wave: Value
) -> None:
    """Drive the events; `fault` is the core's port, `fault_wave` the wave slot of its wavefront."""
    alu, texture, flow = own.alu, own.texture, own.flow
    texture_done = texture.scheduler.done
    clear, fetch = generic.starter.write, generic.fetches.write

    def context(wave: Value) -> Value:
        return Cat(wave, generic.scheduler.contexts.second.bit_select(wave, 1))

    events: dict[str, dict[str, Any]] = {
        "start": {name: generic.states.start[name] for name in ("valid", "context", "wavefront")},
        "clear": {
            "valid": clear.valid, "context": context(clear.wave),
            **{name: clear[name] for name in ("register", "words")},
        },
        "alu": {
            "valid": alu.written.valid, "context": alu.written.context, "pc": alu.written.pc,
            "rgb_register": alu.written.rgb_register, "alpha_register": alu.written.alpha_register,
            "words": alu.results.words, "enable": alu.written.enable,
            "predicates": alu.wavefront.flags.flags.predicates, "alu_result": alu.wavefront.flags.flags.alu_result,
        },
        "texture": {
            "valid": texture_done.valid, "context": context(texture_done.wave), "pc": texture_done.pc - 1,
            "valid_mask": texture.valid_mask.valid_mask,
        },
        "fetch_error": {
            "valid": generic.fetches.error.valid, "context": context(generic.fetches.returned.wave),
        },
        "fetch": {
            "valid": fetch.valid & fetch.ready, "context": context(fetch.payload.wave),
            **{name: fetch.payload[name] for name in ("register", "words", "enable")},
        },
        "flow": {
            "valid": flow.control.valid,
            "context": context(flow.control.wave),
            "pc": flow.pc,
            "state": flow.control.state,
        },
        "fault": {"valid": fault.valid, "context": context(fault_wave), "pc": fault.payload.pc},
        "end": {name: generic.retirement.release[name] for name in ("valid", "context", "faulted")},
    }  # fmt: skip
    for event, numbered in (("clear", clear), ("alu", alu.written), ("fetch", fetch.payload)):
        if "beat" in dict(numbered.shape()):
            events[event]["beat"] = numbered.beat
    for event, fields in events.items():
        m.d.comb += [trace[event][name].eq(value) for name, value in fields.items()]
