"""What a draw of the campaign covered: cells of tables, each counted once for a draw."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.draws import STREAMS
from ctm.rtl.isa.host import COUNTERS, DRAW_COUNTERS
from ctm.rtl.isa.r700.pipeline import OutputPrimitive
from ctm.rtl.isa.status import Status
from ctm.sim.golden.draw.topology import TOPOLOGIES
from ctm.tb.draws.random_draws import FORMATS
from ctm.tb.verify.campaign import Case, Tables
from ctm.tb.verify.draws.seen import PLANES, Seen

PRIMITIVES, FACES, CLIPPING, DEPTH = "draw primitives", "draw faces", "draw clipping", "draw depth"
FETCHES, INPUTS, GEOMETRY, STREAMED = "draw fetches", "draw inputs", "draw geometry", "draw streams"
TARGETS, STATUSES, COUNTED = "draw targets", "draw statuses", "draw counters"
INDICES = ("no indices", "uint16", "uint32", "restart")
_TRIANGLES = ("1 triangle", "2 triangles", "3 triangles", "4 triangles or more")
_CUTS = ("outside", "NaN", *(f"cull distance {number}" for number in range(8)))
_NEAR = tuple(f"near {near}, far {far}" for near in ("minus_w", "zero", "off") for far in ("on", "off"))
_EMITTED = ("emits none", "emits some", "emits the most", "cuts")
_SHAPES = ("triangle", "clipped triangle", "point")
_NUMBERS = ("NORM", "INT", "SCALED")
_STATUSES = (Status.OK, Status.BAD_DRAW)
_WHOLE = ("FLOAT32_4", "FLOAT32_3", "FLOAT32_2", "FLOAT32_1")
"""Formats of vertex fetches that need no conversion."""
_ROW, _FACE, _IS_CLIPPED = 2, 1, 3
"""Where a shape's record has its face, 1 or -1, and whether it was clipped; docs/draws.md has all of the record."""
_FETCH = re.compile(r"FORMAT\((\w+)\)(?: NUM_FORMAT\((\w+)\))?( SIGNED)? FETCH_TYPE\((\w+)\)")


def tables() -> Tables:
    """All cells by their tables."""
    cells: dict[str, list[tuple[str, ...]]] = {
        PRIMITIVES: list(product((kind.name for kind in TOPOLOGIES), ("pixels", "geometry"), INDICES)),
        FACES: [
            (f"cull {cull}", f"front {front}", face)
            for cull, front, face in product(
                ("none", "front", "back"), ("clockwise", "counterclockwise"), ("front", "back")
            )
            if cull != face
        ],
        CLIPPING: [*((f"cut by {plane}",) for plane in PLANES), *((name,) for name in (*_CUTS, *_TRIANGLES, *_NEAR))],
        DEPTH: list(product(ConditionalTest.__members__, ("interpolated", "exported"), ("FLOAT32_1", "UINT16_1"))),
        FETCHES: [
            *((name,) for name in _WHOLE),
            *product((each for each in FORMATS if each.isdigit()), _NUMBERS, ("unsigned", "signed")),
            *((kind,) for kind in ("VERTEX_DATA", "INSTANCE_DATA", "NO_INDEX_OFFSET", "beyond the buffer")),
        ],
        INPUTS: [
            *product(_SHAPES, ("smooth", "linear", "flat, provoking first", "flat, provoking last")),
            *((f"default {number}",) for number in range(4)), ("sprite",), ("program's size",), ("primitive number",),
        ],
        GEOMETRY: [
            *product(OutputPrimitive.__members__, ("large rings", "small rings")), *((each,) for each in _EMITTED)
        ],
        STREAMED: [
            *product(("vertex", "copy"), (f"stream {number}" for number in range(STREAMS))),
            ("full",), ("not full",), ("disabled",), ("discarded",),
        ],
        TARGETS: [
            *product(("FLOAT32_4", "FLOAT32_2", "FLOAT32_1", "UINT8_4"), ("stored", "added")),
            *((f"{number} targets",) for number in range(1, 9)), ("depth clamped",),
        ],
        STATUSES: [(status.name,) for status in _STATUSES],
        COUNTED: [(name.lower(),) for name in (*COUNTERS, *DRAW_COUNTERS)],
    }  # fmt: skip
    return {table: [" / ".join(cell) for cell in found] for table, found in cells.items()}


def events(case: Case, status: Status, seen: Seen, counters: Mapping[str, int]) -> set[str]:
    """The cells that a draw covered, as ``table|cell``.

    `case` is a sheet, `status` how the draw ended, `seen` what the golden model made of it, `counters` are those of the
    hardware. A draw with an error covers its status and its counters alone; one that no primitive or no pixel came of
    covers nothing that says how these are made.
    """
    found = {f"{STATUSES}|{status.name}"} | {f"{COUNTED}|{name}" for name, count in counters.items() if count}
    if status is not Status.OK:
        return found
    found |= set(_fetches(case)) | set(_streams(case, seen))
    if counters["draw_primitives"] or case["draw"].get("discard"):
        found.add(f"{PRIMITIVES}|{primitive_of(case)}")
    if case["geometry"] is not None and counters["draw_vertices"]:
        found |= set(_geometry(case, seen))
    found |= set(_clipping(case, seen))
    if counters["draw_pixels"]:
        found |= set(_pixels(case, seen))
    return found


