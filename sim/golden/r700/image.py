"""The program information of a loaded R700 image, taken apart."""

from dataclasses import dataclass
from functools import lru_cache

from ctm.rtl.isa.r700 import program as r700
from ctm.rtl.isa.r700.program import ProgramType
from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.sim.golden.pe.loader import Image


@dataclass(frozen=True, kw_only=True)
class Information:
    """What the note "R700 program" says."""

    type: ProgramType
    start: int
    gprs: int
    stack_size: int
    dx10_clamp: bool
    depth: bool
    memory: bool
    scratch: bool
    texture_base: int
    lds_dwords: int


def information_of(image: Image) -> Information:
    """The program information of an image.

    Raises
    ------
    MachineError
        BAD_EXECUTABLE: a value is not allowed.
    """
    return _information(image.information, len(image.code))


@lru_cache(maxsize=64)
def _information(descriptor: tuple[int, ...], units: int) -> Information:
    found = r700.problem(descriptor, units)
    if found:
        raise MachineError(status=Status.BAD_EXECUTABLE, detail=found)
    return Information(**r700.values_of(descriptor))
