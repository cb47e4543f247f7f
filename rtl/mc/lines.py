"""Lines of memory: what a cache asks of the level behind it, and what comes back."""

from amaranth.lib import data

from rtl.config import CacheConfig
from rtl.mc.address import ADDRESS_BITS

LINE_BITS = 8 * CacheConfig.LINE_BYTES
LINE_OFFSET_BITS = CacheConfig.LINE_BYTES.bit_length() - 1
LINE_ADDRESS_BITS = ADDRESS_BITS - LINE_OFFSET_BITS

LINE_REQUEST = data.StructLayout({"line": LINE_ADDRESS_BITS, "uncached": 1})
"""`line` counts lines from address 0. An `uncached` one is to come from memory itself."""

LINE_RESPONSE = data.StructLayout({"bits": LINE_BITS, "refused": 1})
"""Answers come in the order of the requests. With `refused` the bus gave an error, and `bits` mean nothing."""
