"""A draw, as the command processor starts it.

Source: docs/draws.md.
"""

from amaranth.lib.wiring import In, Out

from ctm.rtl.border.assembly import DRAW_STATE
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.programs import DOMAIN, program_fault_layout
from ctm.rtl.isa.draws import STREAMS
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import WORD_BITS


class DrawClient(Interface):
    """The port of a unit that starts draws, seen from the unit.

    Members
    -------
    launching : ``Out(1)``
        The program that is launched is a draw's.
    start : ``Out(1)``
        Draw; only while `ended`.
    state : ``Out(DRAW_STATE)``
        Constant from the cycle after `start` until `ended`.
    domain : ``Out(DOMAIN)``
        In the cycle of `start`.
    ended : ``In(1)``
        No draw is in flight; low from the cycle after `start` on.
    failed : ``In(1)``
        With `ended`: the draw has failed.
    index_failed : ``In(1)``
        With `failed`: an index could not be read.
    failure : ``In(program_fault_layout(program_format))``
        With `failed`: the first fault.
    """

    def __init__(self, program_format: ProgramFormat) -> None:
        super().__init__(
            {
                "launching": Out(1),
                "start": Out(1),
                "state": Out(DRAW_STATE),
                "domain": Out(DOMAIN),
                "ended": In(1),
                "failed": In(1),
                "index_failed": In(1),
                "failure": In(program_fault_layout(program_format)),
            }
        )


class FilledClient(Interface):
    """How far streams are filled, seen from the command processor. Combinational.

    Members
    -------
    stream : ``Out(range(STREAMS))``
    dwords : ``In(32)``
        Dwords of that stream that are filled.
    """

    def __init__(self) -> None:
        super().__init__({"stream": Out(range(STREAMS)), "dwords": In(WORD_BITS)})
