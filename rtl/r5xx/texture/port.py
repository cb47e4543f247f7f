"""The issue port of texture instructions: fetches and kills.

Source: CTM Guide pp. 32-33.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import words_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import Taken, beat_members, gathered, is_last, keep, lanes_of, take
from ctm.rtl.dpp.core_border import fetch_number_layout
from ctm.rtl.dpp.memory.coordinates import request_layout
from ctm.rtl.dpp.memory.fetch_records import passenger_layout, record_layout
from ctm.rtl.dpp.program import described
from ctm.rtl.dpp.registers.file import register_address_layout
from ctm.rtl.dpp.registers.placement import ALLOCATION, Placement
from ctm.rtl.dpp.wavefronts.scheduling import IssuePort, wave_bits
from ctm.rtl.dpp.wavefronts.state import wavefront_state_layout
from ctm.rtl.fp.number import FRACTION_BITS
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.instruction import COMMON, TEX_ADDR, TEX_INST
from ctm.rtl.isa.r5xx.opcodes import TextureOperation
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r5xx.addressing import register_number
from ctm.rtl.r5xx.entries import TEXTURE_ENTRY, EntryRead
from ctm.rtl.r5xx.predication import gates
from ctm.rtl.r5xx.shapes import PROGRAM, SHAPES
from ctm.rtl.r5xx.state import lane_predicates

_QUEUE = 4
_QUEUED = 2
"""Requests that the queue holds, and instructions, at least."""
_IN_FLIGHT = 2
"""Requests of issued instructions that are not in the queue yet."""


class TexturePort(wiring.Component):
    """Executes a texture instruction until its fetch is requested, or its kill is done.

    One instruction per cycle while `ready`; a wavefront's next one may be issued three cycles later. With several beats
    the source is read beat by beat, each gives a request, and the wavefront goes on after the last.

    Members
    -------
    scheduler : ``In(IssuePort(config, SHAPES))``
    ready : ``Out(1)``
        Whether an instruction may be issued.
    instruction : ``Out(EntryRead(TEXTURE_ENTRY, held=True))``
        The instruction, from the cycle after its issue on until the next one is read.
    program : ``In(PROGRAM)``
    allocation : ``In(ALLOCATION)``
    wavefront : ``In(wavefront_state_layout(SHAPES, lanes))``
        The wavefront's state in these cycles.
    source : ``Out(register_address_layout(config))``
    source_beat : ``Out``
        The beat of the source; only with several beats.
    words : ``In(words_layout(at_once))``
        The source, a cycle later.
    asked : ``Out({valid, wave, fetches, acquires})``
    fetch_entry : ``In(config.fetch_entry_bits)``
        The number of the fetch that `asked` announces.
    record : ``Out({valid, tag, record})``
        Of the fetch that was announced in the cycle before.
    valid_mask : ``Out({valid, wave, valid_mask})``
        The pixels that are valid after a kill.
    request : ``Out(stream)``
        To the coordinate units.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        wave, lanes = wave_bits(config), config.lanes
        self._request = request_layout(config.at_once, passenger_layout(config, SHAPES))
        at_wave = {"valid": 1, "wave": wave}
        super().__init__(
            {
                "scheduler": In(IssuePort(config, SHAPES)),
                "ready": Out(1),
                "instruction": Out(EntryRead(TEXTURE_ENTRY, held=True)),
                "program": In(PROGRAM),
                "allocation": In(ALLOCATION),
                "wavefront": In(wavefront_state_layout(SHAPES, lanes)),
                "source": Out(register_address_layout(config)),
                "words": In(words_layout(config.at_once)),
                **beat_members(config, Out, "source_beat"),
                "asked": Out(data.StructLayout(at_wave | {"fetches": 1, "acquires": 1})),
                "fetch_entry": In(config.fetch_entry_bits),
                "record": Out(
                    data.StructLayout(
                        {"valid": 1, "tag": fetch_number_layout(config), "record": record_layout(config, SHAPES)}
                    )
                ),
                "valid_mask": Out(data.StructLayout(at_wave | {"valid_mask": lanes})),
                "request": Out(stream.Signature(self._request)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lanes, wavefront, entry = self._config.lanes, self.wavefront, self.instruction.entry
        taken = take(m, self._config, self.scheduler.issue)
        issued = taken.issue
        m.d.comb += [self.instruction.address.eq(self.scheduler.issue.pc), self.instruction.reads.eq(taken.ready)]
        common, inst, addr = COMMON(entry.words[0]), TEX_INST(entry.words[1]), TEX_ADDR(entry.words[2])
        operation = Value.cast(inst.inst)
        kills, fetches = Signal(), Signal()
        m.d.comb += [
            kills.eq(issued.valid & (operation == TextureOperation.KILL_LT_0.value)),
            fetches.eq(issued.valid & ~operation.matches(TextureOperation.KILL_LT_0.value, TextureOperation.NOP.value)),
        ]

        placement = Placement(m, self._config, issued.wave, self.allocation)
        source = register_number(m, addr.src_addr, addr.src_addr_rel, wavefront.loop_index)
        target = register_number(m, addr.dst_addr, addr.dst_addr_rel, wavefront.loop_index)
        uncovered_too = (~inst.ignore_uncovered).replicate(lanes)
        reached = (wavefront.active | common.write_inactive.replicate(lanes)) & (wavefront.covered | uncovered_too)
        wmask = Cat(common.rgb_wmask, common.alpha_wmask)
        writes = wmask & placement.exists(target).replicate(CHANNELS)
        allowed = [gates(m, common, lane_predicates(wavefront, lane, lanes)) for lane in range(lanes)]
        # Its words come many cycles later.
        record = Signal.like(self.record, name="upcoming_record")
        m.d.sync += self.record.eq(record)
        m.d.comb += [
            self.source.eq(placement.address(source)),
            self.asked.valid.eq(taken.first),
            self.asked.wave.eq(issued.wave),
            self.asked.fetches.eq(fetches),
            self.asked.acquires.eq(inst.tex_sem_acquire),
            record.valid.eq(fetches & taken.first if self._config.beats > 1 else fetches),
            record.tag.wave.eq(issued.wave),
            record.tag.entry.eq(self.fetch_entry),
            record.record.register.eq(target),
            record.record.pc.eq(issued.pc),
            *(record.record.enable[lane].eq(Mux(reached[lane], writes & allowed[lane], 0)) for lane in range(lanes)),
            *(record.record.swizzle[channel].eq(addr[f"dst_{name}_swiz"]) for channel, name in enumerate("rgba")),
        ]

        executing = delay(m, issued, name="executing")
        at_words = {
            "exists": placement.exists(source),
            "swizzles": Cat(addr.src_s_swiz, addr.src_t_swiz, addr.src_q_swiz),
            "fetch": reached,
            "tag": record.tag,
            "tested": Cat(Mux(wavefront.active[lane], wmask & allowed[lane], 0) for lane in range(lanes)),
            "last": common.last,
            "following": entry.following,
        }
        delayed = {name: keep(m, self._config, value, taken.first, name=name) for name, value in at_words.items()}
        going = Signal(3)
        m.d.sync += going.eq(Cat(fetches, kills, issued.valid))
        beat = self._beats(m, taken)
        self._queue(m, delayed, keep(m, self._config, inst, taken.first, name="inst"), beat, going[0], taken.ready)
        self._finish(m, delayed, executing, beat, kills=going[1], valid=going[2])
        return m

    def _beats(self, m: Module, taken: Taken) -> Value:
        """The beat of the words that have been read."""
        if self._config.beats == 1:
            return taken.beat
        m.d.comb += self.source_beat.eq(taken.beat)
        return delay(m, taken.beat, name="beat")

    def _queue(
        self, m: Module, delayed: dict[str, Value], inst: data.View, beat: Value, fetches: Value, takes: Value
    ) -> None:
        """Put a fetch's coordinates into the queue; `ready` has reserved their space."""
        config, beats = self._config, self._config.beats
        depth = max(_QUEUE, _QUEUED * beats) + _IN_FLIGHT
        m.submodules.queue = queue = SyncFIFOBuffered(width=self._request.size, depth=depth)
        has_space = queue.level <= queue.depth - _IN_FLIGHT - beats
        request = Signal(self._request)
        operation = Value.cast(inst.inst)
        for lane in range(config.at_once):
            for index, name in enumerate("stq"):
                swizzle = delayed["swizzles"].word_select(index, 2)
                word = Mux(delayed["exists"], self.words[lane][swizzle], 0)
                m.d.comb += request.lanes[lane][name].eq(word)
        m.d.comb += [
            request.scaled.eq(~inst.unscaled),
            request.projected.eq(operation == TextureOperation.LOOKUP_PROJ.value),
            request.input.eq(described(self.program.inputs[inst.tex_id])),
            Value.cast(request.passenger.tag).eq(Cat(delayed["tag"], beat)),
            request.passenger.input.eq(inst.tex_id),
            request.passenger.uncached.eq(operation == TextureOperation.LOOKUP_UNCACHED.value),
            request.passenger.fetch.eq(lanes_of(config, delayed["fetch"], beat)),
            queue.w_data.eq(request),
            queue.w_en.eq(fetches),
            self.ready.eq(has_space & takes if beats > 1 else has_space),
            Value.cast(self.request.payload).eq(queue.r_data),
            self.request.valid.eq(queue.r_rdy),
            queue.r_en.eq(self.request.ready),
        ]

    def _survivors(self, m: Module, delayed: dict[str, Value], beat: Value, valid_mask: Value) -> Signal:
        """Pixels that are valid after a kill: none of the tested channels is below zero, which -0 is here."""
        survivors = Signal(self._config.lanes)
        config = self._config
        tests = lanes_of(config, delayed["tested"], beat)
        found = []
        for lane, words in enumerate(self.words):
            tested = tests.word_select(lane, CHANNELS)
            negative = Cat(word[-1] & ~(word[FRACTION_BITS:-1].all() & word[:FRACTION_BITS].any()) for word in words)
            found.append(delayed["exists"] & (tested & negative).any())
        killed = found if config.beats == 1 else gathered(m, config, Cat(found))
        m.d.comb += [survivors[lane].eq(valid_mask[lane] & ~killed[lane]) for lane in range(config.lanes)]
        return survivors

    def _finish(
        self, m: Module, delayed: dict[str, Value], executing: data.View, beat: Value, *, kills: Value, valid: Value
    ) -> None:
        """The wavefront goes on, unless no pixel is valid, or it was the last instruction."""
        done = self.scheduler.done
        if self._config.beats > 1:
            last = is_last(self._config, beat)
            kills, valid = kills & last, valid & last
        masks = (self.wavefront.valid_mask, self.wavefront.covered, self.wavefront.active)
        valid_mask, covered, active = (delay(m, mask, name="mask") for mask in masks)
        survivors = self._survivors(m, delayed, beat, valid_mask)
        counting = Mux(kills, survivors, valid_mask) & covered
        # Registered, because which lanes survive follows late in the cycle.
        m.d.sync += [
            self.valid_mask.valid.eq(kills),
            self.valid_mask.wave.eq(executing.wave),
            self.valid_mask.valid_mask.eq(Mux(kills, survivors, valid_mask)),
            done.valid.eq(valid),
            done.wave.eq(executing.wave),
            done.ends.eq(
                (executing.pc == self.program.end)
                | (kills & ~counting.any())
                | (delayed["last"] & ~(counting & ~active).any())
            ),
            done.pc.eq(executing.pc + 1),
            done.following.eq(delayed["following"]),
        ]
