"""The type of an assignment, which Amaranth's public modules do not name."""

from amaranth.hdl._ast import Assign

__all__ = ["Assign"]
