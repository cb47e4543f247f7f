"""The cause by which a wavefront stops before its program's end."""

from amaranth.lib import data

from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.r700.shapes import UNIT_ADDRESS_BITS

PROBLEM = data.StructLayout({"status": Status, "client": BusClient, "address": UNIT_ADDRESS_BITS})
"""OK if it does not stop. `address` is that of the group or fetch instruction, 0 of a CF instruction."""
