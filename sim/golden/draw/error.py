"""The error of a draw that this machine does not do."""

from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError


def bad_draw(detail: str) -> MachineError:
    """BAD_DRAW; the command's word is added where the draw is started."""
    return MachineError(status=Status.BAD_DRAW, detail=detail)
