"""Both levels of the input cache."""

from amaranth import Cat, Module
from amaranth.hdl import ShapeLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, INPUT_WRITE
from ctm.rtl.border.clients import FetchClient
from ctm.rtl.border.lines import LINE_BITS, TaggedLineClient
from ctm.rtl.config import CacheConfig, SharedCacheConfig
from ctm.rtl.mc.inputs.core_cache import InputCache
from ctm.rtl.mc.inputs.shared_cache import SharedCache


class InputCaches(wiring.Component):
    """A first level for each core, as `InputCache`, and a second one for all, as `SharedCache`.

    `InputCache` has the latency of a fetch whose lines hit in its first level. A line that hits in the second level
    takes three cycles more at least. Each first level, and each bank of the second one, has at most `outstanding` lines
    in flight.

    Members
    -------
    clients : ``In(FetchClient(lanes, tag, areas, memory=memory))``, `cores` of them
    written, areas : as those of `FetchAddresses`
        Only while idle.
    lines : ``Out(TaggedLineClient(range(outstanding), slice_bits))`` for each bank of the second level
    invalidate : ``In(1)``
        Invalidate all lines of both levels; only while idle and no request is offered.
    idle : ``Out(1)``
        All responses have been taken.
    hit, miss : ``Out(cores)``
        A core's first level hit or missed; uncached fetches do not count.
    shared_hit, shared_miss : ``Out(banks)``
        The same of the second level's banks.

    Attributes
    ----------
    first_levels
        Of each core.
    shared
        The second level.
    """

    def __init__(
        self,
        first: CacheConfig,
        second: SharedCacheConfig,
        *,
        cores: int,
        lanes: int,
        tag: ShapeLike,
        outstanding: int,
        areas: int = 0,
        memory: bool = False,
        slice_bits: int = LINE_BITS,
    ) -> None:
        self.first_levels = [
            InputCache(first, lanes=lanes, tag=tag, outstanding=outstanding, areas=areas, memory=memory)
            for _ in range(cores)
        ]
        self.shared = SharedCache(second, requesters=cores, outstanding=outstanding, slice_bits=slice_bits)
        super().__init__(
            {
                "clients": In(FetchClient(lanes, tag, areas, memory=memory)).array(cores),
                "written": In(INPUT_WRITE),
                "areas": In(data.ArrayLayout(BUFFER, areas + memory)),
                "lines": Out(TaggedLineClient(range(outstanding), slice_bits)).array(second.banks),
                "invalidate": In(1),
                "idle": Out(1),
                "hit": Out(cores),
                "miss": Out(cores),
                "shared_hit": Out(second.banks),
                "shared_miss": Out(second.banks),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.shared = shared = self.shared
        for bank, lines in zip(shared.lines, self.lines, strict=True):
            wiring.connect(m, bank, wiring.flipped(lines))
        for core, level in enumerate(self.first_levels):
            m.submodules[f"core_{core}"] = level
            wiring.connect(m, wiring.flipped(self.clients[core].request), level.request)
            wiring.connect(m, level.response, wiring.flipped(self.clients[core].response))
            wiring.connect(m, level.lines, shared.clients[core])
            m.d.comb += [
                level.written.eq(self.written),
                level.areas.eq(self.areas),
                level.invalidate.eq(self.invalidate),
            ]
        m.d.comb += [
            shared.invalidate.eq(self.invalidate),
            self.idle.eq(shared.idle & Cat(level.idle for level in self.first_levels).all()),
            self.hit.eq(Cat(level.hit for level in self.first_levels)),
            self.miss.eq(Cat(level.miss for level in self.first_levels)),
            self.shared_hit.eq(shared.hit),
            self.shared_miss.eq(shared.miss),
        ]
        return m
