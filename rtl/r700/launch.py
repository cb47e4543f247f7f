"""A program's launch: the cores' `PROGRAM`, from its program information and the state that commands set.

Source: docs/design/r700-core.md, executables.
"""

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER
from ctm.rtl.border.programs import DOMAIN, image_layout
from ctm.rtl.dpp.program import connect_launch
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import INPUTS, OUTPUTS, WORD_BITS
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY, LDS_BANK_DWORDS, LDS_ROW, STACK_ENTRIES, SUBENTRIES
from ctm.rtl.isa.r700.program import (
    FLAGS,
    PROGRAM_FORMAT,
    PROGRAM_INFORMATION,
    ProgramType,
)
from ctm.rtl.isa.status import Status
from ctm.rtl.r700.shapes import AREAS, PROGRAM, TEXTURE_BASE_BITS


class Launch(wiring.Component):
    """Makes the cores' `PROGRAM`. Combinational.

    Members
    -------
    image : ``In(image_layout(PROGRAM_FORMAT))``
    inputs, outputs : ``In(BUFFER)``, 16 and 4 of them
    domain : ``In(DOMAIN)``
    tests : ``In(1)``
        The conditional unit tests the array's wavefronts.
    conditional_value, watchdog : ``In(32)``
    program : ``Out(PROGRAM)``
    status : ``Out(Status)``
        OK; BAD_EXECUTABLE: the program information is illegal; BAD_UMRT_FORMAT: an area of memory needs an output of
        FLOAT32_1 in rows.
    """

    image: In(image_layout(PROGRAM_FORMAT))
    inputs: In(data.ArrayLayout(BUFFER, INPUTS))
    outputs: In(data.ArrayLayout(BUFFER, OUTPUTS))
    domain: In(DOMAIN)
    tests: In(1)
    conditional_value: In(WORD_BITS)
    watchdog: In(WORD_BITS)
    program: Out(PROGRAM)
    status: Out(Status)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        words = dict(zip(PROGRAM_INFORMATION, self.image.information, strict=True))
        flags = data.View(FLAGS, words["FLAGS"])
        program, base = self.program, words["TEX_BASE"]
        beyond = 1 << TEXTURE_BASE_BITS - 1
        m.d.comb += [
            program.start.eq(words["CF_START"]),
            program.code.eq(self.image.code),
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
        domain = self.domain
        m.d.comb += [
            program.domain.i0.eq(domain.i0),
            program.domain.j0.eq(domain.j0),
            program.domain.width.eq(domain.i1 - domain.i0 + 1),
            program.domain.height.eq(domain.j1 - domain.j0 + 1),
        ]
        for area, output in zip(program.areas, AREAS, strict=True):
            m.d.comb += [area.limits.eq(self.outputs[output].limits), area.stride.eq(self.outputs[output].stride)]
        bad = [
            words["TYPE"] >= len(ProgramType),
            words["CF_START"] >= self.image.size,
            (words["NUM_GPRS"] == 0) | (words["NUM_GPRS"] > FIRST_CLAUSE_TEMPORARY),
            words["STACK_SIZE"] > STACK_ENTRIES,
            flags.reserved.any(),
            (words["LDS_DWORDS"] > LDS_BANK_DWORDS) | words["LDS_DWORDS"][: LDS_ROW.bit_length() - 1].any(),
            *(word.any() for name, word in words.items() if name.startswith("reserved")),
        ]
        wrong = [
            wanted
            & ((Value.cast(self.outputs[number].format) != DataFormat.FLOAT32_1.value) | self.outputs[number].tiled)
            for wanted, number in zip((flags.memory, flags.scratch), AREAS, strict=True)
        ]
        m.d.comb += self.status.eq(
            Mux(
                Cat(bad).any(),
                Status.BAD_EXECUTABLE.value,
                Mux(Cat(wrong).any(), Status.BAD_UMRT_FORMAT.value, Status.OK.value),
            )
        )
        return m
