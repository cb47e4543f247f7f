"""Jobs and models by content: what travels to workers, and hashes that tell whether it has arrived."""

import hashlib
import json
import pickle
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctm.sim.elf import write
from ctm.sim.jobs.arrays import Array
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.sweep.error import SweepError

_KEPT = 8
"""Jobs that a worker keeps unpacked."""


@dataclass(frozen=True)
class Parcel:
    """Bytes and their SHA-256."""

    digest: str
    data: bytes

    @classmethod
    def of(cls, data: bytes) -> "Parcel":
        """Bytes as a parcel."""
        return cls(hashlib.sha256(data).hexdigest(), data)

    def opened(self, what: str) -> bytes:
        """The bytes, which are those that were sent.

        Raises
        ------
        SweepError
            They are not.
        """
        found = hashlib.sha256(self.data).hexdigest()
        if found != self.digest:
            raise SweepError(f"{what} arrived damaged: its SHA-256 is {found[:16]}, not {self.digest[:16]}")
        return self.data


def packed(job: LoadedJob) -> Parcel:
    """A job with its programs, constants and arrays."""
    return Parcel.of(pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL))


_unpacked: "OrderedDict[str, LoadedJob]" = OrderedDict()


def unpacked(parcel: Parcel) -> LoadedJob:
    """The job in a parcel; those that were used last are kept.

    Raises
    ------
    SweepError
        The parcel is damaged.
    """
    job = _unpacked.pop(parcel.digest, None)
    if job is None:
        job = pickle.loads(parcel.opened("a job"))
    _unpacked[parcel.digest] = job
    while len(_unpacked) > _KEPT:
        _unpacked.popitem(last=False)
    return job


def digest_of_job(job: LoadedJob) -> str:
    """The SHA-256 of all that a run of a job depends on; the same for the same files wherever they are."""
    digest = hashlib.sha256(json.dumps(job.job.model_dump(mode="json"), sort_keys=True).encode())
    for launch in job.launches:
        digest.update(write(launch.program.executable))
        for image in launch.constants.images():
            digest.update(image)
    arrays = [array for _, _, array in (*job.inputs, *job.outputs)]
    if job.conditional is not None:
        arrays.append(job.conditional.array)
    if job.draw is not None:
        arrays += [*job.draw.buffers.values(), *([] if job.draw.indices is None else [job.draw.indices])]
    for array in arrays:
        update(digest, array)
    return digest.hexdigest()


def update(digest: Any, array: Array) -> None:
    """Add an array, its type and its shape to a hash."""
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array).data)
