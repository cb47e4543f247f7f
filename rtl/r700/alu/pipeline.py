"""The pipeline of a group: its operands are read, chosen pass by pass, computed, and its results gathered.

Source: R700-Family Instruction Set Architecture, sections 4.7 and 4.8; docs/design/r700-core.md has the timing.
"""

from itertools import chain

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.config import ArrayConfig, MachineConfig
from ctm.rtl.fp.function_table import share_tables
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, READ_CYCLES, TRANS_SLOT, VECTOR_SLOTS
from ctm.rtl.lib.encoding import one_hot_index
from ctm.rtl.lib.pipeline import delay, delay_valid
from ctm.rtl.lib.ram import BlockRam
from ctm.rtl.lib.views import record
from ctm.rtl.r700.alu.clauses import contexts_of
from ctm.rtl.r700.alu.decode import DECODED, INDICES, offset_of
from ctm.rtl.r700.alu.instructions import EFFECT
from ctm.rtl.r700.alu.intervals import intervals_of
from ctm.rtl.r700.alu.operands import OPERANDS, Source
from ctm.rtl.r700.alu.uniform import uniform_operands
from ctm.rtl.r700.border.alu_clause import address_layout
from ctm.rtl.r700.border.lane import GROUP_OPERANDS
from ctm.rtl.r700.border.registers import channel_write_layout, register_address_layout, row_bits, slice_words
from ctm.rtl.r700.lane.lane import Lane
from ctm.rtl.r700.lane.timing import lane_latency
from ctm.rtl.r700.passes import passes_of
from ctm.rtl.r700.registers.addressing import register_address
from ctm.rtl.r700.registers.file import masked, taken
from ctm.rtl.r700.slices import PERIOD, by_slice, rows_of, slice_fields, slice_in, slice_of, slices_of

_PREVIOUS = data.ArrayLayout(WORD_BITS, GROUP_SLOTS)


def issue_layout(config: MachineConfig) -> data.StructLayout:
    """A group that is issued for the pixels in `chosen`."""
    array = config.array
    return data.StructLayout(
        {
            "context": (contexts_of(array) - 1).bit_length(),
            "chosen": array.wavefront_lanes,
            "base": row_bits(array),
            "last": 1,
            "decoded": DECODED,
        }
    )


def ending_layout(config: MachineConfig) -> data.StructLayout:
    """A group whose results are valid: their effects, and conditions of each pixel."""
    array = config.array
    size = array.wavefront_lanes
    return data.StructLayout(
        {
            "context": (contexts_of(array) - 1).bit_length(),
            "chosen": size,
            "base": row_bits(array),
            "last": 1,
            "effects": data.ArrayLayout(EFFECT, GROUP_SLOTS),
            "indices": INDICES,
        }
    )


def results_layout(array: ArrayConfig) -> data.StructLayout:
    """All results of a slice's pixels."""
    words = data.ArrayLayout(slice_words(array), GROUP_SLOTS)
    return data.StructLayout({"valid": 1, **slice_fields(array), "words": words})


