"""Links the programs of a draw into one executable, with a prologue that makes the inputs of the pixel program."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

from ctm.rtl.isa.limits import FLOAT_CONSTANTS
from ctm.rtl.isa.r700 import control_flow, exports
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH
from ctm.rtl.isa.r700.limits import CODE_UNITS, FETCH_UNITS, KCACHE_LINE_ROWS
from ctm.rtl.isa.r700.pipeline import FIRST_VERTEX_BUFFER, OutputPrimitive, Pipeline, StageProgram
from ctm.rtl.isa.word import pack, unpack
from ctm.sim.elf.lines import Line, Lines
from ctm.sim.elf.r700.executable import Executable, Unit
from ctm.sim.elf.r700.usage import usage
from ctm.sim.elf.r700.words import Word, words
from ctm.sim.runtime.draws.interpolation import PixelInputs, Prologue, prologue

_CHANNELS = "xyzw"
_ALL = 15
"""A mask of all channels."""


@dataclass(frozen=True, kw_only=True)
class Linkable:
    """One program as a compiler left it: its code, whose addresses count from its own first unit, and what it needs."""

    code: tuple[Unit, ...]
    gprs: int
    start: int = 0
    """Its first CF instruction."""
    stack_size: int = 0
    dx10_clamp: bool = False
    constant_base: int = 0
    """Line of 16 rows of the float constants in which its own begin."""
    lines: Lines | None = None
    """Of its units, as far as they have any."""

    @classmethod
    def of(cls, program: Executable, *, constant_base: int = 0) -> Self:
        """An assembled program, as one of a draw."""
        return cls(
            code=program.code, gprs=program.gprs, start=program.start, stack_size=program.stack_size,
            dx10_clamp=program.dx10_clamp, constant_base=constant_base, lines=program.lines,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """Geometry and copy program, what they emit, and the dwords of the rings' items."""

    program: Linkable
    copy: Linkable
    vertex_item: int
    item: int
    emitted_item: int
    most_emitted: int
    output: OutputPrimitive


@dataclass(frozen=True, kw_only=True)
class VertexOutputs:
    """What a vertex has beside its position; see `Pipeline`."""

    parameters: int = 1
    clip_distances: int = 0
    cull_distances: int = 0
    misc: bool = False
    distance_vectors: tuple[bool, bool] = (False, False)


def link(
    *,
    vertex: Linkable,
    pixel: Linkable,
    inputs: PixelInputs,
    outputs: VertexOutputs = VertexOutputs(),
    fetch: Linkable | None = None,
    geometry: Geometry | None = None,
    primitive_number: bool = False,
    texture_base: int = 0,
    masks: Mapping[int, int] | None = None,
) -> Executable:
    """The executable of a draw.

    `vertex` is followed by `geometry` where there is one. `masks` are the channels, bit c of channel c, that are
    enabled of targets; all of a target that is not named.

    Raises
    ------
    ValueError
        The code gets too long, or a program needs what it cannot have; the message says which.
    """
    code = _Code()
    fetch_at = None if fetch is None else code.add(fetch)
    vertex_at = code.add(vertex)
    later = [] if geometry is None else [geometry.program, geometry.copy]
    stages: list[StageProgram | None] = [_stage(linkable, code.add(linkable)) for linkable in later] or [None, None]
    pixel_at = code.add(_masked(pixel, masks or {}))
    start = code.align()
    front: Prologue = prologue(inputs, at=start, target=pixel_at)
    code.units += front.code
    if len(code.units) > CODE_UNITS:
        raise ValueError(f"the programs have {len(code.units)} units together, and the code holds {CODE_UNITS}")
    pipeline = Pipeline(
        vertex=_stage(vertex, vertex_at),
        geometry=stages[0],
        copy=stages[1],
        fetch=fetch_at,
        vertex_item=geometry.vertex_item if geometry else 0,
        geometry_item=geometry.item if geometry else 0,
        emitted_item=geometry.emitted_item if geometry else 0,
        most_emitted=geometry.most_emitted if geometry else 0,
        output=geometry.output if geometry else OutputPrimitive.POINTLIST,
        primitive_number=primitive_number,
        clip_distances=outputs.clip_distances,
        cull_distances=outputs.cull_distances,
        misc=outputs.misc,
        distance_vectors=outputs.distance_vectors,
        parameters=outputs.parameters,
    )
    sets_depth = inputs.depth or any(_is_depth(word) for word in words(pixel.code, pixel.start))
    return Executable(
        code=tuple(code.units),
        start=start,
        gprs=max(1, pixel.gprs, front.gprs),
        stack_size=max(pixel.stack_size, front.stack_size),
        dx10_clamp=pixel.dx10_clamp,
        depth=sets_depth,
        texture_base=texture_base,
        pipeline=pipeline,
        lines=code.lines,
    )


