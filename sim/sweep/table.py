"""The table of a sweep as a Parquet file."""

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ctm import __version__
from ctm.sim.files import read_file, write_file
from ctm.sim.sweep.columns import REAL, TEXT, WHOLE, Row
from ctm.sim.sweep.error import SweepError

_TYPES = {TEXT: pa.string(), WHOLE: pa.int64(), REAL: pa.float64()}
_MARK = b"ctm_sweep"
"""Key of the metadata that tells a table of a sweep from others."""


def write_table(path: Path, rows: Sequence[Row], columns: Mapping[str, str]) -> None:
    """Write rows, completely or not at all; OSError: it cannot be written."""
    schema = pa.schema(
        [(name, _TYPES[kind]) for name, kind in columns.items()],
        metadata={_MARK: json.dumps({"version": __version__}).encode()},
    )
    data = BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), data)
    write_file(path, data.getbuffer(), make_folders=True)


def read_table(path: Path) -> list[Row]:
    """The rows of a table that a sweep wrote.

    Raises
    ------
    OSError
        The file cannot be read.
    SweepError
        It is no table of a sweep, or is damaged.
    """
    data = read_file(path)
    try:
        table = pq.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        raise SweepError(f"{path}: it is no Parquet file, or is damaged: {str(error).splitlines()[0]}") from None
    if _MARK not in (table.schema.metadata or {}):
        raise SweepError(f"{path}: it is no table of ctm sweep")
    rows: list[Row] = table.to_pylist()
    return rows
