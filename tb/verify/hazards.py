"""Which hazards of the golden model leave the hardware's results undefined."""

from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError

_STALE = "reads the clause temporary"
"""The hardware here keeps clause temporaries from clause to clause, as the model does."""


def is_defined(error: MachineError | None) -> bool:
    """Whether a run that ended so, with hazards watched, read nothing that is not promised to be there."""
    if error is None or error.status is not Status.HAZARD:
        return True
    return all(text.startswith(_STALE) for _, text in error.findings or ((0, error.detail),))
