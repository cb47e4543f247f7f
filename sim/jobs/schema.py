"""What a job file may contain. Paths are relative to the file."""

from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    Tag,
    model_validator,
)

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.draws import DRAW_OUTPUTS, STREAMS, VERTEX_BUFFERS, PrimitiveType
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.limits import BOOL_CONSTANTS, CHANNELS, FLOAT_CONSTANTS, INPUTS, INT_CONSTANTS, OUTPUTS
from ctm.rtl.isa.r700.exports import PARAMETERS
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY
from ctm.sim.compiler.targets import DEFAULT_TARGET, TARGETS
from ctm.sim.golden.co.unit import FORMATS
from ctm.sim.golden.draw.topology import TOPOLOGIES
from ctm.sim.jobs.takes import (
    any_array,
    array_of,
    as_float,
    below,
    file_name,
    float_bits,
    index,
    member,
    one_of,
    point_size,
    section,
    sections,
    table,
)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


Format = Annotated[DataFormat, member(DataFormat)]
TilingName = Annotated[Tiling, member(Tiling)]
Bits = Annotated[int, BeforeValidator(float_bits)]
Float = Annotated[StrictFloat, AfterValidator(as_float)]
Coordinate = Annotated[StrictInt, Field(ge=0), below("less than")]
Extent = Annotated[StrictInt, Field(ge=1), below("less than or equal to")]
Interval = Annotated[tuple[Coordinate, Coordinate], array_of(2, "two numbers [first, last]")]
Shape = Annotated[tuple[Extent, Extent], array_of(2, "two numbers [height, width]")]
InputIndex = Annotated[StrictInt, Field(ge=0, lt=INPUTS)]
OutputIndex = Annotated[StrictInt, Field(ge=0, lt=DRAW_OUTPUTS)]
MemoryName = Literal["local", "system"]


FileName = Annotated[str, AfterValidator(file_name)]


IntConstant = Annotated[
    tuple[
        Annotated[StrictInt, Field(ge=0, le=255)],
        Annotated[StrictInt, Field(ge=0, le=255)],
        Annotated[StrictInt, Field(ge=-128, le=127)],
    ],
    array_of(3, "three numbers [count, first aL, step]"),
]
FloatConstant = Annotated[tuple[Bits, Bits, Bits, Bits], array_of(4, "four numbers, one for each channel")]
FloatTable = Annotated[
    dict[Annotated[int, index(FLOAT_CONSTANTS)], FloatConstant],
    table("{0 = [1.0, 2.0, 3.0, 4.0]}, or the name of an .npy file"),
]
IntTable = Annotated[dict[Annotated[int, index(INT_CONSTANTS)], IntConstant], table("{0 = [255, 0, 1]}")]
BoolTable = Annotated[dict[Annotated[int, index(BOOL_CONSTANTS)], StrictBool], table("{3 = true}")]
Word = Annotated[StrictInt, Field(ge=0, lt=1 << 32)]
Pair = Annotated[tuple[Float, Float], array_of(2, "two numbers")]
PointSize = Annotated[float | Literal["program"], BeforeValidator(point_size)]
Swap = Annotated[tuple[OutputIndex, InputIndex], array_of(2, "two numbers [output, input]")]
Register = Annotated[StrictInt, Field(ge=0, lt=FIRST_CLAUSE_TEMPORARY)]
Channel = Annotated[StrictInt, Field(ge=0, lt=CHANNELS)]
Mask = Annotated[
    tuple[StrictBool, StrictBool, StrictBool, StrictBool], array_of(4, "four of true and false, one for each channel")
]


class PixelRegister(_Section):
    """What a register of a pixel program begins with; names and meanings are those of `PixelInput`."""

    parameter: Annotated[StrictInt, Field(ge=0, lt=PARAMETERS)] | None = None
    default: Annotated[StrictInt, Field(ge=0, le=3)] = 0
    flat: StrictBool = False
    linear: StrictBool = False
    sprite: StrictBool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.parameter is not None and "default" in self.model_fields_set:
            raise ValueError("parameter and default exclude each other")
        if self.flat and self.linear:
            raise ValueError("flat and linear exclude each other")
        return self