class Pipeline(wiring.Component):
    """One group in each interval; see `Intervals`.

    Members
    -------
    phase : ``In``
        The cycle of the interval.
    valid : ``In(1)``
    issue : ``In(issue_layout(config))``
        Stable in an interval.
    gprs : ``In(8)``
    reads : ``Out(ArrayLayout(register_address_layout(config), 4))``
        Of the register file, in the first three of every four cycles.
    words : ``In(ArrayLayout(words of a slice, 4))``
        A cycle later.
    constant_words : ``In(WORDS)``
        In the first two cycles the rows of the group's pairs of constants.
    ends : ``Out(1)``
        A group's results are valid.
    ending : ``Out(ending_layout(config))``
    predicate : ``Out(W)``
        Of the group's PRED_SET.
    kill : ``Out(ArrayLayout(W, 5))``
    addresses : ``Out(address_layout(W))``
        Of the group's MOVA.
    results : ``Out(results_layout(config))``
        Of a slice; the last one with `ends`.
    gates : ``In(ArrayLayout(W, 5))``
        In the cycles of its results: pixels in which each slot's instruction writes.
    others : ``In(ArrayLayout(channel_write_layout(config), 4))``
        The writes of other units in a cycle without results; all 0 in cycles with results.
    writes : ``Out(ArrayLayout(channel_write_layout(config), 4))``
        In a cycle with results of a slice its vector results, in the next one those of slot t, else `others`.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config = config
        array = config.array
        self._timing = timing = intervals_of(array, lane_latency(config.arithmetic))
        self._slice_passes = passes_of(by_slice(array))
        size = array.wavefront_lanes
        wide = data.ArrayLayout(slice_words(array), CHANNELS)
        super().__init__(
            {
                "phase": In(range(timing.interval)),
                "valid": In(1),
                "issue": In(issue_layout(config)),
                "gprs": In(8),
                "reads": Out(data.ArrayLayout(register_address_layout(array), CHANNELS)),
                "words": In(wide),
                "words_valid": In(CHANNELS),
                "constant_words": In(WORDS),
                "ends": Out(1),
                "ending": Out(ending_layout(config)),
                "predicate": Out(size),
                "kill": Out(data.ArrayLayout(size, GROUP_SLOTS)),
                "addresses": Out(address_layout(size)),
                "results": Out(results_layout(array)),
                "gates": In(data.ArrayLayout(size, GROUP_SLOTS)),
                "others": In(data.ArrayLayout(channel_write_layout(array), CHANNELS)),
                "writes": Out(data.ArrayLayout(channel_write_layout(array), CHANNELS)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        timing, lanes = self._timing, self._config.array.at_once
        rows = self._read(m)
        uniform = uniform_operands(
            m,
            self.issue.decoded,
            self.constant_words,
            is_first=self.phase == 0,
            is_last=self.phase == timing.choice - 1,
        )
        # The controls of a group whose operands were read, while its passes are chosen.
        chosen: data.View = record(issue_layout(self._config), name="chosen", reset_less=True)
        with m.If(self.phase == timing.choice - 1):
            m.d.sync += chosen.eq(self.issue)
        in_pass = Signal(timing.passes)
        m.d.sync += in_pass.eq(Cat(self.valid & (self.phase == timing.choice - 1), in_pass))
        number = self._pass_number(in_pass)
        in_slice, firsts = number[: (self._slice_passes - 1).bit_length()], in_pass[:: self._slice_passes]
        pass_words = self._pass_words(m, rows, in_slice, firsts.any())
        units = [Lane(self._config.arithmetic) for _ in range(lanes)]
        control = delay(m, chosen.decoded.control, name="control")
        units[0].gate_together(m, platform, control)
        share_tables(m, [unit.functions for unit in units])
        passes = delay_valid(m, in_pass, 1 + timing.lane_latency)[-1]
        ending = self._ending(m, chosen)
        begins = self.phase == timing.choice - 1
        read_row = Mux(begins, self._row(m, self.issue.context, 0), self._row(m, chosen.context, number + 1))
        written = self._pass_number(passes)
        for lane, unit in enumerate(units):
            m.submodules[f"lane_{lane}"] = unit
            memory = BlockRam(_PREVIOUS, timing.passes * contexts_of(self._config.array))
            m.submodules[f"previous_{lane}"] = memory
            write, read = memory.write_port(), memory.read_port()
            pixels = Cat(ending.chosen[first + lane] for first in range(0, self._config.array.wavefront_lanes, lanes))
            m.d.comb += [
                write.addr.eq(self._row(m, ending.context, written)),
                write.data.eq(unit.results.words),
                write.en.eq((passes & pixels).any()),
                read.addr.eq(read_row),
            ]
            operands = self._choose(m, lane, chosen.decoded.operands, pass_words, Value.cast(read.data), uniform)
            m.d.comb += [unit.operands.eq(delay(m, operands, name="operands")), unit.control.eq(control)]
        self._gather(m, units, passes, ending)
        return m

    @staticmethod
    def _pass_number(bits: Value) -> Value:
        """The number of the pass whose bit is set."""
        return one_hot_index(bits)

    def _row(self, m: Module, context: Value, number: Value | int) -> Value:
        """The row of a pass's previous results."""
        row = Signal((self._timing.passes - 1).bit_length(), name="row_of_pass")
        m.d.comb += row.eq(number)
        return Cat(row, context)

    def _read(self, m: Module) -> list[list[Value]]:
        """Read registers and constants; the words of each cycle and channel, all valid in the cycle `choice`.

        Those of the last cycle are the file's outputs, in all of the pixels.
        """
        issue, timing, step = self.issue, self._timing, self.phase[: (PERIOD - 1).bit_length()]
        decoded = issue.decoded
        base = self._base(m, issue.base, self.phase[len(step) :], step == PERIOD - 1, "read")
        for channel in range(CHANNELS):
            port = Signal(decoded.ports[0][0].shape(), name=f"port_{channel}")
            m.d.comb += port.eq(Array(map(Value.cast, (cycle[channel] for cycle in decoded.ports)))[step])
            offset = offset_of(m, decoded.indices, Value.cast(port.mode))
            found = register_address(
                m, self._config.array, port.number, offset, port.relative, gprs=self.gprs, base=base
            )  # fmt: skip
            m.d.comb += self.reads[channel].eq(found)
        words = [Value.cast(self.words[channel]) for channel in range(CHANNELS)]
        rows: list[list[Value]] = []
        for cycle in range(READ_CYCLES - 1):
            held = [Signal(len(word), name=f"row_{cycle}", reset_less=True) for word in words]
            comes = step == cycle + 1
            for target, word, is_valid in zip(held, words, self.words_valid, strict=True):
                with m.If(comes):
                    m.d.sync += target.eq(word)
                # Each has a reset of its own: flip-flops have no multiplexer that all rows share.
                with m.If(comes & ~is_valid):
                    m.d.sync += target.eq(0)
            rows.append(list(held))
        assert timing.choice == READ_CYCLES
        return [*rows, list(words)]

    def _base(self, m: Module, first: Value, number: Value, ends: Value, name: str) -> Value:
        """The row of register 0 of a slice, `first` that of the first one; `ends` advances to the next slice."""
        if slices_of(self._config.array) == 1:
            return first
        base, upcoming = Signal.like(first, name=f"{name}_base"), Signal.like(first, name=f"{name}_base_next")
        m.d.comb += base.eq(Mux(number == 0, first, upcoming))
        with m.If(ends):
            m.d.sync += upcoming.eq(base + rows_of(self.gprs))
        return base

    def _pass_words(self, m: Module, rows: list[list[Value]], number: Value, is_first: Value) -> list[list[Value]]:
        """The words of the pass, of each cycle and channel.

        While a slice's last pass is chosen, words of the next one's first cycle have come already. Those of the last
        cycle come while its first pass is chosen.
        """
        width, last = self._config.array.at_once * WORD_BITS, self._slice_passes - 1
        passing = {0: range(max(last, 1), last + 1), READ_CYCLES - 1: range(1, last + 1)}
        pass_words: list[list[Value]] = []
        for cycle, row in enumerate(rows):
            of_cycle: list[Value] = []
            for channel, words in enumerate(row):
                # The file's outputs still hold the words of the last cycle.
                is_valid = self.words_valid[channel] if cycle == READ_CYCLES - 1 else Const(1)
                now = Signal(width, name=f"pass_words_{cycle}_{channel}")
                by_pass = [words[first : first + width] for first in range(0, len(words), width)]
                for later in passing.get(cycle, ()):
                    kept = Signal(width, name=f"kept_{cycle}_{channel}_{later}", reset_less=True)
                    with m.If(is_first):
                        m.d.sync += kept.eq(masked(by_pass[later], is_valid))
                    by_pass[later] = kept
                by_pass[0] &= is_valid.replicate(width)
                m.d.comb += now.eq(Array(by_pass)[number])
                of_cycle.append(now)
            pass_words.append(of_cycle)
        return pass_words

    def _choose(
        self,
        m: Module,
        lane: int,
        operands: data.View,
        pass_words: list[list[Value]],
        previous: Value,
        uniform: data.View,
    ) -> data.View:
        """The operands of one lane."""
        chosen: data.View = record(GROUP_OPERANDS, name=f"chosen_{lane}")
        first = lane * WORD_BITS
        rows = [[channel[first : first + WORD_BITS] for channel in cycle] for cycle in pass_words]
        # Previous vector results are selected as one cycle more of reads.
        rows.append([previous.word_select(channel, WORD_BITS) for channel in range(CHANNELS)])
        scalar = previous[VECTOR_SLOTS * WORD_BITS :]
        for slot in range(GROUP_SLOTS):
            for number in range(OPERANDS):
                wanted, common = operands[slot][number], Value.cast(uniform[slot][number])
                word = Signal(WORD_BITS, name=f"word_{lane}_{slot}_{number}")
                is_uniform = wanted.source == Source.UNIFORM
                row = wanted.cycle | (wanted.source == Source.VECTOR).replicate(len(wanted.cycle))
                m.d.comb += [
                    word.eq(Array(chain(*rows))[Cat(wanted.channel, row)]),
                    # The bits of a word that is not uniform are the operand's select, which takes one LUT.
                    chosen[slot][number].eq(
                        (common & (is_uniform.replicate(WORD_BITS) | scalar))
                        | (word & ~common & ~is_uniform.replicate(WORD_BITS))
                    ),
                ]
        return chosen

    def _ending(self, m: Module, chosen: data.View) -> data.View:
        """The group whose results come, from the cycle `first` on."""
        timing = self._timing
        load = timing.first - 1
        start = timing.choice + (load - timing.choice) % timing.interval
        layout = ending_layout(self._config)
        before: data.View = record(layout, name="before_ending")
        fields = [before[name].eq(chosen[name]) for name in ("context", "chosen", "base", "last")]
        m.d.comb += [*fields, *(before[name].eq(chosen.decoded[name]) for name in ("effects", "indices"))]
        for _ in range((load - start) // timing.interval + 1):
            after: data.View = record(layout, name="ending", reset_less=True)
            with m.If(self.phase == timing.phase(load)):
                m.d.sync += after.eq(before)
            before = after
        return before

    def _gather(self, m: Module, units: list[Lane], passes: Value, ending: data.View) -> None:
        """Gather the results of the passes: words of a slice, to be written; masks and addresses of the group."""
        ends, results = passes[self._slice_passes - 1 :: self._slice_passes], self.results

        def together(values: list[Value], name: str, count: int, last: Value) -> Value:
            """One value of each lane, of `count` passes: those of the `last` one are the lanes' now."""
            now = Cat(values)
            if count == 1:
                return now
            held = Signal(len(now) * (count - 1), name=name, reset_less=True)
            with m.If(~last):
                m.d.sync += held.eq(Cat(held, now)[len(now) :])
            return Cat(held, now)

        def of_group(values: list[Value], name: str) -> Value:
            return together(values, name, self._timing.passes, passes[-1])

        words = [
            together([unit.results.words[slot] for unit in units], f"words_{slot}", self._slice_passes, ends.any())
            for slot in range(GROUP_SLOTS)
        ]
        m.d.comb += [
            self.ends.eq(passes[-1]),
            self.ending.eq(ending),
            results.valid.eq(ends.any()),
            *([results.slice.eq(one_hot_index(ends))] if len(ends) > 1 else []),
            Value.cast(results.words).eq(Cat(words)),
            self.predicate.eq(of_group([unit.results.predicate for unit in units], "predicates")),
        ]
        for slot in range(GROUP_SLOTS):
            m.d.comb += self.kill[slot].eq(of_group([unit.results.kill[slot] for unit in units], f"kills_{slot}"))
        for slot in range(VECTOR_SLOTS):
            indices = of_group([Value.cast(unit.results.indices[slot]) for unit in units], f"indices_{slot}")
            m.d.comb += Value.cast(self.addresses[slot]).eq(indices)
        self._write(m, ending, words)

    def _write(self, m: Module, ending: data.View, words: list[Value]) -> None:
        """Write the results of a slice, those of slot t a cycle after the vector results, and other units' writes.

        Words that wait for their cycle are 0 by the reset of their flip-flops unless they are written in it, so that
        all writers of a bit meet in one LUT.
        """
        results, number = self.results, slice_in(self._config.array, self.results)
        base = self._base(m, ending.base, number, results.valid, "write")
        gates = [slice_of(self._config.array, self.gates[slot], number) for slot in range(GROUP_SLOTS)]
        trans = ending.effects[TRANS_SLOT]
        target, exists = self._result_address(m, base, ending, trans)
        trans_writes, trans_row, is_trans = results.valid & trans.writes & exists, Signal.like(target), Signal()
        m.d.sync += [is_trans.eq(trans_writes), trans_row.eq(target)]
        for channel in range(CHANNELS):
            write, other, effect = self.writes[channel], self.others[channel], ending.effects[channel]
            target, exists = self._result_address(m, base, ending, effect)
            enable = Mux(results.valid & effect.writes & exists, gates[channel], 0)
            coming = Mux(trans_writes & (trans.channel == channel), gates[TRANS_SLOT], 0)
            enable_trans = Signal.like(coming, name=f"enable_trans_{channel}")
            words_trans = Signal(len(words[TRANS_SLOT]), name=f"words_trans_{channel}", reset_less=True)
            m.d.sync += [enable_trans.eq(coming), *taken(words_trans, words[TRANS_SLOT], coming)]
            m.d.comb += [
                write.row.eq(Mux(results.valid, target, Mux(is_trans, trans_row, other.row))),
                write.enable.eq(enable | enable_trans | other.enable),
                Value.cast(write.words).eq((words[channel] & _by_word(enable)) | words_trans | Value.cast(other.words)),
            ]

    def _result_address(self, m: Module, base: Value, ending: data.View, effect: data.View) -> tuple[Value, Value]:
        """The row of a result, and whether it exists."""
        offset = offset_of(m, ending.indices, Value.cast(effect.mode))
        found = register_address(
            m, self._config.array, effect.number, offset, effect.relative, gprs=self.gprs, base=base
        )  # fmt: skip
        return found.row, found.exists


def _by_word(bits: Value) -> Value:
    """Each bit, replicated to the width of a word."""
    return Cat(bit.replicate(WORD_BITS) for bit in bits)
