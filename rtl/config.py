"""Configuration of the machine: frozen sections, checked when they are made, and presets.

A unit takes its own section, never the whole machine. Durations are cycles, sizes bytes unless a name says otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from ctm.rtl.draw_config import DrawConfig
from ctm.rtl.isa.draws import DRAW_OUTPUTS
from ctm.rtl.isa.limits import ADDRESS_SPACE, BYTE_BITS, OUTPUTS, QUAD, SYSTEM_MEMORY
from ctm.rtl.isa.program_formats import PROGRAM_FORMATS
from ctm.rtl.isa.r700.limits import CLAUSE_TEMPORARIES, FIRST_CLAUSE_TEMPORARY, LARGEST_WAVEFRONT
from ctm.rtl.setting import SettingError, check, check_name


@dataclass(frozen=True, kw_only=True)
class PipelineConfig:
    """Registers after each step of an arithmetic pipeline: 1, or 0 to join the step with the next one.

    Latency is the number of registers. A register costs a cycle of latency, a step without one costs clock.
    """

    operands: int = 1
    """Unpacking and choice of operands; reduction of a transcendental's argument."""
    partial_products: int = 1
    """Multipliers; a transcendental's table address."""
    product: int = 1
    """Sum of partial products; a transcendental's table, which always takes its cycle."""
    alignment: int = 1
    """Shift to a common exponent; a transcendental's multipliers."""
    addition: int = 1
    normalisation: int = 1
    rounding: int = 1
    result: int = 1
    """Output modifier, clamp and packing."""

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            check(self, name, low=0, high=1)

    @property
    def raw_latency(self) -> int:
        """Cycles from the operands to what the exact result is the sum of."""
        return self.operands + self.partial_products + self.product + self.alignment

    @property
    def latency(self) -> int:
        """Cycles from the operands to the packed result."""
        return self.raw_latency + self.addition + self.normalisation + self.rounding + self.result


COMBINATIONAL = PipelineConfig(**dict.fromkeys(PipelineConfig.__dataclass_fields__, 0))
"""All steps in one cycle."""


WALKS = ("auto", "rows", "tiles")
"""Orders in which the wavefronts of a domain are dispatched: see `ArrayConfig.tiles`."""
_TILES_IN_TILES = 4
_MOST_SLICES = 128
"""Slices of all wavefronts that a core keeps: each has a row of output registers, and flags of its own."""
_MOST_REGISTERS = FIRST_CLAUSE_TEMPORARY + CLAUSE_TEMPORARIES
"""Of a wavefront of the largest program."""


