"""The token of an ALU or OUTPUT instruction: what goes beside its operands from its issue to its results."""

from collections.abc import Mapping

from amaranth import Module, Value
from amaranth.lib import data

from ctm.rtl.config import ArrayConfig, MachineConfig
from ctm.rtl.dpp.beats import beat_fields
from ctm.rtl.dpp.registers.file import register_address_layout
from ctm.rtl.dpp.registers.placement import Placement
from ctm.rtl.dpp.wavefronts.scheduling import context_bits
from ctm.rtl.dpp.wavefronts.state import wavefront_state_layout
from ctm.rtl.isa.limits import CHANNELS, REGISTER_BITS, WORD_BITS
from ctm.rtl.isa.r5xx.instruction import ALPHA_INST, INSTRUCTION, RGB_INST, RGBA_INST
from ctm.rtl.lib.views import record
from ctm.rtl.r5xx.addressing import register_number
from ctm.rtl.r5xx.shapes import SHAPES, SUMMARY
from ctm.rtl.r5xx.state import PC_BITS

_WHOLE = (1 << WORD_BITS) - 1
_PIXELS = ("covered", "valid_mask", "active", "predicates", "alu_result")


def pixels_layout(lanes: int) -> data.StructLayout:
    """A wavefront's state at the issue, by which its results are written, a bit for each lane, four of `predicates`.

    It is kept, because by then the wave slot may have another wavefront.
    """
    state = wavefront_state_layout(SHAPES, lanes)
    return data.StructLayout({name: state[name].shape for name in _PIXELS})


def token_layout(config: MachineConfig) -> data.StructLayout:
    """The instruction, where it writes, and how it leaves its wavefront.

    `following`: the next instruction's summary. `again`: it misses a constant. `ends`: it is the wavefront's last one.
    `error`: a constant that it needs had an error response. `vacated`: its wavefront has vacated the wave slot. A
    destination `exists` if it is a register of the program.
    """
    destination = data.StructLayout(
        {"register": REGISTER_BITS, "exists": 1, "address": register_address_layout(config.array)}
    )
    return data.StructLayout(
        {
            "context": context_bits(config.array),
            "pc": PC_BITS,
            "following": SUMMARY,
            "words": INSTRUCTION,
            "rgb": destination,
            "alpha": destination,
            "writes_uncached": 1,
            "again": 1,
            "ends": 1,
            "error": 1,
            "vacated": 1,
        }
    )


def at_entry(m: Module, token: data.View) -> data.View:
    """The token without the words that say where sources come from; they are 0."""
    return _with_words(m, token, {number: _WHOLE for number in (0, 3, 4, 5)})


def after_entry(m: Module, token: data.View) -> data.View:
    """The token without what only the lanes need of the instruction's words; it is 0."""
    masks = {0: _WHOLE, 3: _mask(RGB_INST, "target", "alu_wmask"), 4: _mask(ALPHA_INST, "target", "w_omask")}
    return _with_words(m, token, masks)


def _mask(layout: data.StructLayout, *names: str) -> int:
    """Of a word the bits of some fields."""
    return sum(((1 << layout[name].width) - 1) << layout[name].offset for name in names)


def _with_words(m: Module, token: data.View, masks: Mapping[int, int]) -> data.View:
    """The token, of whose words only the bits of the masks are left."""
    kept: data.View = record(token.shape(), name="kept")
    m.d.comb += [
        *(kept[name].eq(token[name]) for name, _ in token.shape() if name != "words"),
        *(kept.words[number].eq(token.words[number] & mask) for number, mask in masks.items()),
    ]
    return kept


def written_layout(config: ArrayConfig) -> data.StructLayout:
    """The instruction that writes in a cycle, and the channels of temporaries that it writes, as [lane][channel].

    It is valid also if its wave slot is vacated. With several beats the lanes are those of one.
    """
    return data.StructLayout(
        {
            "valid": 1,
            "context": context_bits(config),
            "pc": PC_BITS,
            **beat_fields(config),
            "rgb_register": REGISTER_BITS,
            "alpha_register": REGISTER_BITS,
            "enable": data.ArrayLayout(CHANNELS, config.at_once),
        }
    )


def set_destinations(m: Module, token: data.View, words: data.View, placement: Placement, loop_index: Value) -> None:
    """Set where an instruction's two halves write: register, whether it exists, and its address."""
    rgb, alpha = RGBA_INST(words[5]), ALPHA_INST(words[4])
    for destination, address, relative in (
        (token.rgb, rgb.rgb_addrd, rgb.rgb_addrd_rel),
        (token.alpha, alpha.addrd, alpha.addrd_rel),
    ):
        number = register_number(m, address, relative, loop_index)
        m.d.comb += [
            destination.register.eq(number),
            destination.exists.eq(placement.exists(number)),
            destination.address.eq(placement.address(number)),
        ]
