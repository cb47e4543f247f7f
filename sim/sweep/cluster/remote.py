"""The functions that workers run. Jobs and compiled models come as parcels: no folder is shared."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.tools.cache import cache_folder, cached
from ctm.sim.engines.rtl import RtlEngine, quick_models, supply
from ctm.sim.sweep.content import Parcel, unpacked
from ctm.sim.sweep.error import SweepError
from ctm.sim.sweep.measuring import Record, Task, counted, measure
from ctm.sim.sweep.versions import sources


class OtherVersionError(SweepError):
    """A worker has other sources than the client."""


@dataclass(frozen=True)
class Model:
    """A compiled model: where it is at the worker that made it, and its bytes."""

    path: Path
    parcel: Parcel


def give(parcel: Parcel) -> Parcel:
    """The parcel: as a result it is moved from worker to worker, and made again where it is lost."""
    return parcel


def compile_model(config: MachineConfig) -> Model:
    """The model of a machine, from this worker's cache or made now."""
    with quick_models():
        path = RtlEngine.library(config)
    return Model(path, Parcel.of(path.read_bytes()))


def measure_at_worker(task: Task, job: Parcel, model: Model | None, expected: str) -> Record:
    """Run a point; `expected` are the client's sources, empty where worker and client have the same files.

    Raises
    ------
    OtherVersionError
        This worker's are others.
    SweepError
        Job or model arrived damaged.
    """
    check_sources(expected)
    if model is not None:
        take(task.config, model)
    return measure(task, unpacked(job))


def check_sources(expected: str) -> None:
    """Compare this worker's sources with the client's, `expected`; errors as `measure_at_worker`."""
    if expected and sources() != expected:
        raise OtherVersionError(
            f"sources of ctm-machine {sources()} are not the client's {expected}: install the same on both"
        )


def count_at_worker(hardware: str, config: MachineConfig) -> Record:
    """Count the area of a machine."""
    return counted(hardware, config)


_taken: set[tuple[MachineConfig, str]] = set()


def take(config: MachineConfig, model: Model) -> None:
    """Use a model: the file in this worker's cache if it is there, else what came."""
    wanted = (config, model.parcel.digest)
    if wanted in _taken:
        return
    path = model.path
    if path.parent != cache_folder() or not _is_same(path, model.parcel.digest):
        data = model.parcel.opened("a compiled model")
        path = cached("supplied", [model.parcel.digest], ".so", lambda _, target: _write(target, data))
    supply(config, lambda: path)
    _taken.add(wanted)


def _write(target: Path, data: bytes) -> None:
    target.write_bytes(data)


def _is_same(path: Path, digest: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == digest
    except OSError:
        return False
