"""The note "R700 pipeline": the programs of a draw, all in one code.

The real chip had this in registers, which are named with the fields; the note is this project's definition. The note
"R700 program" beside it describes the pixel program.
"""

from dataclasses import dataclass

from amaranth.lib import data, enum

from ctm.rtl.isa.executable import PIPELINE_INFORMATION_WORDS
from ctm.rtl.isa.limits import FLOAT_CONSTANTS
from ctm.rtl.isa.r700.exports import PARAMETERS
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY, KCACHE_LINE_ROWS, STACK_ENTRIES
from ctm.rtl.isa.word import pack, unpack

PIPELINE_WORDS = PIPELINE_INFORMATION_WORDS
VERSION = 0x700
PRIMITIVE_BANKS = 5
"""Constant banks of a pixel program that are the primitive's: the parameters of its vertices 0, 1 and 2, its record,
and the parameters of its provoking vertex."""
FIRST_VERTEX_BUFFER = 160
"""BUFFER_ID of vertex buffer 0 in programs of Mesa, and of this project's tools."""
LARGEST_EMIT = 1024
"""Vertices that a geometry program can emit, at most: what a cut memory holds (VGT_GS_MODE)."""


class DrawStage(enum.Enum):
    """The kinds of programs of a draw, by the manual's names."""

    VS = "vertex"
    ES = "vertex, before a geometry program"
    GS = "geometry"
    DC = "copy"
    PS = "pixel"


class OutputPrimitive(enum.Enum, shape=2):
    """Primitive of the vertices that a geometry program emits: VGT_GS_OUT_PRIM_TYPE."""

    POINTLIST = 0
    LINESTRIP = 1
    TRISTRIP = 2


PRESENT = data.StructLayout({"vertex": 1, "geometry": 1, "fetch": 1, "reserved": 29})
RESOURCES = data.StructLayout({"gprs": 8, "stack_size": 8, "constant_base": 8, "dx10_clamp": 1, "reserved": 7})
"""SQ_PGM_RESOURCES. `constant_base`: the program's row 0 of the float constants, in lines of 16."""
EMITS = data.StructLayout({"vertices": 16, "primitive": OutputPrimitive, "reserved": 14})
"""VGT_GS_MAX_VERT_OUT, VGT_GS_OUT_PRIM_TYPE."""
DISTANCES = data.StructLayout({"clip": 8, "cull": 8, "misc": 1, "first": 1, "second": 1, "reserved": 13})
"""PA_CL_VS_OUT_CNTL: which distances clip and which cull, and which vectors follow the position."""
_STAGES = ("vertex", "geometry", "copy")
_START = data.StructLayout({"start": 32})
_BUFFER = data.StructLayout({"buffer": 32})
_DWORDS = data.StructLayout({"dwords": 32})
_NONE = data.StructLayout({"reserved": 32})
PIPELINE_INFORMATION = {
    "version": data.StructLayout({"version": 32}),
    "PRESENT": PRESENT,
    "FS_START": _START,
    "PRIMITIVE_NUMBER": data.StructLayout({"enable": 1, "reserved": 31}),
    **{
        f"{stage.upper()}_{name}": layout
        for stage in _STAGES
        for name, layout in (("START", _START), ("RESOURCES", RESOURCES), ("BUFFER", _BUFFER), ("RESERVED", _NONE))
    },
    "ESGS_ITEM": _DWORDS,
    "GSVS_ITEM": _DWORDS,
    "GS_VERTEX_ITEM": _DWORDS,
    "EMITS": EMITS,
    "DISTANCES": DISTANCES,
    "PARAMETERS": data.StructLayout({"count": 32}),
    **{f"reserved{word}": _NONE for word in range(22, PIPELINE_WORDS)},
}
"""The descriptor of the note, word 0 first. PRIMITIVE_NUMBER: VGT_GS_MODE, scenario A."""


@dataclass(frozen=True, kw_only=True)
class StageProgram:
    """One program: its first CF instruction, and what it needs."""

    start: int
    gprs: int
    stack_size: int = 0
    dx10_clamp: bool = False
    constant_base: int = 0
    """In lines of 16 rows."""
    first_buffer: int = 0
    """BUFFER_ID of vertex buffer 0."""


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """What the note says. `vertex` is a VS, or an ES where there are `geometry` and `copy`; sizes are in dwords."""

    vertex: StageProgram
    geometry: StageProgram | None = None
    copy: StageProgram | None = None
    fetch: int | None = None
    """Where the fetch subroutine starts."""
    vertex_item: int = 0
    """SQ_ESGS_RING_ITEMSIZE."""
    geometry_item: int = 0
    """SQ_GSVS_RING_ITEMSIZE."""
    emitted_item: int = 0
    """SQ_GS_VERT_ITEMSIZE."""
    most_emitted: int = 0
    output: OutputPrimitive = OutputPrimitive.POINTLIST
    primitive_number: bool = False
    """Whether vertices belong to one primitive each, and get its number (VGT_GS_MODE, scenario A)."""
    clip_distances: int = 0
    cull_distances: int = 0
    misc: bool = False
    """Whether the vector after the position is point size, edge flag, target index and kill flag."""
    distance_vectors: tuple[bool, bool] = (False, False)
    parameters: int = 1

    @property
    def programs(self) -> tuple[StageProgram, ...]:
        """Those that there are."""
        return tuple(each for each in (self.vertex, self.geometry, self.copy) if each is not None)

    @property
    def starts(self) -> dict[str, int]:
        """Where each program that there is begins, by its stage's name; FS is the fetch subroutine."""
        vertex = DrawStage.VS if self.geometry is None else DrawStage.ES
        found = {vertex: self.vertex, DrawStage.GS: self.geometry, DrawStage.DC: self.copy}
        starts = {stage.name: program.start for stage, program in found.items() if program is not None}
        return starts if self.fetch is None else {"FS": self.fetch, **starts}

    @property
    def words(self) -> tuple[int, ...]:
        """The descriptor of the note."""
        present = {"vertex": 1, "geometry": int(self.geometry is not None), "fetch": int(self.fetch is not None)}
        first, second = map(int, self.distance_vectors)
        programs = [word for name in _STAGES for word in _program_words(getattr(self, name))]
        words = (
            VERSION, pack(PRESENT, **present), self.fetch or 0, int(self.primitive_number),
            *programs,
            self.vertex_item, self.geometry_item, self.emitted_item,
            pack(EMITS, vertices=self.most_emitted, primitive=self.output.value),
            pack(
                DISTANCES, clip=self.clip_distances, cull=self.cull_distances, misc=int(self.misc), first=first,
                second=second,
            ),
            self.parameters,
        )  # fmt: skip
        return (*words, *(0,) * (PIPELINE_WORDS - len(words)))


