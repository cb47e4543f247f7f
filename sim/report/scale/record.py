"""Measurements of many cores, kept in a file as they come, so that a run that ends early goes on where it was."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ctm.sim.files import read_text, write_file
from ctm.sim.report.scale.model import Demand


@dataclass(frozen=True, kw_only=True)
class ScaleMeasurement:
    """One workload on one machine, with cold caches, from start_program until its outputs are in memory."""

    name: str
    cores: int
    width: int
    """Bytes a cycle."""
    cycles: int
    speedup: float
    """Beside one core with as much memory."""
    peak_share: float | None
    read_bytes: int
    read_ratio: float
    """Of the least: each input once; of a product of matrices, both once for each block that is resident together."""
    predicted: float
    """Cycles by the model on paper."""
    bound: str
    """What the model says is busiest."""
    demand: Demand
    """What one core with the narrowest memory has counted, which the model begins with."""


class RecordError(ValueError):
    """A file that is no record, or one of another machine; the message says what is wrong."""


class Record:
    """Measurements by workload, cores and bytes a cycle.

    Parameters
    ----------
    path
        The file, which need not be there yet; without one, measurements are only remembered.
    origin
        Says which machine is measured; a file must have been written with the same.

    Raises
    ------
    RecordError
        The file is not a record, or one of another machine.
    OSError
        It cannot be read.
    """

    def __init__(self, path: Path | None = None, origin: Mapping[str, Any] | None = None) -> None:
        self._path, self._origin = path, dict(origin or {})
        self._found: dict[tuple[str, int, int], ScaleMeasurement] = {}
        if path is not None and path.exists():
            for measurement in self._read(path):
                self._remember(measurement)

    def get(self, name: str, cores: int, width: int) -> ScaleMeasurement | None:
        """What has been measured of a workload on a machine."""
        return self._found.get((name, cores, width))

    def add(self, measurement: ScaleMeasurement) -> None:
        """Remember a measurement and write the file anew; errors are those of `write_file`."""
        self._remember(measurement)
        if self._path is not None:
            write_file(self._path, self._text().encode())

    def _remember(self, measurement: ScaleMeasurement) -> None:
        self._found[measurement.name, measurement.cores, measurement.width] = measurement

    def _text(self) -> str:
        """A JSON object with a line for each measurement."""
        head = "".join(f"{json.dumps(name)}: {json.dumps(value)},\n" for name, value in self._origin.items())
        lines = ",\n".join(json.dumps(asdict(measurement)) for measurement in self._found.values())
        return f'{{{head}"scale": [\n{lines}\n]}}\n'

    def _read(self, path: Path) -> list[ScaleMeasurement]:
        try:
            fields = json.loads(read_text(path))
            rows = fields.pop("scale")
            found = [ScaleMeasurement(**{**row, "demand": Demand(**row["demand"])}) for row in rows]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RecordError(f"{path}: this is no record of measurements") from None
        if fields != self._origin:
            raise RecordError(f"{path}: another machine was measured, with {fields} and not {self._origin}")
        return found
