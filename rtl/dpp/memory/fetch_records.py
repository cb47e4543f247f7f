"""What goes to memory with a fetch, its passenger, and what the core keeps of it until it returns, its record."""

from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.core_border import fetch_tag_layout
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.isa.limits import CHANNELS, INPUTS, REGISTER_BITS


def passenger_layout(config: ArrayConfig, shapes: Shapes) -> data.StructLayout:
    """The fields that go to memory with a fetch's indices: those of `fetch_request_layout` but x and y, of one beat."""
    return data.StructLayout(
        {
            "tag": fetch_tag_layout(config, shapes),
            "input": (INPUTS - 1).bit_length(),
            "uncached": 1,
            "fetch": config.at_once,
        }
    )


def record_layout(config: ArrayConfig, shapes: Shapes) -> data.StructLayout:
    """The record of an outstanding fetch: the destination of its words, and its PC.

    `swizzle` has the fetched channel that each channel of the register gets. `enable` has the channels that are written
    in each lane of the whole wavefront.
    """
    return data.StructLayout(
        {
            "register": REGISTER_BITS,
            "swizzle": data.ArrayLayout(2, CHANNELS),
            "enable": data.ArrayLayout(CHANNELS, config.lanes),
            "pc": shapes.pc_bits,
        }
    )
