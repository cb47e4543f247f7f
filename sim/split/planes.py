"""Arrays that may be larger than memory: read and written by rectangles, in .npy files and Zarr stores.

A plane is what numpy's indices read and write, [height, width, channels]: an array, a file that is mapped, or a store.
"""

import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as numpy_format

from ctm.rtl.isa.formats import ELEMENTS, DataFormat
from ctm.sim.files import begin_file, end_file, is_stream, naming, reserve, write_file
from ctm.sim.jobs.arrays import NPY, Array, ArrayError, elements, encoded, load_elements
from ctm.sim.jobs.npy import NpyError, mapped_npy
from ctm.sim.runtime.image import element_type
from ctm.sim.split.packages import ZARR
from ctm.sim.split.rectangle import Rectangle

Plane = Any
"""An `Array`, or a `zarr.Array`, which has the same indices and no common type."""
_STORE = ".zarr"
_BAND_BYTES = 1 << 26


def is_store(path: Path) -> bool:
    """Whether a name is that of a Zarr store."""
    return path.suffix.lower() == _STORE


def read_plane(plane: Plane, rectangle: Rectangle) -> Array:
    """The elements of a rectangle, [height, width, channels], in the host's byte order and row by row."""
    found = np.asarray(plane[rectangle.slices])
    found = found.reshape(rectangle.height, rectangle.width, -1)
    return np.array(found, found.dtype.newbyteorder("="), order="C")


def open_plane(path: Path, data_format: DataFormat, limit: int, shape: tuple[int, int] | None = None) -> Plane:
    """The elements in a file or a store, for a buffer whose sides are at most `limit`; nothing is read yet.

    Raises
    ------
    ArrayError
        It cannot be read, or does not fit the format or the shape, [height, width].
    """
    if is_store(path):
        plane = _open_store(path)
    elif path.suffix.lower() == NPY and not is_stream(path):
        plane = _open_npy(path)
    else:
        return load_elements(path, data_format, shape)
    # What is checked is type and shape; the type's byte order is the file's.
    like = np.broadcast_to(np.zeros((), np.dtype(plane.dtype).newbyteorder("=")), plane.shape)
    elements(path, like, data_format, shape, limit)
    return plane


def _open_npy(path: Path) -> Plane:
    try:
        return mapped_npy(path)
    except NpyError as error:
        raise ArrayError(f"'{path}' {error}") from None
    except FileNotFoundError:
        raise ArrayError(f"there is no file '{path}'") from None
    except OSError as error:
        raise ArrayError(f"cannot read '{path}': {error.strerror or error}") from None


