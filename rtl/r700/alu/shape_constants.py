"""The constants of shapes, as groups of a draw's pixel program name them.

Source: docs/draws.md, interpolation.
"""

from amaranth import Array, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.draws import CORNERS, shape_layout
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.shading import RECORDS, constant_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.views import record
from ctm.rtl.r700.alu.decode import CONSTANT_PAIR, RECORD_BANK


def taken_layout(config: MachineConfig) -> data.StructLayout:
    """A wavefront of pixels that takes a wave slot: where its shape's constants are."""
    layout = shape_layout(config.pipeline.vertices, RECORDS)
    return data.StructLayout({"valid": 1, "wave": wave_bits(config.array), "constants": layout})


class ShapeRead(Interface):
    """Reads of the constants of shapes, seen from the ALU.

    Members
    -------
    taken : ``In(taken_layout(config))``
        The shape of a wavefront of pixels, when it takes a wave slot.
    constant : ``Out(constant_layout(vertices))``
        The constant that is read; undefined without `valid`.
    valid : ``Out(1)``
        It is read instead of the float constant of this cycle.
    """

    def __init__(self, config: MachineConfig) -> None:
        constant = constant_layout(config.pipeline.vertices)
        super().__init__({"taken": In(taken_layout(config)), "constant": Out(constant), "valid": Out(1)})


def connect_shapes(
    m: Module,
    read: wiring.PureInterface,
    config: MachineConfig,
    wave: Value,
    pairs: tuple[data.View, data.View],
    *,
    is_last: Value,
    is_second: Value,
) -> None:
    """Drive the ALU's reads of the constants of shapes.

    `wave` is the wave slot of the group that is decoded. `pairs` are the first pair of that group and the second pair
    of the group that is issued. `is_last` is the interval's last cycle, `is_second` that in which the second pair is
    read.
    """
    m.submodules.shapes = shapes = ShapeConstants(config)
    connect(m, shapes.read, flipped(read))
    m.d.comb += [
        shapes.wave.eq(wave),
        shapes.issues.eq(is_last),
        shapes.is_second.eq(is_second),
        shapes.first.eq(pairs[0]),
        shapes.second.eq(pairs[1]),
    ]


class ShapeConstants(wiring.Component):
    """Finds the constants of a group's pairs that are of its wavefront's shape. Combinational; one pair in each cycle.

    Members
    -------
    read : ``Out(ShapeRead(config))``
    wave : ``In``
        The wave slot of the group that is decoded.
    issues : ``In(1)``
        The interval's last cycle, after which the group that is decoded may be issued: its shape is kept.
    first, second : ``In(CONSTANT_PAIR)``
        The first pair of the group that is decoded, and the second pair of the group that is issued.
    is_second : ``In(1)``
        Read `second`, of the shape that was kept.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config = config
        super().__init__(
            {
                "read": Out(ShapeRead(config)),
                "wave": In(wave_bits(config.array)),
                "issues": In(1),
                "first": In(CONSTANT_PAIR),
                "second": In(CONSTANT_PAIR),
                "is_second": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        layout = shape_layout(self._config.pipeline.vertices, RECORDS)
        m.submodules.shapes = shapes = DistributedRam(layout, self._config.array.threads)
        taken, constant = self.read.taken, self.read.constant
        shapes.write(m, taken.wave, taken.constants, taken.valid)
        own = Value.cast(shapes.read(m, self.wave))
        issued, chosen = record(layout, name="issued", reset_less=True), record(layout, name="chosen")
        pair = record(CONSTANT_PAIR, name="pair")
        with m.If(self.issues):
            m.d.sync += Value.cast(issued).eq(own)
        m.d.comb += [
            Value.cast(chosen).eq(Mux(self.is_second, Value.cast(issued), own)),
            Value.cast(pair).eq(Mux(self.is_second, Value.cast(self.second), Value.cast(self.first))),
            self.read.valid.eq(pair.bank.any()),
            constant.is_record.eq(pair.bank == RECORD_BANK),
            constant.record.eq(chosen.record),
            constant.row.eq(pair.row),
            constant.entry.eq(Array([*chosen.corners, chosen.provoking])[_vertex_of(pair.bank)]),
        ]
        return m


def _vertex_of(bank: Value) -> Value:
    """Which of a shape's vertices a bank is of: a corner, or after these the provoking one."""
    return Mux(bank > RECORD_BANK, CORNERS, bank - 1)[: CORNERS.bit_length()]
