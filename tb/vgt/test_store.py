"""The vertex store against a model of a few lines: vectors that were exported, rows of records, and nothing else."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.draws import POSITION_VECTORS, RECORD_ROWS
from ctm.rtl.border.shading import PARAMETERS, RECORDS
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.vgt.store import VertexStore
from ctm.tb.lib.seeds import seeds
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

VERTICES = 8
_CYCLES = fewer(1500)
_NOTHING = [0] * CHANNELS

Vector = tuple[int, int]
"""Whether it is a position vector, and its row."""


class Bench:
    """Random writes and reads in every cycle, of a few vectors and rows, so that many are met again."""

    def __init__(self, store: VertexStore, seed: int) -> None:
        self.store, self.draw = store, np.random.default_rng(seed)
        first = int(self.draw.integers(PARAMETERS - 1))
        parameters = sorted({0, first, first + 1, PARAMETERS - 1})
        self.rows: list[Vector] = [
            *((0, row) for row in parameters), *((1, row) for row in range(POSITION_VECTORS)),
        ]  # fmt: skip
        self.entries = [int(entry) for entry in self.draw.choice(VERTICES, 3, replace=False)]
        self.records = [int(record) for record in self.draw.choice(RECORDS, 3, replace=False)]
        self.vectors: dict[tuple[int, Vector], list[int]] = {}
        self.rows_of_records: dict[tuple[int, int], list[int]] = {}

    async def run(self, context: Any) -> None:
        """Write and read; a row is not read while it is written, nor one of a record in the cycle after it."""
        record_before = None
        for _ in range(_CYCLES):
            entry, record = self._write_vertex(context), self._write_record(context)
            position = self._read_position(context, entry)
            constant = self._read_constant(context, entry, {record, record_before})
            record_before = record
            await context.tick()
            if position is not None:
                assert list(context.get(self.store.positions.words)) == position
            if constant is not None:
                assert list(context.get(self.store.words)) == constant

    def _words(self) -> list[int]:
        return [int(word) for word in self.draw.integers(1 << 32, size=CHANNELS)]

    def _write_vertex(self, context: Any) -> int | None:
        """Begin a vertex, export a vector, or do neither. Returns the entry that is written."""
        draw, begins = self.draw, self.draw.random() < 0.05
        entry, begun = (int(each) for each in draw.choice(self.entries, 2))
        exports = not begins and draw.random() < 0.6
        vector, words, mask = self._vector(), self._words(), int(draw.integers(1 << CHANNELS))
        fields = {"entry": entry, "is_position": vector[0], "row": vector[1]}
        context.set(self.store.vertex, {"valid": int(begins), "entry": begun})
        context.set(self.store.exported, {"valid": int(exports), "vector": fields, "words": words, "mask": mask})
        if begins:
            self.vectors = {key: known for key, known in self.vectors.items() if key[0] != begun}
            return begun
        if exports:
            before = self.vectors.get((entry, vector), _NOTHING)
            pairs = enumerate(zip(words, before, strict=True))
            self.vectors[entry, vector] = [new if mask >> channel & 1 else old for channel, (new, old) in pairs]
        return entry if exports else None

    def _write_record(self, context: Any) -> tuple[int, int] | None:
        target, words = self._record_row(), self._words()
        valid = self.draw.random() < 0.5
        payload = {"record": target[0], "row": target[1], "words": words}
        context.set(self.store.record, {"valid": int(valid), "payload": payload})
        if valid:
            self.rows_of_records[target] = words
        return target if valid else None

    def _read_position(self, context: Any, written: int | None) -> list[int] | None:
        """Read a position vector; what it is, if it is not written now."""
        entry, vector = int(self.draw.choice(self.entries)), (1, int(self.draw.integers(POSITION_VECTORS)))
        context.set(self.store.positions.entry, entry)
        context.set(self.store.positions.vector, vector[1])
        return None if entry == written else self.vectors.get((entry, vector), _NOTHING)

    def _read_constant(self, context: Any, written: int | None, rows: set[tuple[int, int] | None]) -> list[int] | None:
        """Read a parameter or a row of a record; what it is, if it is known."""
        entry, vector, target = int(self.draw.choice(self.entries)), self._vector(), self._record_row()
        is_record = bool(vector[0])
        row = target[1] if is_record else vector[1]
        fields = {"is_record": int(is_record), "record": target[0], "row": row, "entry": entry}
        context.set(self.store.constant, fields)
        if is_record:
            return None if target in rows else self.rows_of_records.get(target)
        return None if entry == written else self.vectors.get((entry, vector), _NOTHING)

    def _vector(self) -> Vector:
        return self.rows[int(self.draw.integers(len(self.rows)))]

    def _record_row(self) -> tuple[int, int]:
        """A row of a record."""
        return int(self.draw.choice(self.records)), int(self.draw.integers(RECORD_ROWS))


@pytest.fixture(scope="module")
def store() -> VertexStore:
    return VertexStore(VERTICES)


@pytest.mark.parametrize("seed", seeds(4, 60))
def test_a_vector_is_what_was_exported_of_the_vertex_and_0_elsewhere(store: VertexStore, seed: int) -> None:
    simulate(store, Bench(store, seed).run)
