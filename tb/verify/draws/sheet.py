"""A draw as JSON holds it, a sheet, and the scene that it is; what can be taken out of a sheet, and simpler ones.

A sheet has the keys of `Scene`, with enumerations by name, and these, which differ or are its own:

`vertices`: 8 words each, the bits of the floats. `index_bits`: 16, 32, or None without indices. `programs`: the lines
of each program by its name; `vertex` and `pixel`, or with `geometry` `program` and `copy` instead of `vertex`.
`geometry`: the `output` primitive, and the `most` vertices that a thread emits; None without a geometry program.
`note`: fields of the pipeline's note that are not the linker's. `targets`: how many there are. `memory`: latency and
jitter of the hardware's memory in cycles, and the share of cycles in which it stalls.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.draws import Ring
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r700.pipeline import OutputPrimitive
from ctm.sim.assembler import AssemblyError
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.runtime.draws import PixelInput, Viewport, pipeline
from ctm.tb.draws.geometry import COPY, POINT_TO_TRIANGLES, with_geometry
from ctm.tb.draws.scene import Scene
from ctm.tb.verify.campaign import Case

_FIXED = ("program",)
"""Programs whose lines stay: without one of them ring dwords would be read that nothing wrote, and hold anything."""

_VERTEX_WORDS = 8
_USUAL = {"instances": 1, "cull": "none", "add": False, "base_vertex": 0, "first_instance": 0, "far": True}
"""Fields of a draw in its simplest form."""
_NONE: dict[str, Any] = {
    "depth": None, "streams": {}, "rings": {}, "note": {}, "size": None, "written_as": None, "clip": None,
}  # fmt: skip
"""Keys of a sheet in its simplest form."""
_KEYS = {
    "vertices", "indices", "index_bits", "restart", "width", "height", "inputs", "linked", "programs", "geometry",
    "depth_format", "draw", "targets", "memory", *_NONE,
}  # fmt: skip


def sheet_of(made: Scene, **others: Any) -> Case:
    """The sheet of a scene; `others` are the keys `seed`, `note`, `targets` and `memory`, which no scene has.

    A scene that has `program` must have `geometry`, too, which its lines are taken from.
    """
    programs = {"vertex": made.vertex, "pixel": made.pixel}
    geometry = None
    if made.program is not None:
        given = made.geometry
        usual = {"program": POINT_TO_TRIANGLES, "copy": COPY}
        programs = {**{name: given.get(name, text) for name, text in usual.items()}, "pixel": given["pixel"]}
        geometry = {"most": given["most"], "output": given["output"].name}
    viewport: Viewport = made.draw["viewport"]
    indices = made.indices
    return {
        "vertices": np.array(made.vertices, np.float32).view(np.uint32).tolist(),
        "indices": None if indices is None else indices.tolist(),
        "index_bits": None if indices is None else 8 * indices.itemsize,
        "restart": made.restart, "width": made.width, "height": made.height, "clip": made.clip, "size": made.size,
        "inputs": [asdict(each) for each in made.inputs], "linked": dict(made.linked),
        "programs": {name: text.strip().splitlines() for name, text in programs.items()},
        "geometry": geometry, "depth": None if made.depth is None else made.depth.name,
        "depth_format": made.depth_format.name,
        "written_as": None if made.written_as is None else made.written_as.name,
        "streams": {str(number): list(sizes) for number, sizes in made.streams.items()},
        "rings": {ring.name: dwords for ring, dwords in made.rings.items()},
        "draw": {**made.draw, "viewport": asdict(viewport)}, **others,
    }  # fmt: skip


def scene_of(sheet: Mapping[str, Any]) -> Scene:
    """The scene of a sheet.

    Raises
    ------
    ValueError
        A key is missing, or its programs cannot be assembled or linked.
    """
    if missing := _KEYS - sheet.keys():
        raise ValueError(f"it has no {', '.join(sorted(missing))}")
    size = sheet["index_bits"]
    vertices = np.array(sheet["vertices"], np.uint32).reshape(-1, _VERTEX_WORDS).view(np.float32)
    viewport = Viewport(**{name: tuple(pair) for name, pair in sheet["draw"]["viewport"].items()})
    return Scene(
        vertices=vertices,
        indices=None if size is None else np.array(sheet["indices"], np.uint16 if size == 16 else np.uint32),
        restart=sheet["restart"], width=sheet["width"], height=sheet["height"],
        clip=None if sheet["clip"] is None else tuple(sheet["clip"]), size=sheet["size"],
        depth=None if sheet["depth"] is None else ConditionalTest[sheet["depth"]],
        depth_format=DataFormat[sheet["depth_format"]],
        written_as=None if sheet["written_as"] is None else DataFormat[sheet["written_as"]],
        streams={int(number): (sizes[0], sizes[1]) for number, sizes in sheet["streams"].items()},
        rings={Ring[name]: dwords for name, dwords in sheet["rings"].items()},
        draw={**sheet["draw"], "viewport": viewport}, program=_executable(sheet),
    )  # fmt: skip


def _executable(sheet: Mapping[str, Any]) -> Executable:
    """The programs of a sheet, linked; ValueError: they cannot be."""
    texts: dict[str, Any] = {name: "\n".join(lines) for name, lines in sheet["programs"].items()}
    depth, geometry = sheet["depth"] is not None, sheet["geometry"]
    try:
        if geometry is not None:
            output = OutputPrimitive[geometry["output"]]
            depth = depth and "EXPORT DEPTH" not in texts["pixel"]
            made = with_geometry(**texts, most=geometry["most"], output=output, depth=depth)
        else:
            inputs = [PixelInput(**each) for each in sheet["inputs"]]
            made = pipeline(**texts, inputs=inputs, depth=depth, **sheet["linked"])
    except AssemblyError as error:
        raise ValueError(str(error)) from None
    assert made.pipeline is not None
    note: dict[str, Any] = dict(sheet["note"])
    note |= {name: tuple(value) for name, value in note.items() if isinstance(value, list)}
    return replace(made, pipeline=replace(made.pipeline, **note))


def items(sheet: Mapping[str, Any]) -> list[tuple[str, int]]:
    """What can be taken out of a sheet: lines of programs, indices, and without these vertices, each by its number."""
    found = [(name, line) for name, lines in sheet["programs"].items() if name not in _FIXED for line in _items(lines)]
    listed = "vertices" if sheet["indices"] is None else "indices"
    return found + [(listed, number) for number in range(len(sheet[listed]))]


def _items(lines: Sequence[str]) -> list[int]:
    """The numbers of lines that are neither empty nor directives."""
    return [number for number, line in enumerate(lines) if line.strip() and not line.startswith(".")]


def kept(sheet: Case, chosen: Sequence[tuple[str, int]]) -> Case:
    """A sheet with these of its items only, and with all that is no item."""
    gone = set(items(sheet)) - set(chosen)

    def remaining(name: str, values: Sequence[Any]) -> list[Any]:
        return [value for number, value in enumerate(values) if (name, number) not in gone]

    lists = {name: remaining(name, sheet[name]) for name in ("vertices", "indices") if sheet[name] is not None}
    return {**sheet, "programs": {name: remaining(name, lines) for name, lines in sheet["programs"].items()}, **lists}


def simpler(sheet: Case) -> Iterator[Case]:
    """Sheets that are simpler in one thing each: state, targets, their size, the primitive, indices.

    State that is not the usual one becomes that; targets become one, and half as wide or high; primitives become
    triangles of a list; the vertices that indices name replace the indices.
    """
    draw = sheet["draw"]
    unusual = {name: usual for name, usual in _USUAL.items() if draw.get(name, usual) != usual}
    yield from ({**sheet, "draw": {**draw, name: usual}} for name, usual in unusual.items())
    yield from ({**sheet, name: none} for name, none in _NONE.items() if sheet[name] != none)
    if sheet["targets"] > 1:
        yield {**sheet, "targets": 1}
    yield from ({**sheet, name: sheet[name] // 2} for name in ("width", "height") if sheet[name] > 1)
    if draw["primitive"] not in ("TRILIST", "POINTLIST"):
        yield {**sheet, "draw": {**draw, "primitive": "TRILIST"}}
    indices, vertices = sheet["indices"], sheet["vertices"]
    if indices is not None and all(index < len(vertices) for index in indices):
        listed = [vertices[index] for index in indices]
        yield {**sheet, "vertices": listed, "indices": None, "index_bits": None, "restart": None}
