"""Single mistakes in what begins and ends programs and wavefronts."""

from collections.abc import Mapping

from ctm.tb.lib.planting import Fault, faults_in

FAULTS: Mapping[str, list[Fault]] = {
    "parts.test_finish": faults_in(
        "rtl.r700.finish",
        ("init=self._segments", "init=0"),
        ("self.end.ready.eq(~busy)", "self.end.ready.eq(1)"),
        ("faulted.eq(faults)", "faulted.eq(0)"),
        ("self.fault.valid.eq(taken & faults)", "self.fault.valid.eq(self.end.valid & faults)"),
        ("Cat(end.pc[:-1], end.problem.address)", "Cat(end.pc, end.problem.address)"),
        ("positions.read(m, end.wave)", "positions.read(m, wave)"),
        ("with m.Elif(busy & self.can_retire):", "with m.Elif(busy):"),
        ("(self.released.context[:bits] == self._segments - 1)", "(self.released.context[:bits] == 0)"),
        ("first * (lanes // 2)", "first * lanes"),
        ("of_wave.covered.word_select(first, lanes)", "of_wave.covered.word_select(0, lanes)"),
        (
            "state.valid_mask.eq(ended_mask.word_select(first, lanes))",
            "state.valid_mask.eq(ended_mask.word_select(0, lanes))",
        ),
    ),
    "parts.test_launch": faults_in(
        "rtl.r700.launch",
        ('words["STACK_SIZE"] * SUBENTRIES', 'words["STACK_SIZE"]'),
        ("(LDS_ROW.bit_length() - 1)),", "LDS_ROW.bit_length()),"),
        ("dx10_clamp.eq(flags.dx10_clamp)", "dx10_clamp.eq(flags.depth)"),
        ("Mux(base >= beyond, beyond, base)", "base"),
        ("domain.i1 - domain.i0 + 1", "domain.i1 - domain.i0"),
        ("height.eq(domain.j1", "height.eq(domain.i1"),
        ("area.stride.eq(self.outputs[output].stride)", "area.stride.eq(self.outputs[0].stride)"),
        ('words["CF_START"] >= self.processor.image.size', 'words["CF_START"] > self.processor.image.size'),
        ('(words["NUM_GPRS"] == 0) | ', ""),
        ("> FIRST_CLAUSE_TEMPORARY", ">= FIRST_CLAUSE_TEMPORARY"),
        ('words["STACK_SIZE"] > STACK_ENTRIES', 'words["STACK_SIZE"][:8] > STACK_ENTRIES'),
        ("flags.reserved.any()", "flags.reserved[0]"),
        (' | words["LDS_DWORDS"][: LDS_ROW.bit_length() - 1].any()', ""),
        ('if name.startswith("reserved")', 'if name.startswith("reserved1")'),
        (" | self.outputs[number].tiled", ""),
        ("zip((flags.memory, flags.scratch)", "zip((flags.scratch, flags.memory)"),
    ),
    "parts.test_start": faults_in(
        "rtl.r700.start",
        ("size = count * partition.slices", "size = count"),
        ("with m.If(next_block >= end):", "with m.If(next_block > end):"),
        ("(from_row & to_end)", "(from_row)"),
        ("(from_row & to_end)", "(to_end)"),
        ("number[-bits:] * count", "number[-bits:] * (count - 1)"),
        ("target.followed.eq(in_slice != last)", "target.followed.eq(number != partition.passes - 1)"),
        (", number.eq(0)]", "]"),
        ("* domain.width + wavefront.i - domain.i0", "* domain.width + wavefront.i"),
        ("Mux(row_before, width, 0) + row * width", "row * width"),
        ("wavefront.j + row_before + offset", "wavefront.j + offset"),
        ("wavefront.i + before + offset", "(wavefront.i + before + offset)[:12]"),
        ("numbers[row] + column,", "numbers[row],"),
        ("number * lanes + lane", "number + lane"),
        ("self.program.share.any()", "self.program.share[0]"),
        ("with m.If(~self.fetch.share.valid | self.fetch.share.ready):", "with m.If(1):"),
    ),
    "parts.test_occupancy": faults_in(
        "rtl.r700.occupancy",
        ("rows_of(program.gprs) * Partition.of(config).slices", "rows_of(program.gprs)"),
        ("rows_of(program.gprs)", "program.gprs"),
        ("config.stack_entries * SUBENTRIES", "config.stack_entries"),
        ("LDS_BANK_DWORDS // LDS_ROW", "LDS_BANK_DWORDS"),
        ("total <= capacity", "total < capacity"),
        ("taken.eq(0) for taken", "taken.eq(taken) for taken"),
        ("[self.usable.eq(0)", "[self.usable.eq(1)"),
        ("zip(totals, limits, strict=True)).all()", "zip(totals[:1], limits[:1], strict=True)).all()"),
    ),
}
"""By the test whose `compare` finds them."""
