"""The refills of a cache that are in flight, and those that wait for the access that requested them."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, TaggedLineClient, is_last_slice
from ctm.rtl.config import CacheConfig
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.rings import next_index
from ctm.rtl.mc.lines.rows import fill_layout
from ctm.rtl.mc.lines.tags import entry_layout

_REQUESTS = 2


class RefillTable(wiring.Component):
    """Requests lines, and says where each of them goes. It has an entry for each of `outstanding` refills.

    A refill has its entry from its request on until the access that requested it has consumed it. Lines come in any
    order, and are consumed in the order of their requests.

    Members
    -------
    begin : ``In({valid, line, uncached, row, entry})``
        A line is requested for a row, and for an entry of the tags that an uncached one does not have; only if `ready`.
    ready : ``Out(1)``
        A line can be requested, and no line has `failed`.
    lines : ``Out(TaggedLineClient(range(outstanding), slice_bits))``
    fill : ``Out(fill_layout(rows, slice_bits))``
        A slice that has arrived, in its cycle, and its row.
    failed : ``Out({valid, entry})``
        The entry of a line with an error, in the cycle after its response. An uncached line has none.
    arrived : ``Out(1)``
        The first refill that is not consumed has arrived.
    consume : ``In(1)``
        Its access consumes it; only if it has `arrived`.
    """

    def __init__(self, config: CacheConfig, *, rows: int, outstanding: int, slice_bits: int) -> None:
        self._outstanding = outstanding
        destination = {"uncached": 1, "row": range(rows), "entry": entry_layout(config)}
        self._destination = data.StructLayout(destination)
        super().__init__(
            {
                "begin": In(data.StructLayout({"valid": 1, "line": LINE_ADDRESS_BITS, **destination})),
                "ready": Out(1),
                "lines": Out(TaggedLineClient(range(outstanding), slice_bits)),
                "fill": Out(fill_layout(rows, slice_bits)),
                "failed": Out(data.StructLayout({"valid": 1, "entry": entry_layout(config)})),
                "arrived": Out(1),
                "consume": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        begin, request, response = self.begin, self.lines.request, self.lines.response
        # A ring of refills: those that have arrived, the next one, the first one, their number.
        depth = self._outstanding
        arrived, following, first = Signal(depth), Signal(range(depth)), Signal(range(depth))
        count = Signal(range(depth + 1))
        requested, destination = Signal.like(request.payload), Signal(self._destination)
        m.submodules.requests = requests = SyncFIFO(width=len(Value.cast(requested)), depth=_REQUESTS)
        m.submodules.pending = pending = DistributedRam(self._destination, depth)
        arriving = pending.read(m, response.payload.tag)
        m.d.comb += [
            self.ready.eq(requests.w_rdy & (count != depth) & ~self.failed.valid),
            requested.line.eq(begin.line),
            requested.uncached.eq(begin.uncached),
            requested.tag.eq(following),
            requests.w_en.eq(begin.valid),
            requests.w_data.eq(requested),
            requests.r_en.eq(request.ready),
            request.valid.eq(requests.r_rdy),
            Value.cast(request.payload).eq(requests.r_data),
            *(destination[name].eq(begin[name]) for name, _ in destination.shape()),
            self.fill.valid.eq(response.valid),
            self.fill.row.eq(arriving.row),
            *(self.fill[name].eq(response.payload[name]) for name in ("bits", "slice", "error")),
            self.arrived.eq(arrived.bit_select(first, 1)),
        ]
        pending.write(m, following, destination, begin.valid)
        with m.If(begin.valid):
            m.d.sync += following.eq(next_index(following, depth))
        m.d.sync += count.eq(count + begin.valid - self.consume)
        with m.If(self.consume):
            m.d.sync += [first.eq(next_index(first, depth)), arrived.bit_select(first, 1).eq(0)]
        with m.If(response.valid & is_last_slice(response.payload)):
            m.d.sync += arrived.bit_select(response.payload.tag, 1).eq(1)
        m.d.sync += [
            self.failed.valid.eq(response.valid & response.payload.error & ~arriving.uncached),
            self.failed.entry.eq(arriving.entry),
        ]
        return m
