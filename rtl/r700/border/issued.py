"""What units of a core issue, for counters."""

from amaranth.lib.wiring import Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.config import ArrayConfig


class IssuedInstruction(Interface):
    """An instruction that counts as issued in this cycle, seen from the unit that executes it.

    Members
    -------
    valid : ``Out(1)``
    active : ``Out(config.wavefront_lanes)``
        The active pixels of its wavefront.
    """

    def __init__(self, config: ArrayConfig) -> None:
        super().__init__({"valid": Out(1), "active": Out(config.wavefront_lanes)})
