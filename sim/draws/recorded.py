"""Reads a recorded draw and writes it as a job: NAME.toml, NAME.elf, and the arrays that they name.

A recorded draw is a JSON file with the programs of one or more compilers, their registers and constants, and an .npz
file of the same name with buffers and textures; docs/draws.md, Recorded draws, has the keys.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.draws import PrimitiveType
from ctm.sim.draws.error import DrawError
from ctm.sim.draws.programs import TEXTURE_BASE, Linked, linked
from ctm.sim.draws.registers import Registers, blended_targets, check, scissor
from ctm.sim.elf import write
from ctm.sim.golden.draw.topology import TOPOLOGIES

Array = npt.NDArray[Any]

COMPILERS = ("sfn", "sb", "nosb")
_LINES = (PrimitiveType.LINELIST, PrimitiveType.LINESTRIP, PrimitiveType.LINELOOP)
_TESTS = ("NEVER", "LESS", "EQUAL", "LESS_EQUAL", "GREATER", "NOT_EQUAL", "GREATER_EQUAL", "ALWAYS")
"""ZFUNC's codes as tests of the conditional unit."""
_STREAMS = 4
_FILL = -777.0
"""What streams hold before, as a driver's test left it."""


@dataclass(frozen=True)
class Imported:
    """A draw as files: their names and contents; `warnings` say what to know of it."""

    name: str
    files: dict[str, bytes | Array | str]
    warnings: tuple[str, ...]


def is_draw(document: object) -> bool:
    """Whether a JSON document is a recorded draw."""
    return isinstance(document, Mapping) and "draw" in document


def import_draw(path: Path, document: Mapping[str, Any], compiler: str | None) -> Imported:
    """The job of a recorded draw, of which `document` is the JSON file at `path`.

    Raises
    ------
    DrawError
        Something is missing, or a state of it is not built.
    OSError
        The .npz file cannot be read.
    """
    return _Draw(path, document, compiler).imported()


