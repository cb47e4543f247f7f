"""A form of fetch instructions: the fields of its words, and what several forms have in common.

Source: R700-Family Instruction Set Architecture, chapter 5.
"""

from amaranth import Cat, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.statement import Assign
from ctm.rtl.r700.fetch.operation import FETCH
from ctm.rtl.r700.shapes import PROGRAM

INSTRUCTION_BITS = 4 * WORD_BITS
_UNUSED_SELECT = 6


class FetchForm(wiring.Component):
    """Decodes the fetch instructions of one form. Combinational.

    Members
    -------
    words : ``In(128)``
        An instruction of this form.
    program : ``In(PROGRAM)``
    fetch : ``Out(FETCH)``
        With `illegal` all other fields are undefined.
    """

    words: In(INSTRUCTION_BITS)
    program: In(PROGRAM)
    fetch: Out(FETCH)

    latency = 0


def read_words(words: Value, layouts: tuple[data.StructLayout, ...]) -> tuple[list[data.View], Value]:
    """The words of an instruction as these layouts, and whether a reserved bit is set."""
    views, reserved = [], []
    for number, layout in enumerate(layouts):
        found: data.View = data.View(layout, words.word_select(number, WORD_BITS))
        views.append(found)
        reserved += [Value.cast(found[name]).any() for name, _ in layout if str(name).startswith("reserved")]
    return views, Cat(reserved).any()


def selects_of(second: data.View) -> list[Value]:
    """The selects of a result's components, from the second word."""
    return [Value.cast(second[f"dst_sel_{component}"]) for component in "xyzw"]


def has_unused_select(second: data.View) -> Value:
    """Whether a select is one that no instruction may have."""
    return Cat(select == _UNUSED_SELECT for select in selects_of(second)).any()


def registers_and_selects(found: data.View, first: data.View, second: data.View) -> list[Assign]:
    """The register that is read, the one that is written, and the selects of the result's components."""
    return [
        found.source.eq(first.src_gpr),
        found.source_relative.eq(first.src_rel),
        found.destination.eq(second.dst_gpr),
        found.destination_relative.eq(second.dst_rel),
        *(target.eq(select) for target, select in zip(found.selects, selects_of(second), strict=True)),
    ]