def _open_store(path: Path) -> Plane:
    ZARR.require()
    import zarr

    try:
        return zarr.open_array(path, mode="r")
    except (FileNotFoundError, zarr.errors.NodeTypeValidationError):
        is_group = any((path / name).is_file() for name in ("zarr.json", ".zgroup"))
        problem = "it is a group: name the array in it" if is_group else "there is no Zarr array"
        raise ArrayError(f"'{path}': {problem}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArrayError(f"cannot read '{path}': {str(error) or type(error).__name__}") from None


class Output:
    """An output that is written by rectangles, and takes its name when it is complete.

    `plane` has its elements. `close` leaves nothing of an output that was not finished.
    """

    def __init__(self, path: Path, plane: Plane, finish: Callable[[Plane], None], drop: Callable[[], None]) -> None:
        self.path, self.plane = path, plane
        self._finish, self._drop = finish, drop

    def finish(self) -> None:
        """Make it the file or the store of its name; OSError: it could not be written."""
        self._finish(self.plane)

    def close(self) -> None:
        """Remove what was not finished."""
        self._drop()


def begin_output(path: Path | None, data_format: DataFormat, shape: tuple[int, int], chunk: tuple[int, int]) -> Output:
    """An output [height, width, channels], in memory if it has no path; a store has chunks [height, width].

    Raises
    ------
    OSError
        It cannot be written, or there is no space for it.
    """
    kind, whole = np.dtype(element_type(data_format)), (*shape, ELEMENTS[data_format].channels)
    if path is None:
        return Output(Path("an output"), np.empty(whole, kind), lambda _: None, lambda: None)
    if is_store(path):
        return _begin_store(path, kind, whole, chunk)
    if path.suffix.lower() == NPY and not is_stream(path):
        return _begin_npy(path, kind, whole)
    # A picture is encoded as a whole, and a stream is written from its beginning to its end.
    plane = np.empty(whole, kind)
    return Output(path, plane, lambda array: write_file(path, encoded(path, array), make_folders=True), lambda: None)


def _begin_npy(path: Path, kind: np.dtype[Any], shape: tuple[int, ...]) -> Output:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = begin_file(path)
    try:
        with naming(path):
            with partial.open("r+b") as file:
                header = {"descr": numpy_format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
                numpy_format.write_array_header_1_0(file, header)
                begin = file.tell()
                # Where a mapped file has no space on its disk, a write to it ends the process.
                reserve(file.fileno(), begin + int(np.prod(shape)) * kind.itemsize)
            plane = np.memmap(partial, kind, "r+", begin, shape)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise

    def finish(array: Plane) -> None:
        with naming(path):
            array.flush()
        end_file(partial, path)

    return Output(path, plane, finish, lambda: partial.unlink(missing_ok=True))


def _begin_store(path: Path, kind: np.dtype[Any], shape: tuple[int, ...], chunk: tuple[int, int]) -> Output:
    ZARR.require()
    import zarr

    check_store(path)
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".ctm-{secrets.token_hex(8)}.partial")
        plane = zarr.create_array(partial, shape=shape, chunks=(*chunk, shape[2]), dtype=kind)

    def finish(_: Plane) -> None:
        check_store(path)
        with naming(path):
            old = path.with_name(f".ctm-{secrets.token_hex(8)}.partial")
            if path.exists():
                path.rename(old)
            partial.rename(path)
            shutil.rmtree(old, ignore_errors=True)

    return Output(path, plane, finish, lambda: shutil.rmtree(partial, ignore_errors=True))


def check_store(path: Path) -> None:
    """Check that a store may take a name: nothing, or a Zarr array, has it.

    Raises
    ------
    OSError
        Something else has it.
    """
    if path.exists() and not any((path / name).is_file() for name in ("zarr.json", ".zarray")):
        raise FileExistsError(17, "it is there and is no Zarr array, and is not replaced by one", str(path))


def scratch(folder: Path, plane: Plane, width: int) -> Output:
    """A copy of a plane that can be written, in a file of `folder` that has no name; errors as `begin_output`.

    It has `width` columns: those that the plane has not repeat its last one, as the padding of an input does.
    """
    height, _, channels = _shape(plane)
    output = _begin_npy(folder / f"scratch{NPY}", np.dtype(plane.dtype).newbyteorder("="), (height, width, channels))
    # The mapping lives as long as it is used.
    output.close()
    copy(plane, output.plane)
    return output


def copy(source: Plane, target: Plane) -> None:
    """Copy a plane into another one of as many rows, some after the others; more columns repeat the last one."""
    height, width, channels = _shape(target)
    columns = min(width, source.shape[1])
    step = max(1, _BAND_BYTES // (width * channels * np.dtype(target.dtype).itemsize))
    for first in range(0, height, step):
        rows = Rectangle(first, 0, min(first + step, height) - 1, columns - 1)
        target[rows.j0 : rows.j1 + 1] = np.pad(
            read_plane(source, rows), ((0, 0), (0, width - columns), (0, 0)), mode="edge"
        )


def _shape(plane: Plane) -> tuple[int, int, int]:
    height, width, *channels = plane.shape
    return height, width, channels[0] if channels else 1