def _program_words(program: StageProgram | None) -> tuple[int, ...]:
    if program is None:
        return (0, 0, 0, 0)
    resources = pack(
        RESOURCES, gprs=program.gprs, stack_size=program.stack_size, constant_base=program.constant_base,
        dx10_clamp=int(program.dx10_clamp),
    )  # fmt: skip
    return program.start, resources, program.first_buffer, 0


def pipeline_of(words: tuple[int, ...], units: int) -> Pipeline:
    """The pipeline that a descriptor describes, of programs in `units` units of code.

    Raises
    ------
    ValueError
        A value is not allowed; the message names it.
    """
    if len(words) != PIPELINE_WORDS:
        raise ValueError(f"the pipeline information has {len(words)} words instead of {PIPELINE_WORDS}")
    if words[0] != VERSION:
        raise ValueError(f"word 0 of the pipeline information is {words[0]} instead of {VERSION}")
    present = unpack(PRESENT, words[1])
    if not present["vertex"]:
        raise ValueError("the pipeline has no vertex program")
    programs = [_program(name, words[4 + 4 * stage : 8 + 4 * stage], units) for stage, name in enumerate(_STAGES)]
    has_geometry = bool(present["geometry"])
    emits, distances = unpack(EMITS, words[19]), unpack(DISTANCES, words[20])
    found = Pipeline(
        vertex=programs[0],
        geometry=programs[1] if has_geometry else None,
        copy=programs[2] if has_geometry else None,
        fetch=words[2] if present["fetch"] else None,
        primitive_number=bool(words[3]),
        vertex_item=words[16],
        geometry_item=words[17],
        emitted_item=words[18],
        most_emitted=emits["vertices"],
        output=_output(emits["primitive"]),
        clip_distances=distances["clip"],
        cull_distances=distances["cull"],
        misc=bool(distances["misc"]),
        distance_vectors=(bool(distances["first"]), bool(distances["second"])),
        parameters=words[21],
    )
    _check(found, units)
    if found.words != words:
        raise ValueError("a reserved bit or word of the pipeline information is not 0")
    return found


def _program(name: str, words: tuple[int, ...], units: int) -> StageProgram:
    fields = unpack(RESOURCES, words[1])
    if not any(words):
        return StageProgram(start=0, gprs=0)
    limits = {
        "start": (words[0], range(units)),
        "number of registers": (fields["gprs"], range(1, FIRST_CLAUSE_TEMPORARY + 1)),
        "stack size": (fields["stack_size"], range(STACK_ENTRIES + 1)),
        "constant base": (fields["constant_base"], range(FLOAT_CONSTANTS // KCACHE_LINE_ROWS)),
        "first buffer": (words[2], range(256)),
    }
    for what, (value, allowed) in limits.items():
        if value not in allowed:
            raise ValueError(f"the {what} of the {name} program is {value}, not {allowed.start}..{allowed[-1]}")
    return StageProgram(
        start=words[0], gprs=fields["gprs"], stack_size=fields["stack_size"], dx10_clamp=bool(fields["dx10_clamp"]),
        constant_base=fields["constant_base"], first_buffer=words[2],
    )  # fmt: skip


def _output(code: int) -> OutputPrimitive:
    known = {each.value: each for each in OutputPrimitive}
    if code not in known:
        raise ValueError(f"the emitted primitive is {code}, not 0..{len(known) - 1}")
    return known[code]


def _check(pipeline: Pipeline, units: int) -> None:
    if any(each is not None and each.gprs == 0 for each in (pipeline.vertex, pipeline.geometry, pipeline.copy)):
        raise ValueError("a program of the pipeline has no registers")
    if pipeline.fetch is not None and pipeline.fetch >= units:
        raise ValueError(f"the fetch subroutine starts at {pipeline.fetch}, and the code has {units} units")
    if not 1 <= pipeline.parameters <= PARAMETERS:
        raise ValueError(f"a vertex has {pipeline.parameters} parameters, not 1..{PARAMETERS}")
    if pipeline.geometry is None:
        return
    if not 1 <= pipeline.most_emitted <= LARGEST_EMIT:
        raise ValueError(f"a geometry program emits {pipeline.most_emitted} vertices, not 1..{LARGEST_EMIT}")
    if pipeline.geometry_item < pipeline.emitted_item * pipeline.most_emitted:
        raise ValueError(
            f"the item of a geometry program has {pipeline.geometry_item} dwords, and {pipeline.most_emitted} vertices "
            f"of {pipeline.emitted_item} take more"
        )