@dataclass(frozen=True, kw_only=True)
class ArrayConfig:
    """The DPP array.

    `instruction_set` is that of its cores, a key of `PROGRAM_FORMATS`. `wavefront` is the size of an R700 wavefront in
    lanes, 0 for `lanes`; an R5xx wavefront always has `lanes`. `rate` is the number of lanes that are computed in a
    cycle, a power of two up to `lanes`, 0 for all of them: datapaths have this width, and take a wavefront in beats or
    passes. `temporaries` is the depth of the register file per core and lane. `lookups` is the most fetches that a
    wavefront may have outstanding. `stack_entries` are those of all control stacks of an R700 core. The golden model
    takes wavefronts of any size; `check_hardware` has the limits of the hardware. `walk` is the order in which
    wavefronts are dispatched, one of `WALKS`: results do not depend on it, but the fault that is reported does.
    `outputs` are those of the hardware; only draws have more than 4, and the golden model always has 8 of them there.
    """

    instruction_set: str = "r5xx"
    cores: int = 1
    lanes: int = 4
    wavefront: int = 0
    rate: int = 0
    threads: int = 16
    temporaries: int = 1024
    lookups: int = 16
    stack_entries: int = 256
    walk: str = "auto"
    outputs: int = OUTPUTS

    def __post_init__(self) -> None:
        check_name(self, "instruction_set", PROGRAM_FORMATS)
        check_name(self, "walk", WALKS)
        check(self, "cores", low=1, high=16)
        check(self, "lanes", low=4, high=16, power_of_two=True)
        if self.wavefront:
            check(self, "wavefront", low=4, high=LARGEST_WAVEFRONT, power_of_two=True)
            if self.instruction_set == "r5xx":
                self._reject("wavefront", "must be 0 for r5xx: a wavefront is its lanes")
        if self.rate:
            check(self, "rate", low=1, high=self.lanes, power_of_two=True)
        check(self, "threads", low=4, high=64, power_of_two=True)
        check(self, "temporaries", low=128, high=4096, power_of_two=True)
        check(self, "lookups", low=1, high=64, power_of_two=True)
        check(self, "stack_entries", low=64, high=1024, power_of_two=True)
        check(self, "outputs", low=OUTPUTS, high=DRAW_OUTPUTS, power_of_two=True)

    def check_hardware(self) -> None:
        """Reject what no hardware can be built of.

        Raises
        ------
        SettingError
            Lanes, wavefronts, threads or registers do not fit together.
        """
        if not self.wavefront:
            return
        size = f"a wavefront of {self.wavefront} on {self.lanes} lanes"
        if self.wavefront < self.lanes:
            self._reject("wavefront", f"must be {self.lanes} at least for as many lanes, not {self.wavefront}")
        slices = self.wavefront // self.lanes
        if self.threads * slices > _MOST_SLICES:
            most = _MOST_SLICES // slices
            self._reject("threads", f"must be {most} at most for {size}, not {self.threads}")
        if self.temporaries < _MOST_REGISTERS * slices:
            least = _MOST_REGISTERS * slices
            self._reject("temporaries", f"must be {least} at least for {size}, not {self.temporaries}")

    def _reject(self, name: str, problem: str) -> None:
        raise SettingError(type(self).__name__, name, problem)

    @property
    def tiles(self) -> tuple[int, ...]:
        """Of the walk: the sides of square tiles in quads, log2, the smallest first; none for rows.

        A single core walks rows, several cores walk tiles: without tiles cores drift apart and share no lines. The
        smallest tile is as large as a core's resident wavefronts of a program with few temporaries; a core takes one at
        a time. Each next tile has two by two of them, so tiles that are walked together are close in both directions.
        """
        if self.walk == "rows" or (self.walk == "auto" and self.cores == 1):
            return ()
        smallest = (self.threads * self.wavefront_lanes // QUAD).bit_length() // 2
        return tuple(range(smallest, smallest + _TILES_IN_TILES + 1))

    @property
    def wavefront_lanes(self) -> int:
        """Lanes of a wavefront."""
        return self.wavefront or self.lanes

    @property
    def at_once(self) -> int:
        """Lanes of the datapaths."""
        return self.rate or self.lanes

    @property
    def beats(self) -> int:
        """Cycles in which the datapaths take `lanes` lanes: an R5xx wavefront."""
        return self.lanes // self.at_once

    @property
    def cycles_per_wavefront(self) -> int:
        """Cycles in which the datapaths take a wavefront: its beats, or the passes of an R700 wavefront."""
        return self.wavefront_lanes // self.at_once

    @property
    def fetch_entry_bits(self) -> int:
        """Width of a fetch's index among those of its wave slot; 1 for a single one, because a port has a bit."""
        return max(1, (self.lookups - 1).bit_length())

    def with_wavefront(self, size: int) -> "ArrayConfig":
        """The same array with wavefronts of `size` lanes."""
        if self.wavefront:
            return replace(self, wavefront=size)
        return replace(self, lanes=size, rate=min(self.rate, size))

    def resident_wavefronts(self, temporaries: int) -> int:
        """Resident wavefronts of a core for a program that uses `temporaries` of them."""
        allocated = 1 << max(0, temporaries - 1).bit_length()
        return min(self.threads, self.temporaries // allocated)


@dataclass(frozen=True, kw_only=True)
class CacheConfig:
    """One cache of 64-byte lines."""

    sets: int
    ways: int

    LINE_BYTES = 64

    def __post_init__(self) -> None:
        check(self, "sets", low=1, high=4096, power_of_two=True)
        check(self, "ways", low=1, high=16, power_of_two=True)

    @property
    def size(self) -> int:
        """Capacity in bytes."""
        return self.LINE_BYTES * self.sets * self.ways


@dataclass(frozen=True, kw_only=True)
class SharedCacheConfig(CacheConfig):
    """The second level of the input cache: `sets` in all, divided among `banks` that each serve a line in a cycle.

    Neighbouring lines are in different banks.
    """

    banks: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check(self, "banks", low=1, high=min(8, self.sets), power_of_two=True)

    @property
    def bank(self) -> CacheConfig:
        """One of the banks."""
        return CacheConfig(sets=self.sets // self.banks, ways=self.ways)


@dataclass(frozen=True, kw_only=True)
class OutputCacheConfig:
    """The output cache: `lines` of 64 bytes that are being written, each anywhere in its bank.

    They are divided among `banks` that each take a write and evict a line in a cycle.
    """

    lines: int = 16
    banks: int = 1

    def __post_init__(self) -> None:
        check(self, "lines", low=16, high=64, power_of_two=True)
        check(self, "banks", low=1, high=4, power_of_two=True)


@dataclass(frozen=True, kw_only=True)
class MemoryConfig:
    """Memory ports, and the memory that a simulation connects to them.

    Lines below `split` are interleaved among `local_ports`, the others go to the system port.
    """

    local_ports: int = 1
    data_bits: int = 128
    outstanding_lines: int = 64
    split: int = SYSTEM_MEMORY
    """First address of the system port; ADDRESS_SPACE for one port only."""
    latency: int = 50
    """Simulated memory: cycles from the read address to the first beat."""
    bytes_per_cycle: int = 16
    """Simulated memory: bandwidth of each port in each direction."""

    def __post_init__(self) -> None:
        check(self, "local_ports", low=1, high=4, power_of_two=True)
        check(self, "data_bits", low=64, high=512, power_of_two=True)
        check(self, "outstanding_lines", low=1, high=128)
        check(self, "split", low=4096, high=ADDRESS_SPACE, power_of_two=True)
        check(self, "latency", low=1, high=10_000)
        check(self, "bytes_per_cycle", low=1, high=256)

    @property
    def slice_bits(self) -> int:
        """Bits of a line that its reader is given in a cycle.

        Of one port they are its beats, as they come. Several give whole lines, as all of them together may bring one
        in each cycle.
        """
        return self.data_bits if len(self.ports) == 1 else BYTE_BITS * CacheConfig.LINE_BYTES

    @property
    def ports(self) -> tuple[str, ...]:
        """Names of the memory ports, those of the lower addresses first."""
        more = (f"local_{number}" for number in range(1, self.local_ports))
        return "local", *more, *(("system",) if self.split < ADDRESS_SPACE else ())


@dataclass(frozen=True, kw_only=True)
class MachineConfig:
    """The whole machine."""

    array: ArrayConfig = field(default_factory=ArrayConfig)
    arithmetic: PipelineConfig = field(default_factory=PipelineConfig)
    presubtract: PipelineConfig = field(default_factory=PipelineConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    input_cache: CacheConfig = CacheConfig(sets=32, ways=4)
    shared_cache: SharedCacheConfig = SharedCacheConfig(sets=128, ways=4)
    output_cache: OutputCacheConfig = OutputCacheConfig()
    conditional_cache: CacheConfig = CacheConfig(sets=4, ways=2)
    pipeline: DrawConfig = DrawConfig()

    def __post_init__(self) -> None:
        for section in fields(self):
            wanted, value = section.type, getattr(self, section.name)
            if isinstance(wanted, type) and not isinstance(value, wanted):
                raise TypeError(f"{section.name} must be of type {wanted.__name__}, not {value!r}")
        if self.arithmetic.partial_products + self.arithmetic.product == 0:
            raise ValueError("arithmetic.partial_products or arithmetic.product must be 1: a table takes a cycle")

    def check_hardware(self) -> None:
        """Reject what the golden model can be, but no hardware: `ValueError`, with the setting's dotted name."""
        try:
            self.array.check_hardware()
        except SettingError as error:
            raise ValueError(f"array.{error.name} {error.problem}") from None
        if not self.pipeline.draws:
            if self.array.outputs > OUTPUTS:
                raise ValueError(
                    f"array.outputs must be {OUTPUTS} where pipeline.stages is none, not {self.array.outputs}"
                )
            return
        if self.array.instruction_set != "r700":
            raise ValueError(f"pipeline.stages must be none for {self.array.instruction_set}, which has no draws")
        if self.array.cores != 1:
            raise ValueError(f"array.cores must be 1 where pipeline.stages is not none, not {self.array.cores}")


SIMULATED = ("latency", "bytes_per_cycle")
"""Settings of `memory` that are a simulation's, and no hardware's."""

DEFAULT = MachineConfig()
TINY = replace(DEFAULT, array=ArrayConfig(cores=1, lanes=4, threads=4, temporaries=128))
SMALL = replace(
    DEFAULT,
    array=ArrayConfig(cores=1, lanes=4, rate=1, threads=8, temporaries=256),
    memory=MemoryConfig(split=ADDRESS_SPACE, outstanding_lines=16),
    input_cache=CacheConfig(sets=64, ways=2),
    shared_cache=SharedCacheConfig(sets=128, ways=2),
)
"""For an FPGA that can be bought: docs/fpga.md."""
COMPACT = replace(
    SMALL,
    arithmetic=PipelineConfig(operands=0, product=0, addition=0, rounding=0),
    presubtract=replace(COMBINATIONAL, alignment=1),
    memory=replace(SMALL.memory, data_bits=64, outstanding_lines=8),
    input_cache=CacheConfig(sets=64, ways=1),
    shared_cache=SharedCacheConfig(sets=128, ways=1),
    conditional_cache=CacheConfig(sets=4, ways=1),
)
"""The same with fewer wires, for the FPGA of a ULX3S, whose clock is slow: docs/fpga.md."""
WIDE = replace(
    DEFAULT,
    array=ArrayConfig(cores=4, lanes=16, threads=16, temporaries=1024),
    conditional_cache=CacheConfig(sets=4, ways=4),
)

R700 = replace(DEFAULT, array=ArrayConfig(instruction_set="r700", wavefront=16, temporaries=2048, lookups=32))
R700_SMALL = replace(SMALL, array=replace(R700.array, rate=1, threads=4, temporaries=512, lookups=64, stack_entries=64))
"""An R700 machine for an FPGA: docs/fpga.md."""
R700_DRAW = replace(R700, array=replace(R700.array, outputs=DRAW_OUTPUTS), pipeline=DrawConfig(stages="geometry"))
R700_DRAW_SMALL = replace(R700_SMALL, pipeline=DrawConfig(stages="geometry"))
"""The same with draws: docs/draws.md."""

PRESETS = {
    "default": DEFAULT, "tiny": TINY, "small": SMALL, "compact": COMPACT, "wide": WIDE,
    "r700": R700, "r700-small": R700_SMALL, "r700-draw": R700_DRAW, "r700-draw-small": R700_DRAW_SMALL,
}  # fmt: skip
DEFAULT_PRESETS = {"r5xx": "default", "r700": "r700"}
"""Of each instruction set, the default preset."""
DRAW_PRESET = "r700-draw"
"""And that for hardware that is to draw."""


def settings_of(config: MachineConfig) -> dict[str, int | str]:
    """All settings of a configuration by their dotted names, in the order of their declarations."""
    sections = ((each.name, getattr(config, each.name)) for each in fields(config))
    return {f"{name}.{own.name}": getattr(section, own.name) for name, section in sections for own in fields(section)}


TEXT_SETTINGS = frozenset(name for name, value in settings_of(DEFAULT).items() if isinstance(value, str))
"""Settings by their dotted names whose values are names; all others are whole numbers."""


def with_settings(config: MachineConfig, settings: Mapping[str, int | str]) -> MachineConfig:
    """`config` with settings by their dotted names, for example ``{"array.lanes": 8}``.

    Raises
    ------
    ValueError
        A name is unknown (the message lists those of its section), or a value is not allowed.
    """
    sections = [each.name for each in fields(MachineConfig)]
    for name, value in settings.items():
        section_name, _, key = name.partition(".")
        if section_name not in sections:
            raise ValueError(f"{name}: no such section; the sections are {', '.join(sections)}")
        section = getattr(config, section_name)
        if key not in section.__dataclass_fields__:
            names = ", ".join(f"{section_name}.{known}" for known in section.__dataclass_fields__)
            raise ValueError(f"{name}: no such setting; there are {names}")
        try:
            config = replace(config, **{section_name: replace(section, **{key: value})})
        except SettingError as error:
            raise ValueError(f"{section_name}.{error.name} {error.problem}") from None
    return config
