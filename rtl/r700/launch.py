"""A program's launch: the cores' `PROGRAM`, from its program information and the state that commands set.

Source: docs/r700.md, a program.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, EXTENT, limits_of
from ctm.rtl.border.programs import LaunchClient
from ctm.rtl.border.shading import DRAW, DRAW_PROGRAMS, Stage
from ctm.rtl.dpp.program import connect_launch
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import INPUTS, OUTPUTS, WORD_BITS
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY, LDS_BANK_DWORDS, LDS_ROW, STACK_ENTRIES, SUBENTRIES
from ctm.rtl.isa.r700.program import (
    FLAGS,
    PIXEL_TYPE,
    PROGRAM_FORMAT,
    PROGRAM_INFORMATION,
    ProgramType,
)
from ctm.rtl.isa.status import Status
from ctm.rtl.r700.pipeline_note import PipelineNote
from ctm.rtl.r700.shapes import AREAS, PROGRAM, TEXTURE_BASE_BITS


class Launch(wiring.Component):
    """Makes the cores' `PROGRAM`. Combinational.

    Members
    -------
    processor : ``In(LaunchClient(PROGRAM_FORMAT, draws=draws))``
        Its status is OK, or the first of these: BAD_EXECUTABLE, the program information is illegal, or a draw's
        pipeline; BAD_DRAW, the machine does not do this draw, an item of its ring is too large, or it adds to an output
        that has no 32-bit floats; BAD_UMRT_FORMAT, an area of memory needs a linear output of FLOAT32_1.
    inputs : ``In(EXTENT)``, 16 of them
    outputs : ``In(BUFFER)``, `outputs` of them
    tests : ``In(1)``
        The conditional unit tests the array's wavefronts.
    watchdog : ``In(32)``
    draw : ``In(DRAW)``
        With `draws`: what the array runs, and the state of the draw.
    draw_programs : ``Out(DRAW_PROGRAMS)``
        Likewise.
    program : ``Out(PROGRAM)``
    """

    latency = 0

    def __init__(self, *, draws: bool = False, outputs: int = OUTPUTS) -> None:
        self._draws = draws
        drawn = {"draw": In(DRAW), "draw_programs": Out(DRAW_PROGRAMS)} if draws else {}
        super().__init__(
            {
                "processor": In(LaunchClient(PROGRAM_FORMAT, draws=draws)),
                "inputs": In(data.ArrayLayout(EXTENT, INPUTS)),
                "outputs": In(data.ArrayLayout(BUFFER, outputs)),
                "tests": In(1),
                "watchdog": In(WORD_BITS),
                **drawn,
                "program": Out(PROGRAM),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        words = dict(zip(PROGRAM_INFORMATION, self.processor.image.information, strict=True))
        flags = data.View(FLAGS, words["FLAGS"])
        program, base = self.program, words["TEX_BASE"]
        beyond = 1 << TEXTURE_BASE_BITS - 1
        m.d.comb += [
            program.start.eq(words["CF_START"]),
            program.code.eq(self.processor.image.code),
            Value.cast(program.type).eq(words["TYPE"][0]),
            program.gprs.eq(words["NUM_GPRS"]),
            program.stack.eq(words["STACK_SIZE"] * SUBENTRIES),
            program.share.eq(words["LDS_DWORDS"] >> (LDS_ROW.bit_length() - 1)),
            program.dx10_clamp.eq(flags.dx10_clamp),
            program.conditional_from_program.eq(flags.depth),
            program.memory.eq(flags.memory),
            program.scratch.eq(flags.scratch),
            program.texture_base.eq(Mux(base >= beyond, beyond, base)),
        ]
        connect_launch(m, self)
        self._connect_domain(m)
        bad_type = words["TYPE"] >= len(ProgramType)
        is_bad, is_bad_draw = Signal(name="is_bad"), Const(0)
        if self._draws:
            is_draw = self.draw.stage != Stage.DOMAIN
            bad_type = Mux(is_draw, words["TYPE"] != PIXEL_TYPE, bad_type)
            note = PipelineNote(m, self.processor.image, self.draw)
            note.connect(m, program, self.draw_programs)
            floats = DataFormat.FLOAT32_1, DataFormat.FLOAT32_2, DataFormat.FLOAT32_4
            no_floats = [
                (output.pitch != 0) & ~Value.cast(output.format).matches(*(each.value for each in floats))
                for output in self.outputs
            ]
            is_bad_draw = is_draw & (self.draw.is_bad | note.is_beyond | (self.draw.adds & Cat(no_floats).any()))
        bad = [
            bad_type,
            words["CF_START"] >= self.processor.image.size,
            (words["NUM_GPRS"] == 0) | (words["NUM_GPRS"] > FIRST_CLAUSE_TEMPORARY),
            words["STACK_SIZE"] > STACK_ENTRIES,
            flags.reserved.any(),
            (words["LDS_DWORDS"] > LDS_BANK_DWORDS) | words["LDS_DWORDS"][: LDS_ROW.bit_length() - 1].any(),
            *(word.any() for name, word in words.items() if name.startswith("reserved")),
            *([is_draw & note.is_bad] if self._draws else []),
        ]
        wrong = [
            wanted
            & ((Value.cast(self.outputs[number].format) != DataFormat.FLOAT32_1.value) | self.outputs[number].tiled)
            for wanted, number in zip((flags.memory, flags.scratch), AREAS, strict=True)
        ]
        m.d.comb += [is_bad.eq(Cat(bad).any()), Value.cast(self.processor.status).eq(Status.OK.value)]
        with m.If(is_bad):
            m.d.comb += self.processor.status.eq(Status.BAD_EXECUTABLE)
        with m.Elif(is_bad_draw):
            m.d.comb += self.processor.status.eq(Status.BAD_DRAW)
        with m.Elif(Cat(wrong).any()):
            m.d.comb += self.processor.status.eq(Status.BAD_UMRT_FORMAT)
        return m

    def _connect_domain(self, m: Module) -> None:
        """The domain, and the outputs that are areas."""
        program, domain = self.program, self.processor.domain
        m.d.comb += [
            program.domain.i0.eq(domain.i0),
            program.domain.j0.eq(domain.j0),
            program.domain.width.eq(domain.i1 - domain.i0 + 1),
            program.domain.height.eq(domain.j1 - domain.j0 + 1),
        ]
        for area, output in zip(program.areas, AREAS, strict=True):
            m.d.comb += [area.limits.eq(limits_of(self.outputs[output])), area.stride.eq(self.outputs[output].stride)]
