"""What the interlock promises, as properties for a prover: order, tickets, and that nothing waits for ever."""

from dataclasses import replace
from itertools import combinations

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from ctm.rtl.config import DRAW_PRESET, PRESETS
from ctm.rtl.draw.interlock import Interlock
from ctm.rtl.isa.limits import COLUMN_BITS, COORDINATE_BITS

TICKETS = 4
CONFIG = replace(PRESETS[DRAW_PRESET], array=replace(PRESETS[DRAW_PRESET].array, threads=TICKETS))
LANES = CONFIG.array.wavefront_lanes
_PAIR_BITS = COLUMN_BITS + COORDINATE_BITS


class InterlockProof(wiring.Component):
    """The interlock between free strips and free ends.

    A ticket may come back in any cycle after its strip was taken, and only then. `watched` and `lane` are any pixel: of
    strips that cover it no two are in flight between grant and end.

    Members
    -------
    i, j, covered, offers, takes, ends, ticket, watched, lane : ``In``
        Free in every cycle; `watched` and `lane` do not change.
    """

    i: In(COLUMN_BITS)
    j: In(COORDINATE_BITS)
    covered: In(LANES)
    offers: In(1)
    takes: In(1)
    ends: In(1)
    ticket: In(range(TICKETS))
    watched: In(_PAIR_BITS)
    lane: In(range(LANES))

    def elaborate(self, platform: object) -> Module:
        """Build the interlock with its surroundings."""
        m = Module()
        m.submodules.interlock = interlock = Interlock(CONFIG)
        strip, granted, ended = interlock.strip, interlock.granted, interlock.ended
        started = Signal()
        m.d.sync += started.eq(1)
        held, before = Signal(_PAIR_BITS + LANES), Signal()
        own = Cat(strip.payload.i, strip.payload.j, strip.payload.covered)
        # A strip that waits does not change.
        m.d.sync += [before.eq(strip.valid & ~strip.ready), held.eq(own)]
        pixel = Cat(self.watched, self.lane)
        last = Signal(len(pixel))
        m.d.sync += last.eq(pixel)
        m.d.comb += [
            strip.payload.i.eq(self.i),
            strip.payload.j.eq(self.j),
            strip.payload.covered.eq(self.covered),
            strip.valid.eq(self.offers),
            granted.ready.eq(self.takes),
            ended.valid.eq(self.ends),
            ended.ticket.eq(self.ticket),
            Assume(~started | (pixel == last)),
            Assume(~before | (self.offers & (own == held))),
        ]
        self._follow(m, interlock, Cat(strip.payload.i, strip.payload.j))
        return m

    def _follow(self, m: Module, interlock: Interlock, own: Value) -> None:
        """Follow strips from their grant to their end, and say what has to hold."""
        strip, granted, ended = interlock.strip, interlock.granted, interlock.ended
        # Tickets that the array has, and those of strips with the watched pixel that are in flight.
        taken, of_pair = Signal(TICKETS), Signal(TICKETS)
        offered = Signal(TICKETS)
        takes = Mux(granted.valid & granted.ready, (1 << granted.payload.ticket)[:TICKETS], 0)
        ends = Mux(ended.valid, (1 << ended.ticket)[:TICKETS], 0)
        grants = strip.valid & strip.ready
        has_pixel = (own == self.watched) & strip.payload.covered.bit_select(self.lane, 1)
        watched_now, watched_before = grants & has_pixel, Signal()
        number = Mux(granted.valid, (1 << granted.payload.ticket)[:TICKETS], 0)
        m.d.sync += [
            taken.eq((taken | takes) & ~ends),
            watched_before.eq(watched_now),
            of_pair.eq((of_pair | Mux(watched_before, number, 0)) & ~ends),
        ]
        m.d.comb += [
            offered.eq(number),
            # Only what the array has can end.
            Assume(~ended.valid | (taken & ends).any()),
            # No two strips of one pixel are in flight, whichever the pixel is.
            Assert(~watched_now | ~(of_pair | Mux(watched_before, number, 0)).any()),
            # The array does not have a ticket that is offered.
            Assert(~(offered & taken).any()),
            # What is in flight is what the array has and what is offered to it.
            Assert(interlock.busy == (taken | offered)),
            # A strip goes on unless something that will end keeps it.
            Assert(~strip.valid | strip.ready | interlock.busy.any() | granted.valid),
            Cover(of_pair.any() & taken.all()),
            Cover(watched_now & (taken != 0)),
            # Strips of one pair that share no pixel are in flight together.
            Cover(Cat(of_pair.any(), grants & (own == self.watched) & ~has_pixel).all()),
        ]
        # What makes it inductive: strips in flight have pixels of their own.
        busy, pairs, lanes = interlock.busy, [Value.cast(pair) for pair in interlock.pairs], interlock.lanes
        with_pixel = Cat(
            busy[ticket] & (pair == self.watched) & lanes[ticket].bit_select(self.lane, 1)
            for ticket, pair in enumerate(pairs)
        )
        alike = [
            busy[one] & busy[other] & (pairs[one] == pairs[other]) & (lanes[one] & lanes[other]).any()
            for one, other in combinations(range(TICKETS), 2)
        ]
        m.d.comb += [
            Assert(with_pixel == (of_pair | Mux(watched_before, number, 0))),
            Assert(~Cat(alike).any()),
            Assert(~watched_before | granted.valid),
        ]
