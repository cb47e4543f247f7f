"""Instructions of texture clauses that are no vertex fetch.

Source: R700-Family Instruction Set Architecture, chapter 5; docs/design/r700-core.md.
"""

from amaranth import Cat, Module, Signal, Value, signed

from ctm.rtl.isa.limits import INPUTS
from ctm.rtl.isa.r700 import fetch
from ctm.rtl.isa.r700.fetch import TextureOperation
from ctm.rtl.r700.fetch.forms.form import FetchForm, has_unused_select, read_words, registers_and_selects
from ctm.rtl.r700.fetch.operation import Task

_SAMPLES = tuple(operation for operation in fetch.LOOKUPS if operation is not TextureOperation.LD)


class TextureForm(FetchForm):
    """Fetches of an input by coordinates, its size, and gradients.

    The input is RESOURCE_ID less the program's `texture_base`; a fetch of one that does not exist is illegal. Samplers
    and levels of detail are ignored. Instructions that set or keep gradients do nothing.
    """

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        found = self.fetch
        (first, second, third, _), reserved = read_words(self.words, fetch.TEXTURE)
        number = Signal(signed(11))
        code = Value.cast(first.tex_inst)
        needs_input = Signal()
        m.d.comb += [
            number.eq(first.resource_id - self.program.texture_base),
            found.input.eq(number),
            *registers_and_selects(found, first, second),
            *(found.coordinates[position].eq(third[f"src_sel_{name}"]) for position, name in enumerate("xyzw")),
            *(found.offsets[position].eq(third[f"offset_{name}"]) for position, name in enumerate("xy")),
            found.normalised.eq(Cat(second.coord_type_x, second.coord_type_y)),
            found.vertical.eq(code == TextureOperation.GET_GRADIENTS_V.value),
        ]
        is_legal = Signal()
        tasks = {
            Task.SAMPLE: _SAMPLES,
            Task.LOAD: (TextureOperation.LD,),
            Task.SIZE: (TextureOperation.GET_TEXTURE_RESINFO,),
            Task.GRADIENT: (TextureOperation.GET_GRADIENTS_H, TextureOperation.GET_GRADIENTS_V),
            Task.NOTHING: (
                TextureOperation.KEEP_GRADIENTS, TextureOperation.SET_GRADIENTS_H, TextureOperation.SET_GRADIENTS_V,
            ),
        }  # fmt: skip
        with m.Switch(code):
            for task, operations in tasks.items():
                with m.Case(*(operation.value for operation in operations)):
                    m.d.comb += [found.task.eq(task), is_legal.eq(1)]
        is_input = (number >= 0) & (number < INPUTS)
        m.d.comb += [
            needs_input.eq((found.task != Task.GRADIENT) & (found.task != Task.NOTHING)),
            found.illegal.eq(
                ~is_legal
                | reserved
                | first.alt_const
                | first.bc_frac_mode
                | has_unused_select(second)
                | (needs_input & ~is_input)
            ),
        ]
        return m