class Program(_Section):
    """`file` is a source (.s), a kernel (.c), an executable (.elf) or a compiled program's words (.json).

    `isa` is what kernels are compiled for. A draw has two sources instead of `file`, `vertex` and `pixel`:
    `registers` are registers 0, 1, ... of the pixel program, `position` and `face` ([register, channel]) others that it
    begins with. `parameters` are the vectors that the vertex program exports, all that `registers` name by default; its
    float constants begin at row 16 x `constant_base`.
    """

    file: FileName | None = None
    isa: Annotated[str, one_of(TARGETS)] = DEFAULT_TARGET
    vertex: FileName | None = None
    pixel: FileName | None = None
    registers: Annotated[tuple[PixelRegister, ...], sections("program.registers")] = ()
    parameters: Annotated[StrictInt, Field(ge=1, le=PARAMETERS)] | None = None
    constant_base: Annotated[StrictInt, Field(ge=0, lt=FLOAT_CONSTANTS // 16)] = 0
    position: Register | None = None
    face: Annotated[tuple[Register, Channel], array_of(2, "two numbers [register, channel]")] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.vertex is None) != (self.pixel is None):
            raise ValueError("vertex and pixel go together")
        if (self.file is None) == (self.vertex is None):
            raise ValueError("needs file, or for a draw vertex and pixel")
        if self.file is not None and (own := self.model_fields_set - {"file", "isa"}):
            raise ValueError(f"{min(own)} is for a draw's vertex and pixel sources, not for a file")
        if self.vertex is not None and "isa" in self.model_fields_set:
            raise ValueError("isa is for kernels; vertex and pixel are sources that begin with .isa r700")
        face = None if self.face is None else self.face[0]
        for name, register in (("position", self.position), ("face", face)):
            if register is not None and register < len(self.registers):
                raise ValueError(f"{name} is R{register}, which registers[{register}] begins with")
        if face is not None and face == self.position:
            raise ValueError(f"position and face are both R{face}")
        return self

    @property
    def names(self) -> dict[str, str]:
        """The files by their keys."""
        named = {"file": self.file, "vertex": self.vertex, "pixel": self.pixel}
        return {key: name for key, name in named.items() if name is not None}


class Domain(_Section):
    """Both ends are included."""

    i: Interval
    j: Interval


class Input(_Section):
    """An input and the array that it holds."""

    index: InputIndex
    file: FileName
    format: Format
    tiling: TilingName = Tiling.LINEAR
    memory: MemoryName = "local"


class Output(_Section):
    """An output, what it holds before, and the file that takes it. `shape` is [height, width]."""

    index: OutputIndex
    file: FileName
    shape: Shape
    format: Format
    tiling: TilingName = Tiling.LINEAR
    memory: MemoryName = "local"
    fill: Float | None = None
    initial: FileName | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.fill is not None and self.initial is not None:
            raise ValueError("fill and initial exclude each other")
        return self


class Constants(_Section):
    """Constants by index. `float` may be the name of an .npy file [n, 4] instead."""

    floats: Annotated[
        Annotated[FloatTable, Tag("table")] | Annotated[FileName, Tag("file")],
        Discriminator(lambda value: "file" if isinstance(value, str) else "table"),
        Field(alias="float"),
    ] = {}
    ints: Annotated[IntTable, Field(alias="int")] = {}
    bools: Annotated[BoolTable, Field(alias="bool")] = {}


class Conditional(_Section):
    """The conditional test and its buffer, read before the run and written after it."""

    location: Annotated[ConditionalLocation, member(ConditionalLocation)]
    test: Annotated[ConditionalTest, member(ConditionalTest)]
    value: Bits = 0
    fill: Float | None = None
    """What the buffer holds before, instead of what its file holds; the file is [height, width] then."""
    file: FileName | None = None
    initial: FileName | None = None
    shape: Shape | None = None
    format: Annotated[DataFormat, member(DataFormat, FORMATS)] = DataFormat.FLOAT32_1
    tiling: TilingName = Tiling.LINEAR
    memory: MemoryName = "local"
    write: StrictBool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.file is None) != (self.shape is None):
            raise ValueError("file and shape go together")
        touches = self.test not in (ConditionalTest.NEVER, ConditionalTest.ALWAYS)
        if self.fill is not None and self.initial is not None:
            raise ValueError("fill and initial exclude each other")
        if self.file is None and (touches or self.write):
            raise ValueError(f"test {self.test.name} needs file and shape" if touches else "write needs file and shape")
        return self


class Masks(_Section):
    """`output` enables the four channels of all outputs."""

    output: Mask = (True, True, True, True)


class Pass(_Section):
    """One launch, or `repeat` of them. `swap` lists [output, input] pairs that are swapped for the next launch."""

    domain_i: Interval
    domain_j: Interval
    program: FileName | None = None
    repeat: Annotated[StrictInt, Field(ge=1, le=1_000_000)] = 1
    constants: Annotated[Constants, section("passes.constants")] = Constants()
    swap: Annotated[tuple[Swap, ...], any_array("pairs of numbers [[output, input], ...]")] = ()


