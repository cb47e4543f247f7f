"""Batches of a draw: the vertices that the hardware shades together, and in which order.

A functional model of the rule in docs/design/draws.md, vertices. The golden model shades vertices in any order; given
this order its wavefronts have the threads of the hardware's. If a wavefront's registers begin otherwise in the
hardware's trace, the hardware does not follow the rule there.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from ctm.rtl.vgt.batch_builder import REUSED

Integers = npt.NDArray[np.signedinteger]

_WAITING = 2
"""Primitives that may wait in a batch, for each vertex that the vertex store holds."""


@dataclass(frozen=True, kw_only=True)
class BatchLimits:
    """When batches are closed: of a draw that `reuses` vertices and shades up to `most` of them in a batch.

    `vertices` are those of the vertex store.
    """

    vertices: int
    most: int
    reuses: bool

    @property
    def primitives(self) -> int:
        """Most primitives of a batch: with one less the queue counts as full before the next one."""
        return _WAITING * self.vertices - 1


@dataclass(frozen=True, kw_only=True)
class Batches:
    """Threads, one for each time that a vertex is shaded, batch after batch.

    `vertices` [threads] is what each shades. `corners` [n, corners] and `provoking` [n] are threads; `first` is that of
    each primitive's batch, [n]. `begins` are the first threads of batches, and `primitives` their first primitives,
    [batches].
    """

    vertices: Integers
    corners: Integers
    provoking: Integers
    first: Integers
    begins: Integers
    primitives: Integers

    @classmethod
    def of(
        cls, corners: Integers, provoking: Integers, keys: Integers, sections: Integers, limits: BatchLimits
    ) -> Self:
        """The batches of primitives, whose `corners` [n, corners] and `provoking` [n] are vertices.

        Vertices with equal `keys` [vertices] are one. No batch has primitives of two `sections` [n].
        """
        builder = _Builder(limits)
        shaded = [
            builder.add(row, names, section)
            for row, names, section in zip(corners.tolist(), keys[corners].tolist(), sections.tolist(), strict=True)
        ]
        threads = np.array(shaded, np.int64).reshape(corners.shape)
        at = np.argmax(corners == provoking[:, None], axis=1)
        begins, primitives = np.array(builder.begins, np.int64), np.array(builder.primitives, np.int64)
        counts = np.diff(np.append(primitives, len(corners)))
        return cls(
            vertices=np.array(builder.vertices, np.int64), corners=threads,
            provoking=threads[np.arange(len(threads)), at], first=np.repeat(begins, counts), begins=begins,
            primitives=primitives,
        )  # fmt: skip


class _Builder:
    """Adds primitives to batches, one after the other."""

    def __init__(self, limits: BatchLimits) -> None:
        self._limits = limits
        self.vertices: list[int] = []
        self.begins: list[int] = []
        self.primitives: list[int] = []
        self._count = 0
        """Primitives so far."""
        self._section: int | None = None
        self._recent: dict[int, int] = {}
        """Threads of the last new vertices, by key, the oldest first."""

    def add(self, vertices: list[int], keys: list[int], section: int) -> list[int]:
        """The threads that shade a primitive's vertices."""
        if section != self._section or self._is_full(len(vertices)):
            self._section = section
            self.begins.append(len(self.vertices))
            self.primitives.append(self._count)
            self._recent.clear()
        self._count += 1
        return [self._thread(vertex, key) for vertex, key in zip(vertices, keys, strict=True)]

    def _is_full(self, corners: int) -> bool:
        """Whether there may be no entry for the vertices of the next primitive, or too many primitives wait."""
        used = len(self.vertices) - self.begins[-1]
        waiting = self._count - self.primitives[-1]
        return used + corners > self._limits.most or waiting >= self._limits.primitives

    def _thread(self, vertex: int, key: int) -> int:
        known = self._recent.get(key) if self._limits.reuses else None
        if known is not None:
            return known
        self.vertices.append(vertex)
        self._recent.pop(key, None)
        self._recent[key] = len(self.vertices) - 1
        if len(self._recent) > REUSED:
            del self._recent[next(iter(self._recent))]
        return len(self.vertices) - 1


def wavefronts_of(begins: Integers, threads: int, lanes: int) -> Integers:
    """The thread of each lane of the wavefronts of batches that begin at these threads, [wavefronts, lanes].

    A lane without a thread has `threads`, their number.
    """
    ends = np.append(begins, threads)[1:]
    firsts = [np.arange(begin, end, lanes) for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
    first = np.concatenate([*firsts, np.zeros(0, np.int64)])
    end = np.repeat(ends, [each.size for each in firsts])
    found = first[:, None] + np.arange(lanes)
    return np.where(found < end[:, None], found, threads)
