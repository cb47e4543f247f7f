"""Records which cells an instruction touches, by arrays that keep how they are indexed."""

from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.debug.slicing.cell import ALL_LANES, FLOATS, FRAMES, SHARE, Cell, state_arrays
from ctm.sim.golden.dpp.batch import Batch

Accesses = dict[str, set[int]]
"""Flat positions in arrays, by the array's name."""


class Recorded(np.ndarray):
    """An array that notes the positions which are read or written by an index, or as a whole in place."""

    log: set[int] | None = None
    numbers: npt.NDArray[np.signedinteger]

    @classmethod
    def of(cls, array: npt.NDArray[Any], log: set[int]) -> "Recorded":
        """The array's own bytes, as such an array."""
        found = array.view(cls)
        found.log, found.numbers = log, np.arange(array.size).reshape(array.shape)
        return found

    def __getitem__(self, index: Any) -> Any:
        """See `numpy.ndarray`; what it gives is an ordinary array."""
        self._note(index)
        return self.view(np.ndarray)[index]

    def __setitem__(self, index: Any, values: Any) -> None:
        """See `numpy.ndarray`."""
        self._note(index)
        self.view(np.ndarray)[index] = values

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **named: Any) -> Any:
        """See `numpy.ndarray`; an operation in place writes all of it."""
        results = named.get("out") or ()
        for result in results:
            if isinstance(result, Recorded):
                result._note(...)
        if results:
            named["out"] = tuple(_plain(result) for result in results)
        found = getattr(ufunc, method)(*map(_plain, inputs), **named)
        # An operation in place gives the array itself, which is unchanged.
        return results[0] if results else found

    def __array_function__(self, function: Any, types: Any, arguments: Any, named: Any) -> Any:
        """See `numpy.ndarray`."""
        del types
        if function is np.copyto and isinstance(arguments[0], Recorded):
            arguments[0]._note(...)
        return function(*_all_plain(arguments), **{name: _plain(value) for name, value in named.items()})

    def _note(self, index: Any) -> None:
        if self.log is not None:
            self.log.update(np.ravel(self.numbers[index]).tolist())


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Recorded) else value


def _all_plain(values: Any) -> Any:
    return type(values)(_plain(value) if not isinstance(value, list | tuple) else _all_plain(value) for value in values)


class Recording:
    """A copy of a wavefront's state for one instruction; `touched` tells what that touched."""

    def __init__(self, state: Batch[Any]) -> None:
        self.batch: Batch[Any] = state.copy()
        self._lanes = state.lanes
        self._accesses: Accesses = defaultdict(set)
        self._arrays: dict[str, Recorded] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        for name in state_arrays(state):
            self._record(name)
        for name in state.WAVEFRONT_ARRAYS:
            self._record(name)

    def _record(self, name: str) -> None:
        array = getattr(self.batch, name)
        self._shapes[name] = array.shape
        self._arrays[name] = Recorded.of(array, self._accesses[name])
        setattr(self.batch, name, self._arrays[name])

    def accessed(self, array: str) -> set[Cell]:
        """The cells of an array that were indexed."""
        shape = self._shapes[array]
        if not self._accesses[array]:
            return set()
        flat = np.fromiter(self._accesses[array], np.int64)
        indices = list(zip(*(axis.tolist() for axis in np.unravel_index(flat, shape)), strict=True))
        if array == SHARE:
            return {Cell(array, tuple(index[:-1])) for index in indices}
        return {Cell(array, tuple(index[:-1]), index[-1]) for index in indices}

    def may_have_written(self, after: Batch[Any], cell: Cell) -> bool:
        """Whether the instruction may have written a cell; `after` is the state that it left."""
        if cell.array == FRAMES:
            return True
        if getattr(after, cell.array) is not self._arrays[cell.array]:
            return True
        index = cell.index if cell.lane == ALL_LANES else (*cell.index, cell.lane)
        if cell.lane == ALL_LANES:
            index = (*cell.index, 0)
        return int(np.ravel_multi_index(index, self._shapes[cell.array])) in self._accesses[cell.array]


class RecordedRow(np.ndarray):
    """A constant [4] that notes which channels are taken."""

    cells: set[Cell] | None = None
    number: int = 0

    @classmethod
    def of(cls, row: npt.NDArray[np.float32], number: int, cells: set[Cell]) -> "RecordedRow":
        """The row as such an array."""
        found = row.view(cls)
        found.cells, found.number = cells, number
        return found

    def __getitem__(self, index: Any) -> Any:
        """See `numpy.ndarray`; what it gives is an ordinary array."""
        if self.cells is not None:
            first = index[0] if isinstance(index, tuple) else index
            channels = np.arange(self.shape[0])[first]
            self.cells.update(Cell(FLOATS, (self.number, int(channel))) for channel in np.ravel(channels))
        return self.view(np.ndarray)[index]
