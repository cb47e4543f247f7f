"""Comparing a run of the hardware with the reference, event by event."""

from ctm.tb.pe.reference import expected, first_faults, normalised
from ctm.tb.pe.simulation import Event, Outcome, ProcessorSimulation, ProtocolError, Timing, Work

_SHOWN = 4


def check(simulation: ProcessorSimulation, work: Work, timing: Timing, what: str = "") -> Outcome:
    """Run the work and compare all events; the outcome, for more.

    Raises
    ------
    AssertionError
        The message begins with `what` and has the first events that differ, and those in front of them.
    """
    try:
        outcome = simulation.run(work, timing)
    except ProtocolError as error:
        raise ProtocolError(f"{what}: {error}") from None
    found = normalised(outcome.events, work.memory)
    wanted = expected(work, simulation.array, first_faults(outcome.events))
    assert found == wanted, f"{what}: {difference(found, wanted)}"
    return outcome


def difference(found: list[Event], wanted: list[Event]) -> str:
    """The first difference of two lists of events."""
    pairs = zip(found, wanted, strict=False)
    at = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(found), len(wanted)))
    before = "\n".join(f"  {event}" for event in found[max(0, at - _SHOWN) : at])
    here = [str(events[at])[:300] if at < len(events) else "nothing" for events in (found, wanted)]
    return f"event {at}: {here[0]}\ninstead of {here[1]}\nbehind\n{before}"
