"""Writes an export to memory, pixel by pixel, at the addresses of their elements.

Source: R700-Family Instruction Set Architecture, section 3.4.2 (MEM_EXPORT, MEM_SCRATCH); docs/design/r700-core.md.
"""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS, uncached_write_layout
from ctm.rtl.border.shading import Stage, is_of_threads
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700 import exports
from ctm.rtl.lib.views import record
from ctm.rtl.r700.fetch.finders.areas import ELEMENT_ADDRESS, pair
from ctm.rtl.r700.fetch.finders.item_addresses import ITEM_ELEMENT, word_at
from ctm.rtl.r700.fetch.micro_op import micro_op_layout
from ctm.rtl.r700.fetch.selection import pass_words_layout
from ctm.rtl.r700.fetch.writers.sending import element_of
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.shapes import AREAS


class MemoryWriter(wiring.Component):
    """Writes one register of an export, pixel by pixel in order, whether a pixel executes or not.

    As many components of a pixel are written at once as there are lanes. So a pixel takes one cycle with four lanes or
    more, two with two and four with one, and more while its write is not accepted. A micro-op that `ends` its export
    adds a fence: one more write, without words, whose response comes when all words of the export are in memory.

    Members
    -------
    start : ``In(1)``
        High from the first cycle to that of `done`.
    current : ``In(micro_op_layout(config.array))``
    stage : ``In(Stage)``
    pixel : ``Out(range(partition.slice))``
        The pixel whose `own` words and whose pass's `results` are read in the same cycle.
    own : ``In(WORDS)``
        The components of its register.
    results : ``In(pass_words_layout(lanes))``
        The elements of the pixels of its pass: each an `ELEMENT_ADDRESS` of an area, or an `ITEM_ELEMENT` of a thread.
    write : ``Out(stream.Signature(uncached_write_layout(...)))``
    is_item : ``Out(1)``
        `write` offers words of a thread's item.
    done : ``Out(1)``
        The last cycle: the last pixel's, or that in which the fence is accepted.
    """

    def __init__(self, config: MachineConfig) -> None:
        partition, self._has_items = Partition.of(config.array), config.pipeline.has_geometry
        self._size, self._lanes = partition.slice, partition.lanes
        layout = uncached_write_layout(self._lanes, wave_bits(config.array), len(AREAS), memory=self._has_items)
        super().__init__(
            {
                "start": In(1),
                "current": In(micro_op_layout(config.array)),
                "stage": In(Stage),
                "pixel": Out(range(self._size)),
                "own": In(WORDS),
                "results": In(pass_words_layout(self._lanes)),
                "write": Out(stream.Signature(layout)),
                "is_item": Out(1),
                "done": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        clause, write = self.current.clause, self.write
        together = min(CHANNELS, self._lanes)
        blocks = CHANNELS // together
        block = Signal((blocks - 1).bit_length(), name="block")
        """The components of the pixel that are written."""
        inside = self._connect_words(m, block, together)
        high = data.View(exports.EXPORT_DWORD1_BUF, clause.unit[WORD_BITS:])
        writes = (clause.executing & clause.valid_mask & clause.covered).bit_select(self.pixel, 1)
        mask = Mux(writes, inside & high.comp_mask, 0).word_select(block, together)
        fences = Signal()
        """All pixels of the export's last register are written."""
        goes = Signal(name="goes")
        is_last = (self.pixel == self._size - 1) & (block == blocks - 1)
        m.d.comb += [
            write.payload.wave.eq(clause.wave),
            write.payload.mask.eq(Mux(fences, 0, mask)),
            write.payload.acquires.eq(fences),
            write.valid.eq(self.start & (fences | mask.any())),
            self.is_item.eq(self.start & ~fences & mask.any() & is_of_threads(self.stage)),
            goes.eq(self.start & (~write.valid | write.ready)),
            self.done.eq(goes & (fences | (is_last & ~self.current.ends))),
        ]
        with m.If(goes & ~fences):
            m.d.sync += Cat(block, self.pixel).eq(Cat(block, self.pixel) + 1)
        with m.If(goes):
            m.d.sync += fences.eq(is_last & ~fences & self.current.ends)
        return m

    def _connect_words(self, m: Module, block: Value, together: int) -> Value:
        """Drive pairs and values of the pixel's components. Returns which of all four exist."""
        payload, area = self.write.payload, Value.cast(self.current.fetch.access.scratch)
        lane_of = (self._lanes - 1).bit_length()
        lane, lanes = self.pixel[:lane_of], range(self._lanes)
        element: data.View = record(ELEMENT_ADDRESS, name="written_address")
        addresses = [self.results[0][number][: ELEMENT_ADDRESS.size] for number in lanes]
        m.d.comb += Value.cast(element).eq(Array(addresses)[lane])
        inside, of_threads = Value.cast(element.inside), is_of_threads(self.stage)
        if self._has_items:
            item: data.View = record(ITEM_ELEMENT, name="written_item")
            items = [Value.cast(element_of(self.results, number, ITEM_ELEMENT)) for number in lanes]
            m.d.comb += Value.cast(item).eq(Array(items)[lane])
            inside, area = Mux(of_threads, item.inside, inside), Mux(of_threads, len(AREAS), area)
        m.d.comb += payload.area.eq(area)
        words = Array(self.own[channel] for channel in range(CHANNELS))
        for number in range(together):
            component = Cat(Const(number, together.bit_length() - 1), block)
            x, y = pair(Value.cast(element), component)
            if self._has_items:
                column, row, page = word_at(item, component)
                x, y = Mux(of_threads, column, x), Mux(of_threads, row, y)
                m.d.comb += payload.page[number].eq(Mux(of_threads, page, 0))
            m.d.comb += [
                payload.x[number].eq(x),
                payload.y[number].eq(y),
                payload.values[number].eq(words[number] if together == CHANNELS else words[component]),
            ]
        return inside