def primitive_of(case: Case) -> str:
    """The primitive, whether a geometry program takes it, and the kind of its indices."""
    indices = INDICES[0] if case["indices"] is None else f"uint{case['index_bits']}"
    if case["indices"] is not None and case["restart"] in case["indices"]:
        indices = INDICES[3]
    return f"{case['draw']['primitive']} / {'pixels' if case['geometry'] is None else 'geometry'} / {indices}"


def _fetches(case: Case) -> Iterator[str]:
    """Formats and indices of the vertex program's fetches."""
    for line in case["programs"].get("vertex", ()):
        found = _FETCH.search(line)
        if found:
            element, number, signed, kind = found.groups()
            yield f"{FETCHES}|{kind}"
            sign = "signed" if signed else "unsigned"
            yield f"{FETCHES}|{f'{element} / {number} / {sign}' if element.isdigit() else element}"
    if case["size"] is not None:
        yield f"{FETCHES}|beyond the buffer"


def _streams(case: Case, seen: Seen) -> Iterator[str]:
    """Streams that a program wrote, and whether all of its primitives fitted."""
    if case["draw"].get("discard"):
        yield f"{STREAMED}|discarded"
    if seen.streamed is None:
        return
    stage = "vertex" if case["geometry"] is None else "copy"
    yield from (f"{STREAMED}|{stage} / stream {number}" for number in seen.streamed.written)
    if seen.streamed.written or seen.streamed.is_full:
        yield f"{STREAMED}|{'full' if seen.streamed.is_full else 'not full'}"
    if seen.streamed.disabled:
        yield f"{STREAMED}|disabled"


def _geometry(case: Case, seen: Seen) -> Iterator[str]:
    """Emitted primitives, whether rings are small, and how many vertices threads emitted."""
    rings = "small rings" if case["rings"] else "large rings"
    yield f"{GEOMETRY}|{case['geometry']['output']} / {rings}"
    if seen.emitted is not None:
        count, most = seen.emitted.count, case["geometry"]["most"]
        amounts = (count == 0).any(), ((count > 0) & (count < most)).any(), (count == most).any()
        yield from (f"{GEOMETRY}|{name}" for name, some in zip(_EMITTED, amounts, strict=False) if some)
        if seen.emitted.cut.any():
            yield f"{GEOMETRY}|{_EMITTED[3]}"


def _clipping(case: Case, seen: Seen) -> Iterator[str]:
    """What dropped or cut triangles, the triangles that they became, and the faces that were drawn."""
    if seen.clipped is None or seen.shapes is None:
        return
    clipped = seen.clipped
    yield from (f"{CLIPPING}|cut by {plane}" for plane in clipped.planes)
    yield from (f"{CLIPPING}|cull distance {plane}" for plane in clipped.cull_distances)
    yield from (f"{CLIPPING}|{name}" for name, some in (("outside", clipped.outside), ("NaN", clipped.nan)) if some)
    numbers = np.bincount(seen.shapes.primitive)
    yield from (
        f"{CLIPPING}|{_TRIANGLES[min(number, len(_TRIANGLES)) - 1]}" for number in np.unique(numbers[numbers > 0])
    )
    draw = case["draw"]
    yield f"{CLIPPING}|near {draw['near']}, far {'on' if draw['far'] else 'off'}"
    for face, sign in (("front", 1), ("back", -1)):
        if (seen.shapes.record[:, _ROW, _FACE] == sign).any():
            yield f"{FACES}|cull {draw['cull']} / front {draw['front']} / {face}"


def _pixels(case: Case, seen: Seen) -> Iterator[str]:
    """Of a draw that covered a pixel."""
    draw = case["draw"]
    added = "added" if draw.get("add") else "stored"
    yield f"{TARGETS}|{case['written_as'] or 'FLOAT32_4'} / {added}"
    yield f"{TARGETS}|{case['targets']} targets"
    exports = any("EXPORT DEPTH" in line for line in case["programs"]["pixel"])
    if case["depth"] is not None:
        yield f"{DEPTH}|{case['depth']} / {'exported' if exports else 'interpolated'} / {case['depth_format']}"
        if draw["viewport"]["depth"] != (0.0, 1.0):
            yield f"{TARGETS}|depth clamped"
    if case["note"].get("primitive_number"):
        yield f"{INPUTS}|primitive number"
    if case["geometry"] is None:
        yield from _inputs(case, seen)


def _inputs(case: Case, seen: Seen) -> Iterator[str]:
    """How inputs of the pixel program are made, of each kind of shape."""
    assert seen.shapes is not None
    draw, points = case["draw"], seen.clipped is None
    clipped = seen.shapes.record[:, _ROW, _IS_CLIPPED] != 0
    shapes = (_SHAPES[2],) if points else (*_SHAPES[:1] * bool((~clipped).any()), *_SHAPES[1:2] * bool(clipped.any()))
    if points and draw.get("point_size", 1.0) is None:
        yield f"{INPUTS}|program's size"
    for each in case["inputs"]:
        yield from (f"{INPUTS}|{_input(each, draw, shape)}" for shape in shapes)


def _input(each: Mapping[str, Any], draw: Mapping[str, Any], shape: str) -> str:
    """How an input of a shape is made; `each` has the fields of `PixelInput`."""
    if each["sprite"] and shape == _SHAPES[2]:
        return "sprite"
    if each["parameter"] is None:
        return f"default {each['default']}"
    kind = f"flat, provoking {draw['provoking']}" if each["flat"] else "linear" if each["linear"] else "smooth"
    return f"{shape} / {kind}"