def _stage(linkable: Linkable, start: int) -> StageProgram:
    base = KCACHE_LINE_ROWS * linkable.constant_base
    last = max(usage(linkable.code, linkable.start, 0).float_constants, default=0)
    if base + last >= FLOAT_CONSTANTS:
        raise ValueError(
            f"C{last} is float constant {base + last} with constant base {linkable.constant_base}, and the last one is "
            f"{FLOAT_CONSTANTS - 1}"
        )
    return StageProgram(
        start=start, gprs=max(1, linkable.gprs), stack_size=linkable.stack_size, dx10_clamp=linkable.dx10_clamp,
        constant_base=linkable.constant_base, first_buffer=FIRST_VERTEX_BUFFER,
    )  # fmt: skip


class _Code:
    """Programs one after the other."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self._line_tables: list[tuple[int, Lines]] = []

    def align(self) -> int:
        """The next address, at which fetch clauses of a program stay at even ones."""
        self.units += [(0, 0)] * (-len(self.units) % FETCH_UNITS)
        return len(self.units)

    def add(self, linkable: Linkable) -> int:
        """Append a program to the others, with its addresses moved; the address of its first CF instruction."""
        at = self.align()
        self.units += _moved(linkable, at)
        if linkable.lines is not None:
            self._line_tables.append((at, linkable.lines))
        return at + linkable.start

    @property
    def lines(self) -> Lines | None:
        """The line table of all."""
        units: list[Line | None] = [None] * len(self.units)
        checksums: dict[str, int] = {}
        texts: dict[str, str] = {}
        for at, lines in self._line_tables:
            own = lines.renamed(partial(_own_name, lines.checksums, checksums))
            units[at : at + len(own.units)] = own.units
            checksums |= own.checksums
            texts |= own.texts
        return Lines(tuple(units), checksums, texts) if self._line_tables else None


def _own_name(checksums: Mapping[str, int], taken: Mapping[str, int], file: str) -> str:
    """The name of a file, with a number if another program's file, with another text, has that name."""
    names = (file, *(f"{file} {number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken or taken[name] == checksums.get(file))


def _moved(linkable: Linkable, base: int) -> list[Unit]:
    """A program's code with `base` added to the addresses in its CF instructions."""
    code = linkable.code
    moved = list(code)
    aimless = [each.value for each in control_flow.WITHOUT_TARGET if each not in control_flow.FETCH_CLAUSES]
    aimless.append(control_flow.CfOperation.CALL_FS.value)
    for word in words(code, linkable.start):
        if word.is_export or (not word.is_alu and word.fields["cf_inst"] in aimless):
            continue
        low, high = code[word.address]
        layout = control_flow.CF_ALU_DWORD0 if word.is_alu else control_flow.CF_DWORD0
        fields = unpack(layout, low)
        fields["addr"] += base
        moved[word.address] = (pack(layout, **fields), high)
    return moved


def _is_depth(word: Word) -> bool:
    return word.is_pixel_export and word.fields["array_base"] == COMPUTED_DEPTH


def _masked(pixel: Linkable, masks: Mapping[int, int]) -> Linkable:
    """The pixel program with the channels of its exports masked that are not enabled.

    An export of several registers to targets with different masks becomes one for each, after the program.
    """
    code = list(pixel.code)
    for word in words(pixel.code, pixel.start):
        if not word.is_pixel_export or _is_depth(word):
            continue
        count = word.fields["burst_count"] + 1
        targets = range(word.fields["array_base"], word.fields["array_base"] + count)
        enabled = [masks.get(target, _ALL) for target in targets]
        if enabled == [_ALL] * count:
            continue
        if len(set(enabled)) == 1:
            code[word.address] = _export(pixel.code[word.address], enabled[0])
            continue
        single = [_export(pixel.code[word.address], mask, number, count) for number, mask in enumerate(enabled)]
        ends = word.fields["end_of_program"]
        code[word.address] = _jump(len(code))
        code += single if ends else [*single, _jump(word.address + 1)]
    return replace(pixel, code=tuple(code))


def _export(unit: Unit, mask: int, number: int | None = None, count: int = 1) -> Unit:
    """An export with some channels enabled; with a `number` that register alone of `count`; the last one may end."""
    first, second = unpack(exports.EXPORT_DWORD0, unit[0]), unpack(exports.EXPORT_DWORD1_SWIZ, unit[1])
    for channel, name in enumerate(_CHANNELS):
        if not mask >> channel & 1:
            second[f"sel_{name}"] = ComponentSelect.MASK.value
    if number is not None:
        first["array_base"] += number
        first["rw_gpr"] += number
        second["burst_count"] = 0
        second["end_of_program"] &= int(number == count - 1)
    return pack(exports.EXPORT_DWORD0, **first), pack(exports.EXPORT_DWORD1_SWIZ, **second)


def _jump(target: int) -> Unit:
    """A jump that is always taken."""
    word = pack(
        control_flow.CF_DWORD1, cf_inst=control_flow.CfOperation.JUMP.value, cond=control_flow.Condition.FALSE.value,
        barrier=1,
    )  # fmt: skip
    return pack(control_flow.CF_DWORD0, addr=target), word
