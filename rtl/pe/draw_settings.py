"""The command processor's registers that commands of draws set.

Source: docs/draws.md.
"""

from amaranth import Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.assembly import DRAW_STATE
from ctm.rtl.border.commands import OPCODE_BITS, PARAMETERS
from ctm.rtl.isa.draws import ALL_BY_NAME, BYTE_ADDRESS, INDEX_WORD, POINT_SIZE
from ctm.rtl.isa.limits import WORD_BITS


class DrawSettings(wiring.Component):
    """The state of draws, from the cycle on that follows a command.

    Members
    -------
    set : ``In(1)``
        Take a command's parameters.
    start : ``In(1)``
        Take those of start_draw.
    opcode : ``In(6)``
    words : ``In(ArrayLayout(32, 4))``
    state : ``Out(DRAW_STATE)``
    """

    set: In(1)
    start: In(1)
    opcode: In(OPCODE_BITS)
    words: In(data.ArrayLayout(WORD_BITS, PARAMETERS))
    state: Out(DRAW_STATE)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        state, words = self.state, [Value.cast(word) for word in self.words]
        address, index_word = data.View(BYTE_ADDRESS, words[0]), data.View(INDEX_WORD, words[1])
        indices, viewport = state.indices, state.viewport
        with m.If(self._sets("set_idx_fmt")):
            form = Value.cast(index_word.format)
            m.d.sync += [
                indices.address.eq(address.address & ~3),
                Value.cast(indices.format).eq(form),
                indices.restarts.eq(index_word.restart),
                indices.restart.eq(words[2]),
            ]
        with m.If(self._sets("set_vport")):
            for axis in range(2):
                m.d.sync += [viewport.scale[axis].eq(words[2 * axis]), viewport.offset[axis].eq(words[2 * axis + 1])]
        with m.If(self._sets("set_vport_z")):
            m.d.sync += [viewport.scale[2].eq(words[0]), viewport.offset[2].eq(words[1])]
            m.d.sync += [state.lowest_depth.eq(words[2]), state.highest_depth.eq(words[3])]
        with m.If(self._sets("set_raster")):
            m.d.sync += [Value.cast(state.raster).eq(words[0]), state.radius.eq(data.View(POINT_SIZE, words[1]).radius)]
        with m.If(self.start):
            names = ("count", "instances", "base_vertex", "first_instance")
            m.d.sync += [state[name].eq(word) for name, word in zip(names, words, strict=True)]
        return m

    def _sets(self, name: str) -> Value:
        found: Value = self.set & (self.opcode == ALL_BY_NAME[name].opcode)
        return found
