"""Fetch instructions, decoded.

Source: R700-Family Instruction Set Architecture, chapter 5; docs/design/r700-core.md.
"""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700 import fetch
from ctm.rtl.isa.r700.fetch import MemoryOperation, VertexOperation
from ctm.rtl.r700.fetch.forms.form import INSTRUCTION_BITS, FetchForm
from ctm.rtl.r700.fetch.forms.memory import AreaForm, ShareReadForm, ShareWriteForm
from ctm.rtl.r700.fetch.forms.texture import TextureForm
from ctm.rtl.r700.fetch.forms.vertex import VertexForm
from ctm.rtl.r700.fetch.operation import FETCH
from ctm.rtl.r700.shapes import PROGRAM


class FetchDecode(wiring.Component):
    """Decodes a fetch instruction; with `draws` also those from vertex buffers and rings. Combinational.

    Members
    -------
    words : ``In(128)``
        The instruction.
    textures : ``In(1)``
        It is in a texture clause.
    program : ``In(PROGRAM)``
    fetch : ``Out(FETCH)``
        With `illegal` all other fields are undefined.
    """

    words: In(INSTRUCTION_BITS)
    textures: In(1)
    program: In(PROGRAM)
    fetch: Out(FETCH)

    latency = 0

    def __init__(self, *, draws: bool = False) -> None:
        self._draws = draws
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        forms: dict[str, FetchForm] = {
            "vertex": VertexForm(draws=self._draws),
            "share_write": ShareWriteForm(),
            "share_read": ShareReadForm(),
            "area": AreaForm(),
            "texture": TextureForm(),
        }
        for name, each in forms.items():
            m.submodules[name] = each
            m.d.comb += [each.words.eq(self.words), each.program.eq(self.program)]
        form = data.View(fetch.FETCH, self.words[:WORD_BITS])
        m.d.comb += self.fetch.illegal.eq(1)
        with m.Switch(form.inst):
            with m.Case(VertexOperation.FETCH.value):
                m.d.comb += self.fetch.eq(forms["vertex"].fetch)
            with m.Case(VertexOperation.MEM.value), m.Switch(form.mem_op):
                with m.Case(MemoryOperation.LOCAL_DS_WRITE):
                    m.d.comb += self.fetch.eq(forms["share_write"].fetch)
                with m.Case(MemoryOperation.LOCAL_DS_READ):
                    m.d.comb += self.fetch.eq(forms["share_read"].fetch)
                with m.Case(MemoryOperation.RD_SCATTER, MemoryOperation.RD_SCRATCH):
                    m.d.comb += self.fetch.eq(forms["area"].fetch)
            with m.Default():
                with m.If(self.textures):
                    m.d.comb += self.fetch.eq(forms["texture"].fetch)
        return m