class VertexBuffer(_Section):
    """A vertex buffer: the bytes of an array of any type, and bytes from one element to the next."""

    index: Annotated[StrictInt, Field(ge=0, lt=VERTEX_BUFFERS)]
    file: FileName
    stride: Annotated[StrictInt, Field(ge=0, lt=1 << 16)]


class StreamOutput(_Section):
    """A stream: the file that takes its buffer of `words`, of which the first `limit` may be written, all by default.

    `stride` is that of a vertex, in words; `fill` what words hold before, as a float.
    """

    index: Annotated[StrictInt, Field(ge=0, lt=STREAMS)]
    file: FileName
    words: Annotated[StrictInt, Field(ge=1, le=1 << 26)]
    stride: Annotated[StrictInt, Field(ge=0, lt=1 << 16)]
    limit: Annotated[StrictInt, Field(ge=0)] | None = None
    fill: Float = 0.0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.limit is not None and self.limit > self.words:
            raise ValueError(f"limit {self.limit} is more than the {self.words} words")
        return self


class Draw(_Section):
    """Vertices to draw with a program that has a pipeline; the domain is the scissor, outputs are the targets.

    Names and meanings are those of `ctm.sim.runtime.draws.draw.Draw`. `indices` is the name of an .npy file of uint16
    or uint32. Each `viewport_*` is [scale, offset].
    """

    primitive: Annotated[PrimitiveType, member(PrimitiveType, TOPOLOGIES)]
    count: Word
    viewport_x: Pair
    viewport_y: Pair
    viewport_z: Pair = (0.5, 0.5)
    depth_range: Pair = (0.0, 1.0)
    instances: Word = 1
    base_vertex: Annotated[StrictInt, Field(ge=-(1 << 31), lt=1 << 31)] = 0
    first_instance: Word = 0
    indices: FileName | None = None
    restart: Word | None = None
    provoking: Literal["first", "last"] = "last"
    front: Literal["counterclockwise", "clockwise"] = "counterclockwise"
    cull: Literal["none", "front", "back", "both"] = "none"
    near: Literal["zero", "minus_w", "off"] = "minus_w"
    far: StrictBool = True
    discard: StrictBool = False
    add: StrictBool = False
    point_size: PointSize = 1.0
    buffers: Annotated[tuple[VertexBuffer, ...], sections("draw.buffers")] = ()
    streams: Annotated[tuple[StreamOutput, ...], sections("draw.streams")] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name, listed in (("buffers", self.buffers), ("streams", self.streams)):
            indices = [each.index for each in listed]
            if len(set(indices)) < len(indices):
                raise ValueError(f"two {name} have the same index")
        if self.restart is not None and self.indices is None:
            raise ValueError("restart needs indices")
        return self


class Job(_Section):
    """A whole job: one launch over `domain`, or several `passes`; with `draw` a draw, whose scissor `domain` is."""

    program: Annotated[Program, section("program")]
    domain: Annotated[Domain | None, section("domain")] = None
    passes: Annotated[tuple[Pass, ...], sections("passes")] = ()
    inputs: Annotated[tuple[Input, ...], sections("inputs")] = ()
    outputs: Annotated[tuple[Output, ...], sections("outputs")] = ()
    constants: Annotated[Constants, section("constants")] = Constants()
    conditional: Annotated[Conditional | None, section("conditional")] = None
    masks: Annotated[Masks, section("masks")] = Masks()
    draw: Annotated[Draw | None, section("draw")] = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.draw is None and self.program.vertex is not None:
            raise ValueError("[program] vertex and pixel need [draw]")
        if self.draw is not None and self.domain is None:
            raise ValueError("[draw] needs [domain], which is its scissor")
        for output in self.outputs:
            if output.index >= OUTPUTS and self.draw is None:
                raise ValueError(f"output {output.index} is not 0..{OUTPUTS - 1}, and only a draw has more")
        if (self.domain is None) == (not self.passes):
            raise ValueError("needs either [domain] or [[passes]]")
        for name, buffers in (("inputs", self.inputs), ("outputs", self.outputs)):
            indices = [each.index for each in buffers]
            if len(set(indices)) < len(indices):
                raise ValueError(f"two {name} have the same index")
        return self

    @property
    def launches(self) -> tuple[Pass, ...]:
        """The passes; a domain alone is one."""
        if self.domain is not None:
            # Both are checked already, against a limit that is not known here.
            return (Pass.model_construct(domain_i=self.domain.i, domain_j=self.domain.j),)
        return self.passes
