"""A group in the pipeline: as it is issued, and with its results.

Source: docs/design/r700-core.md.
"""

from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.r700.limits import GROUP_SLOTS
from ctm.rtl.r700.alu.clauses import contexts_of
from ctm.rtl.r700.alu.decode import DECODED, INDICES
from ctm.rtl.r700.alu.instructions import EFFECT
from ctm.rtl.r700.border.alu_clause import address_layout
from ctm.rtl.r700.border.registers import row_bits, slice_words
from ctm.rtl.r700.partition import Partition


def issue_layout(config: MachineConfig) -> data.StructLayout:
    """A group that is issued for the pixels in `chosen`.

    `base` is the row of register 0 of its wavefront. It is the `last` one if its clause ends with it: it has no further
    group, and this one no further issue.
    """
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
    """The fields of `issue_layout` that a group's results need: its `effects`, and the bases of relative numbers."""
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


def results_layout(partition: Partition) -> data.StructLayout:
    """The results of a slice's pixels, if `valid`, as [slot][pixel]."""
    words = data.ArrayLayout(slice_words(partition), GROUP_SLOTS)
    return data.StructLayout({"valid": 1, **partition.slice_fields, "words": words})


class GroupEnd(Interface):
    """The end of a group, seen from the pipeline.

    Members
    -------
    group : ``Out(ending_layout(config))``
        The group whose results come.
    results : ``Out(results_layout(Partition.of(array)))``
        Those of a slice; the last slice's come with `ends`.
    ends : ``Out(1)``
        Its last results come.
    predicate, kill : ``Out(W)``, ``Out(ArrayLayout(W, 5))``
        With `ends`: the result of its PRED_SET, and of each slot's KILL, in each pixel.
    addresses : ``Out(address_layout(W))``
        With `ends`: MOVA's indices.
    gates : ``In(ArrayLayout(W, 5))``
        In the cycles of its results: pixels in which each slot's instruction writes.
    """

    def __init__(self, config: MachineConfig) -> None:
        partition = Partition.of(config.array)
        size = partition.wavefront
        super().__init__(
            {
                "group": Out(ending_layout(config)),
                "results": Out(results_layout(partition)),
                "ends": Out(1),
                "predicate": Out(size),
                "kill": Out(data.ArrayLayout(size, GROUP_SLOTS)),
                "addresses": Out(address_layout(size)),
                "gates": In(data.ArrayLayout(size, GROUP_SLOTS)),
            }
        )
