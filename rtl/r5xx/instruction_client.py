"""The interface by which a core reads its instructions."""

from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.isa.r5xx.instruction import INSTRUCTION
from ctm.rtl.isa.r5xx.limits import SLOT_BITS


class InstructionClient(Interface):
    """A reader of instructions, as the reader has it.

    Members
    -------
    request : ``Out(stream.Signature({number}))``
        The instruction's number.
    response : ``In(stream.Signature({words, error}))``
        In the order of the requests. With `error` the words are undefined.
    """

    def __init__(self) -> None:
        request = data.StructLayout({"number": SLOT_BITS})
        response = data.StructLayout({"words": INSTRUCTION, "error": 1})
        super().__init__({"request": Out(stream.Signature(request)), "response": In(stream.Signature(response))})
