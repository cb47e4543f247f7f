"""`why` of a draw's pixel: what decides that a primitive covers it, and why it is not of another one."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import R700
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.session import Session
from ctm.sim.debug.walk import Position
from ctm.sim.debug.why import why
from ctm.sim.golden.draw.stages import Shaded
from ctm.sim.golden.r700.draws.stages import R700Stages
from ctm.sim.golden.r700.instruction import POSITION_TARGET
from ctm.sim.jobs.loading import load_job
from ctm.tb.draws.recorded import make_job, run

_WAVEFRONT = 16
_COVERED = re.compile(r"\((\d+), (\d+)\) of primitive (\d+)")
_FAILED = re.compile(r"not primitive (\d+) .*; it fails by conditional = (\S+), .* = (\S+)$")


def session_of(path: Path) -> Session:
    return Session(load_job(path), replace(R700, array=R700.array.with_wavefront(_WAVEFRONT)))


def some_pixels(path: Path, count: int) -> list[tuple[int, int]]:
    """Pixels that the draw stores, as (i, j)."""
    covered = np.argwhere((run(path, "golden", _WAVEFRONT).outputs[0] != np.float32(-777)).any(axis=-1))
    return [(i, j) for j, i in covered[:: max(1, len(covered) // count)].tolist()]


def changed(words: Shaded, vertex: int, target: int, channel: int, word: np.float32) -> Shaded:
    """Shaded vertices with another word."""
    position, beside = words.position.copy(), words.beside.copy()
    array = position[None] if target == 0 else beside
    array[0 if target == 0 else target - 1, vertex, channel] = word
    return replace(words, position=position, beside=beside)


def words_that_matter(path: Path, pixel: tuple[int, int], vertices: list[int], has_size: bool) -> set[tuple[int, str]]:
    """Words of vertices that make a difference to a pixel, each replaced by others where the draw takes it.

    Targets after a position are those of a size, if there is one, and of distances.
    """
    original = R700Stages.vertices

    def colour(*change: int, by: float = 0.0, plus: float = 0.0) -> bytes:
        def vertices_of(stages: R700Stages, assembly: object) -> Shaded:
            words = original(stages, assembly)  # type: ignore[arg-type]
            if not change:
                return words
            vertex, target, channel = change
            left = words.position if target == 0 else words.beside[target - 1]
            word = left[vertex, channel] * np.float32(by) + np.float32(plus)
            return changed(words, vertex, target, channel, word)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(R700Stages, "vertices", vertices_of)
            return run(path, "golden", _WAVEFRONT).outputs[0][pixel[1], pixel[0]].tobytes()

    def tried() -> Iterator[tuple[float, float]]:
        yield from ((1, 1 / 64), (1, 0.5), (1, -0.5), (0, 0), (0, -(2.0**20)), (2, 0))

    usual, found = colour(), set()
    for vertex in vertices:
        for target, channel in np.ndindex(4, 4):
            if any(colour(vertex, target, channel, by=by, plus=plus) != usual for by, plus in tried()):
                number = POSITION_TARGET + target - (target > 0 and not has_size)
                found.add((vertex, f"o{number}.{'xyzw'[channel]}"))
    return found


@pytest.mark.parametrize(
    ("name", "count", "has_size"),
    [
        pytest.param("points_sprite", 2, True, marks=pytest.mark.long),
        ("points", 1, True),
        pytest.param("clip_distance", 2, False, marks=pytest.mark.long),
    ],
)
def test_what_vertices_left_is_named_where_it_decides_over_a_pixel(
    name: str, count: int, has_size: bool, tmp_path: Path
) -> None:
    path = make_job(name, "sfn", tmp_path)
    for i, j in some_pixels(path, count)[-count:]:
        with session_of(path) as session:
            session.go_to(Position(1, 0, 0))
            explanation = why(session, f"o0[{i},{j}]")
        named, vertices = set(), []
        for each in explanation.before:
            (vertex,) = map(int, re.findall(r"vertex (\d+)$", each.text))
            vertices.append(vertex)
            own = {each.names.name(cell) for cell in each.slice.targets}
            named |= {(vertex, word) for word in own if int(word[1 : word.index(".")]) < POSITION_TARGET + 4}
        matter = words_that_matter(path, (i, j), vertices, has_size)
        assert matter == named


@pytest.mark.slow
def test_a_fragment_that_is_not_stored_is_named_with_what_it_failed_by(tmp_path: Path) -> None:
    path = make_job("cube_nocull_depth", "sfn", tmp_path)
    indices = tmp_path / "cube_nocull_depth_indices.npy"
    original, seen = np.load(indices), 0
    for i, j in some_pixels(path, 4):
        np.save(indices, original)
        with session_of(path) as session:
            session.go_to(Position(1, 0, 0))
            explanation = why(session, f"o0[{i},{j}]", follows=False)
        assert explanation.condition is not None and len(explanation.others) == len(set(explanation.others))
        stored = next(iter(_COVERED.finditer(explanation.text)))
        for other in explanation.others:
            match = _FAILED.fullmatch(other)
            assert match is not None and float(match[2]) >= float(match[3])
        if not explanation.others:
            continue
        # Without the primitive that is there, and the others that failed, the pixel is of the first one of these.
        numbers = [int(stored[3]), *(int(other.split()[2]) for other in explanation.others)]
        failed = _FAILED.fullmatch(explanation.others[0])
        assert failed is not None
        without = original.copy()
        for number in {*numbers} - {int(failed[1])}:
            without[3 * number : 3 * number + 3] = without[3 * number]
        np.save(indices, without)
        depth = run(path, "golden", _WAVEFRONT).outputs["conditional"][j, i].item()
        assert f"{depth:.9g}" == failed[2]
        seen += 1
    assert seen


def test_a_pixel_without_a_fragment_that_is_stored_says_why(tmp_path: Path) -> None:
    with session_of(make_job("discard", "sfn", tmp_path)) as session:
        session.go_to(Position(1, 0, 0))
        with pytest.raises(DebugError, match=r"o0\[20,20\]: not primitive 0 \(.*\): its program killed the pixel"):
            why(session, "o0[20,20]")
