"""The constants of shapes, as groups of a draw's pixel program name them.

Source: docs/draws.md, interpolation.
"""

from typing import Any

from amaranth import Array, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Member, Out

from ctm.rtl.border.draws import CORNERS, shape_layout
from ctm.rtl.border.shading import RECORDS, constant_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.views import record
from ctm.rtl.r700.alu.decode import CONSTANT_PAIR, RECORD_BANK


def taken_layout(config: MachineConfig) -> data.StructLayout:
    """A wavefront of pixels that takes a wave slot, and its shape."""
    layout = shape_layout(config.pipeline.vertices, RECORDS)
    return data.StructLayout({"valid": 1, "wave": wave_bits(config.array), "constants": layout})


def shape_members(config: MachineConfig) -> dict[str, Member]:
    """The members that the ALU has where the machine draws.

    Members
    -------
    taken : ``In(taken_layout(config))``
        The shape of a wavefront of pixels, when it takes a wave slot.
    shape_constant : ``Out(constant_layout(vertices))``
        The constant of a shape that is read.
    of_shape : ``Out(1)``
        It is read instead of the float constant of this cycle.
    """
    if not config.pipeline.draws:
        return {}
    return {
        "taken": In(taken_layout(config)),
        "shape_constant": Out(constant_layout(config.pipeline.vertices)),
        "of_shape": Out(1),
    }


def connect_shapes(
    m: Module,
    unit: Any,
    config: MachineConfig,
    wave: Value,
    pairs: tuple[Any, Any],
    *,
    is_last: Value,
    is_second: Value,
) -> None:
    """Drive `shape_constant` and `of_shape` of the ALU.

    `wave` is the wave slot of the group that is decoded, the pairs are one of that group's and one of the group that is
    issued; `is_last` is the interval's last cycle, `is_second` that in which the second pair is read.
    """
    m.submodules.shapes = shapes = ShapeConstants(config)
    m.d.comb += [
        shapes.taken.eq(unit.taken),
        shapes.wave.eq(wave),
        shapes.issues.eq(is_last),
        shapes.is_second.eq(is_second),
        shapes.first.eq(pairs[0]),
        shapes.second.eq(pairs[1]),
        unit.shape_constant.eq(shapes.constant),
        unit.of_shape.eq(shapes.valid),
    ]


class ShapeConstants(wiring.Component):
    """Finds the constants of a group's pairs that are of its wavefront's shape. Latency is 0 for the first pair.

    Members
    -------
    taken : ``In(taken_layout(config))``
    wave : ``In``
        The wave slot of the group that is decoded.
    issues : ``In(1)``
        The group is issued in the next cycle.
    first, second : ``In(CONSTANT_PAIR)``
        A pair of the group that is decoded, and one of the group that is issued.
    is_second : ``In(1)``
        Read the second one.
    constant : ``Out(constant_layout(vertices))``
    valid : ``Out(1)``
        The pair is one of a shape's.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config = config
        super().__init__(
            {
                "taken": In(taken_layout(config)),
                "wave": In(wave_bits(config.array)),
                "issues": In(1),
                "first": In(CONSTANT_PAIR),
                "second": In(CONSTANT_PAIR),
                "is_second": In(1),
                "constant": Out(constant_layout(config.pipeline.vertices)),
                "valid": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        layout = shape_layout(self._config.pipeline.vertices, RECORDS)
        m.submodules.shapes = shapes = DistributedRam(layout, self._config.array.threads)
        shapes.write(m, self.taken.wave, self.taken.constants, self.taken.valid)
        own = Value.cast(shapes.read(m, self.wave))
        issued, chosen = record(layout, name="issued", reset_less=True), record(layout, name="chosen")
        pair, constant = record(CONSTANT_PAIR, name="pair"), self.constant
        with m.If(self.issues):
            m.d.sync += Value.cast(issued).eq(own)
        m.d.comb += [
            Value.cast(chosen).eq(Mux(self.is_second, Value.cast(issued), own)),
            Value.cast(pair).eq(Mux(self.is_second, Value.cast(self.second), Value.cast(self.first))),
            self.valid.eq(pair.bank.any()),
            constant.is_record.eq(pair.bank == RECORD_BANK),
            constant.record.eq(chosen.record),
            constant.row.eq(pair.row),
            constant.entry.eq(Array([*chosen.corners, chosen.provoking])[_vertex_of(pair.bank)]),
        ]
        return m


def _vertex_of(bank: Value) -> Value:
    """Which of a shape's vertices a bank is of: a corner, or after these the provoking one."""
    return Mux(bank > RECORD_BANK, CORNERS, bank - 1)[: CORNERS.bit_length()]
