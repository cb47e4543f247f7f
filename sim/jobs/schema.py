"""What a job file may contain. Paths are relative to the file."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    Tag,
    model_validator,
)

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.limits import BOOL_CONSTANTS, COORDINATE_LIMIT, FLOAT_CONSTANTS, INPUTS, INT_CONSTANTS, OUTPUTS
from ctm.sim.compiler.targets import DEFAULT_TARGET, TARGETS


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


def _member(codes: Any) -> BeforeValidator:
    """Accept a member of an enum by its name."""

    def convert(value: object) -> object:
        if not isinstance(value, str) or value not in codes.__members__:
            raise ValueError(f"must be one of {', '.join(codes.__members__)}")
        return codes[value]

    return BeforeValidator(convert)


def _one_of(names: Iterable[str]) -> AfterValidator:
    """Accept one of some names."""

    def check(value: str) -> str:
        if value not in names:
            raise ValueError(f"must be {' or '.join(names)}")
        return value

    return AfterValidator(check)


def float_bits(value: object) -> int:
    """The 32-bit word of a number, or of a hex string that gives the bits."""
    if isinstance(value, str):
        try:
            bits = int(value, 16)
        except ValueError:
            bits = -1
        if not value.lower().startswith("0x") or not 0 <= bits < 1 << 32:
            raise ValueError(f"'{value}' is no hex word such as \"0x3f800000\"")
        return bits
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number or a hex string")
    with np.errstate(over="ignore"):
        return int(np.float32(value).view(np.uint32))


Format = Annotated[DataFormat, _member(DataFormat)]
TilingName = Annotated[Tiling, _member(Tiling)]
Bits = Annotated[int, BeforeValidator(float_bits)]
Coordinate = Annotated[StrictInt, Field(ge=0, lt=COORDINATE_LIMIT)]
Extent = Annotated[StrictInt, Field(ge=1, le=COORDINATE_LIMIT)]
Interval = tuple[Coordinate, Coordinate]
InputIndex = Annotated[StrictInt, Field(ge=0, lt=INPUTS)]
OutputIndex = Annotated[StrictInt, Field(ge=0, lt=OUTPUTS)]
MemoryName = Literal["local", "system"]


def _file_name(name: str) -> str:
    if not name or "\0" in name:
        raise ValueError("must be the name of a file")
    return name


FileName = Annotated[str, AfterValidator(_file_name)]


def _index(limit: int) -> BeforeValidator:
    def convert(value: object) -> int:
        if not isinstance(value, str) or not value.isdecimal() or int(value) >= limit:
            raise ValueError(f"must be a number 0..{limit - 1}")
        return int(value)

    return BeforeValidator(convert)


IntConstant = tuple[
    Annotated[StrictInt, Field(ge=0, le=255)],
    Annotated[StrictInt, Field(ge=0, le=255)],
    Annotated[StrictInt, Field(ge=-128, le=127)],
]


FloatTable = dict[Annotated[int, _index(FLOAT_CONSTANTS)], tuple[Bits, Bits, Bits, Bits]]


class Program(_Section):
    """`file` is a source (.s), a kernel (.c), an executable (.elf) or a compiled program's words (.json).

    `isa` is what kernels are compiled for.
    """

    file: FileName
    isa: Annotated[str, _one_of(TARGETS)] = DEFAULT_TARGET


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
    shape: tuple[Extent, Extent]
    format: Format
    tiling: TilingName = Tiling.LINEAR
    memory: MemoryName = "local"
    fill: float | None = None
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
    ints: Annotated[dict[Annotated[int, _index(INT_CONSTANTS)], IntConstant], Field(alias="int")] = {}
    bools: Annotated[dict[Annotated[int, _index(BOOL_CONSTANTS)], StrictBool], Field(alias="bool")] = {}


class Conditional(_Section):
    """The conditional test and its buffer, read before the run and written after it."""

    location: Annotated[ConditionalLocation, _member(ConditionalLocation)]
    test: Annotated[ConditionalTest, _member(ConditionalTest)]
    value: Bits = 0
    file: FileName | None = None
    initial: FileName | None = None
    shape: tuple[Extent, Extent] | None = None
    format: Format = DataFormat.FLOAT32_1
    tiling: TilingName = Tiling.LINEAR
    memory: MemoryName = "local"
    write: StrictBool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.file is None) != (self.shape is None):
            raise ValueError("file and shape go together")
        touches = self.test not in (ConditionalTest.NEVER, ConditionalTest.ALWAYS)
        if self.file is None and (touches or self.write):
            raise ValueError(f"test {self.test.name} needs file and shape" if touches else "write needs file and shape")
        return self


class Masks(_Section):
    """`output` enables the four channels of all outputs."""

    output: tuple[StrictBool, StrictBool, StrictBool, StrictBool] = (True, True, True, True)


class Pass(_Section):
    """One launch, or `repeat` of them. `swap` lists [output, input] pairs that change places for the next launch."""

    domain_i: Interval
    domain_j: Interval
    program: FileName | None = None
    repeat: Annotated[StrictInt, Field(ge=1, le=1_000_000)] = 1
    constants: Constants = Constants()
    swap: tuple[tuple[OutputIndex, InputIndex], ...] = ()


class Job(_Section):
    """A whole job: one launch over `domain`, or several `passes`."""

    program: Program
    domain: Domain | None = None
    passes: tuple[Pass, ...] = ()
    inputs: tuple[Input, ...] = ()
    outputs: tuple[Output, ...] = ()
    constants: Constants = Constants()
    conditional: Conditional | None = None
    masks: Masks = Masks()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.domain is None) == (not self.passes):
            raise ValueError("needs either [domain] or [[passes]]")
        for name, sections in (("inputs", self.inputs), ("outputs", self.outputs)):
            indices = [section.index for section in sections]
            if len(set(indices)) < len(indices):
                raise ValueError(f"two {name} have the same index")
        return self

    @property
    def launches(self) -> tuple[Pass, ...]:
        """The passes; a domain alone is one."""
        if self.domain is not None:
            return (Pass(domain_i=self.domain.i, domain_j=self.domain.j),)
        return self.passes
