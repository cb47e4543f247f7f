"""A program and the state that it runs in, as the cores take it."""

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring

from ctm.rtl.border.buffers import EXTENT, LIMIT_BITS, LIMITS, limits_of
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.isa.limits import COORDINATE_BITS, INPUTS, REGISTER_BITS, WORD_BITS
from ctm.rtl.lib.pipeline import delay

PITCH_BITS = COORDINATE_BITS + 1

INPUT = data.StructLayout({"limits": LIMITS, "pitch": PITCH_BITS, "height": LIMIT_BITS})
"""An input's limits, and what scaled coordinates are multiplied by (a height of 0 is 4096)."""


def described(extent: data.View) -> data.View:
    """The `INPUT` of an `EXTENT`."""
    return INPUT(Cat(limits_of(extent), extent.pitch, extent.height))


def program_layout(shapes: Shapes) -> data.StructLayout:
    """A program; constant while a wavefront is resident.

    `size` is the number of its code's units, `start` the PC at which a wavefront begins. With `tests` the conditional
    unit tests wavefronts when they end. `conditional_value` is that of lanes whose program gives none. `watchdog` is
    the number of instructions that a wavefront may execute, 0 = any. `output` has the limits of uncached writes.
    """
    return data.StructLayout(
        {
            "size": shapes.pc_bits,
            "start": shapes.pc_bits,
            "highest_temporary": REGISTER_BITS,
            "conditional_from_program": 1,
            "uncached_writes": 1,
            "tests": 1,
            "conditional_value": WORD_BITS,
            "watchdog": WORD_BITS,
            "inputs": data.ArrayLayout(EXTENT, INPUTS),
            "output": LIMITS,
            **shapes.program,
        }
    )


def register_program(m: Module, program: data.View, registered: data.View) -> None:
    """Register a program in a core, but for its inputs, of which only tables are read.

    It is valid two cycles after its start; its first wavefront is offered a cycle later.
    """
    for name, _ in program.shape():
        value = Value.cast(program[name])
        m.d.comb += Value.cast(registered[name]).eq(value if name == "inputs" else delay(m, value, name=f"its_{name}"))


def connect_launch(m: Module, launch: wiring.Component) -> None:
    """Connect what the program takes from the image and from the state of the commands, for both instruction sets.

    `launch` has the members `processor`, `inputs`, `outputs`, `tests`, `watchdog` and `program`.
    """
    program = launch.program
    m.d.comb += [
        program.size.eq(launch.processor.image.size),
        program.tests.eq(launch.tests),
        program.conditional_value.eq(launch.processor.conditional_value),
        program.watchdog.eq(launch.watchdog),
        program.output.eq(limits_of(launch.outputs[0])),
    ]
    m.d.comb += program.inputs.eq(launch.inputs)