class _Draw:
    """One draw while it is imported."""

    def __init__(self, path: Path, document: Mapping[str, Any], compiler: str | None) -> None:
        self._document = document
        name = document.get("name", path.stem)
        if not isinstance(name, str) or not name or Path(name).name != name:
            raise DrawError("name: must be the name of a file")
        self.name = name
        self._compiler = compiler or COMPILERS[0]
        self._arrays = _arrays(path.with_suffix(".npz"))
        compiled = self._table("compiled")
        if self._compiler not in compiled:
            raise DrawError(f"there is no compiler '{self._compiler}' in it, but {', '.join(compiled)}")
        self._compiled = compiled[self._compiler]
        self._registers = Registers(self._compiled.get("registers", {}))
        self._draw = self._table("draw")
        self.files: dict[str, bytes | Array | str] = {}

    def _table(self, key: str) -> Mapping[str, Any]:
        found = self._document.get(key)
        if not isinstance(found, Mapping):
            raise DrawError(f"{key}: is missing, or is no table")
        return found

    def _array(self, name: str) -> Array:
        if name not in self._arrays:
            raise DrawError(f"the .npz file has no array '{name}'")
        return self._arrays[name]

    def imported(self) -> Imported:
        """The job."""
        kind = self._primitive()
        check(self._registers)
        program = self._linked(kind)
        text = "\n".join(self._job(kind, program))
        self.files[f"{self.name}.elf"] = write(program.executable)
        self.files[f"{self.name}.toml"] = text + "\n"
        return Imported(self.name, self.files, tuple(self._warnings()))

    def _warnings(self) -> Iterator[str]:
        if self._compiler in self._document.get("miscompiled", ()):
            yield f"the programs of {self._compiler} are marked as compiled wrongly: expect a wrong picture"

    def _primitive(self) -> PrimitiveType:
        name = self._draw.get("primitive")
        kind = next((each for each in PrimitiveType if each.name == name), None)
        if kind is None or kind not in TOPOLOGIES:
            raise DrawError(f"draw.primitive: {name} is not drawn")
        if kind in _LINES and not self._has_geometry and not self._discards:
            raise DrawError(f"draw.primitive: {name} is not drawn")
        return kind

    @property
    def _has_geometry(self) -> bool:
        return self._registers["VGT_GS_MODE"] & 3 == 3

    @property
    def _discards(self) -> bool:
        return self._registers.flag("PA_CL_CLIP_CNTL", 22)

    def _linked(self, kind: PrimitiveType) -> Linked:
        points = kind is PrimitiveType.POINTLIST
        if self._has_geometry:
            points = self._registers["VGT_GS_OUT_PRIM_TYPE"] & 0x3F == 0
        targets = int(self._document["targets"])
        return linked(self._compiled, self._registers, targets=targets, points=points, depth=self._tests_depth)

    @property
    def _tests_depth(self) -> bool:
        return bool(self._document.get("depth")) and self._registers.flag("DB_DEPTH_CONTROL", 1)

    def _job(self, kind: PrimitiveType, program: Linked) -> Iterator[str]:
        width, height = self._document["size"]
        first_i, first_j, end_i, end_j = scissor(self._registers)
        note = str(self._document.get("note", "")).splitlines()
        yield f"# {self.name}{f': {note[0]}' if note else ''}, with the programs of {self._compiler}."
        yield from ("", "[program]", f'file = "{self.name}.elf"', "", "[domain]")
        yield f"i = [{first_i}, {min(end_i, width) - 1}]"
        yield f"j = [{first_j}, {min(end_j, height) - 1}]"
        yield from self._constants(program)
        for number in range(int(self._document["targets"])):
            yield from ("", "[[outputs]]", f"index = {number}", f'file = "target{number}.npy"')
            yield from (
                f"shape = [{height}, {width}]",
                'format = "FLOAT32_4"',
                f"fill = {_number(self._document['clear'])}",
            )
        yield from self._depth(width, height)
        yield from self._textures(program)
        yield from self._drawing(kind)

    def _constants(self, program: Linked) -> Iterator[str]:
        if program.constants:
            rows = np.zeros((max(program.constants) + 1, 4), np.uint32)
            for row, words in program.constants.items():
                rows[row] = words
            yield from ("", "[constants]", f'float = "{self._keep("constants", rows.view(np.float32))}"')

    def _keep(self, name: str, array: Array) -> str:
        """Keep an array as a file beside the job; its name."""
        file = f"{self.name}_{name}.npy"
        self.files[file] = array
        return file

    def _depth(self, width: int, height: int) -> Iterator[str]:
        if not self._document.get("depth"):
            return
        yield from ("", "[conditional]", 'location = "DPP"', 'file = "depth.npy"', f"shape = [{height}, {width}]")
        yield f"fill = {_number(self._document['depth_clear'])}"
        test = _TESTS[self._registers.bits("DB_DEPTH_CONTROL", 6, 4)] if self._tests_depth else "ALWAYS"
        writes = self._tests_depth and self._registers.flag("DB_DEPTH_CONTROL", 2)
        yield from (f'test = "{test}"', f"write = {str(writes).lower()}")

    def _textures(self, program: Linked) -> Iterator[str]:
        for texture in self._document.get("textures", ()):
            values = np.ascontiguousarray(self._array(f"texture_{texture['name']}"), np.float32)
            index = int(texture["resource"]) - TEXTURE_BASE
            if index in program.executable.scaled_inputs:
                self._check_sampler(texture)
            file = self._keep(f"texture_{texture['name']}", values)
            yield from ("", "[[inputs]]", f"index = {index}", f'file = "{file}"', 'format = "FLOAT32_4"')

    @staticmethod
    def _check_sampler(texture: Mapping[str, Any]) -> None:
        """Of a texture that is looked up by more than the numbers of its elements."""
        for key, built in (("filter", "nearest"), ("wrap", "clamp")):
            if texture.get(key, built) != built:
                raise DrawError(f"textures.{texture['name']}: the {key} {texture[key]} is not built, only {built}")

    def _drawing(self, kind: PrimitiveType) -> Iterator[str]:
        registers, draw = self._registers, self._draw
        yield from ("", "[draw]", f'primitive = "{kind.name}"', f"count = {int(draw['count'])}")
        yield f"instances = {int(draw.get('instances', 1))}"
        base = registers["VGT_INDX_OFFSET"]
        yield f"base_vertex = {base - (base >> 31 << 32)}"
        yield f"first_instance = {registers['SQ_VTX_START_INST_LOC']}"
        yield from self._indices()
        for axis in "XYZ":
            scale, offset = (registers.real(f"PA_CL_VPORT_{axis}{what}_0") for what in ("SCALE", "OFFSET"))
            yield f"viewport_{axis.lower()} = [{_number(scale)}, {_number(offset)}]"
        low, high = (registers.real(f"PA_SC_VPORT_{which}_0") for which in ("ZMIN", "ZMAX"))
        yield f"depth_range = [{_number(low)}, {_number(high)}]"
        mode, clip = "PA_SU_SC_MODE_CNTL", "PA_CL_CLIP_CNTL"
        yield f'provoking = "{"last" if registers.flag(mode, 19) else "first"}"'
        yield f'front = "{"clockwise" if registers.flag(mode, 2) else "counterclockwise"}"'
        yield f'cull = "{("none", "front", "back", "both")[registers.bits(mode, 1, 0)]}"'
        near = "zero" if registers.flag(clip, 19) else "minus_w"
        yield f'near = "{"off" if registers.flag(clip, 26) else near}"'
        yield f"far = {str(not registers.flag(clip, 27)).lower()}"
        yield f"discard = {str(self._discards).lower()}"
        yield f"add = {str(self._adds()).lower()}"
        yield f"point_size = {self._point_size()}"
        for number, buffer in self._document.get("vertex_buffers", {}).items():
            file = self._keep(f"vertices{number}", np.ascontiguousarray(self._array(buffer["array"])).view(np.uint8))
            yield from (
                "",
                "[[draw.buffers]]",
                f"index = {int(number)}",
                f'file = "{file}"',
                f"stride = {buffer['stride']}",
            )
        yield from self._streams()

    def _adds(self) -> bool:
        """Whether targets add, which all do or none."""
        every = (1 << int(self._document["targets"])) - 1
        blended = blended_targets(self._registers) & every
        if blended not in (0, every):
            word = self._registers["CB_COLOR_CONTROL"]
            raise DrawError(f"CB_COLOR_CONTROL is 0x{word:08x}: blending of some targets is not built, only of all")
        return bool(blended)

    def _indices(self) -> Iterator[str]:
        listed = self._draw.get("indices")
        if listed is None:
            return
        size = int(self._draw.get("index_bytes", 2))
        if size not in (2, 4):
            raise DrawError(f"draw.index_bytes: {size} is neither 2 nor 4")
        yield f'indices = "{self._keep("indices", np.array(listed, f"u{size}"))}"'
        if self._registers.flag("VGT_MULTI_PRIM_IB_RESET_EN", 0):
            yield f"restart = {self._registers['VGT_MULTI_PRIM_IB_RESET_INDX']}"

    def _point_size(self) -> str:
        registers = self._registers
        if registers.flag("PA_CL_VS_OUT_CNTL", 16):
            return '"program"'
        low, high = (registers["PA_SU_POINT_MINMAX"] >> shift & 0xFFFF for shift in (0, 16))
        radius = registers["PA_SU_POINT_SIZE"] & 0xFFFF
        bounded = min(max(radius, low), high) if high else radius
        return _number(bounded / 8)

    def _streams(self) -> Iterator[str]:
        registers = self._registers
        enabled = registers["VGT_STRMOUT_BUFFER_EN"] if registers["VGT_STRMOUT_EN"] & 1 else 0
        for number in range(_STREAMS):
            name = f"feedback{number}"
            if name not in self._arrays:
                continue
            words = self._arrays[name].size
            limit = registers[f"VGT_STRMOUT_BUFFER_SIZE_{number}"] if enabled >> number & 1 else 0
            yield from ("", "[[draw.streams]]", f"index = {number}", f'file = "{name}.npy"', f"words = {words}")
            yield from (f"limit = {min(limit, words)}", f"stride = {registers[f'VGT_STRMOUT_VTX_STRIDE_{number}']}")
            yield f"fill = {_FILL}"


def _number(value: float) -> str:
    """A number as TOML has it, exactly."""
    value = float(value)
    return repr(value) if math.isfinite(value) else str(value)


def _arrays(path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except FileNotFoundError:
        raise DrawError(f"there is no file '{path}' beside it, which has its buffers") from None
    except ValueError as error:
        raise DrawError(f"'{path}' is no .npz file: {error}") from None


def read_document(contents: bytes) -> object:
    """A JSON document.

    Raises
    ------
    DrawError
        It is none.
    """
    try:
        return json.loads(contents)
    except ValueError as error:
        raise DrawError(f"no JSON: {error}") from None
