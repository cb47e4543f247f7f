"""Puts the sources of an instruction into its three RGB and three alpha source addresses; CTM Guide pp. 25-26.

Source N of an operand is one thing to it: its colour channels come from RGB address N and its alpha channel from alpha
address N. So a register of which one operand reads both sits in the same slot of both; otherwise the two units' slots
are independent, and one slot serves every operand that reads the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctm.sim.assembler.error import Position, SourceError
from ctm.sim.assembler.r5xx.syntax import Bank, Register

SLOTS = 3
UNUSED = Register(Bank.INLINE, 0)


@dataclass(frozen=True)
class Need:
    """What an operand needs of a slot: a register, for its colour or its alpha or both, anywhere or in slot `fixed`."""

    register: Register
    color: bool
    alpha: bool
    position: Position
    fixed: int | None = None


@dataclass
class Slots:
    """The registers in the RGB and in the alpha source addresses; None is free."""

    color: list[Register | None] = field(default_factory=lambda: [None] * SLOTS)
    alpha: list[Register | None] = field(default_factory=lambda: [None] * SLOTS)

    def holds(self, need: Need, slot: int) -> bool:
        """Whether a slot already has what is needed."""
        return (not need.color or self.color[slot] == need.register) and (
            not need.alpha or self.alpha[slot] == need.register
        )

    def fits(self, need: Need, slot: int) -> bool:
        """Whether a slot has what is needed or space for it."""
        return (not need.color or self.color[slot] in (None, need.register)) and (
            not need.alpha or self.alpha[slot] in (None, need.register)
        )

    def with_need(self, need: Need, slot: int) -> "Slots":
        """The slots with a need put into one of them."""
        changed = Slots(list(self.color), list(self.alpha))
        if need.color:
            changed.color[slot] = need.register
        if need.alpha:
            changed.alpha[slot] = need.register
        return changed


def allocate(needs: Sequence[Need], given: Slots) -> tuple[Slots, list[int]]:
    """The slots with every need in them, and the slot of each need.

    Needs with a fixed slot come first; the others go, in order, where they already are, else to the lowest slot with
    space, and are moved only if that leaves no space for a later one.

    Raises
    ------
    SourceError
        They do not fit.
    """
    order = sorted(range(len(needs)), key=lambda index: needs[index].fixed is None)
    found = _search([needs[index] for index in order], given)
    if found is None:
        raise _failure(needs, given)
    slots, chosen = found
    slot_of = dict(zip(order, chosen, strict=True))
    return slots, [slot_of[index] for index in range(len(needs))]


def _search(needs: Sequence[Need], slots: Slots) -> tuple[Slots, list[int]] | None:
    if not needs:
        return slots, []
    need = needs[0]
    candidates = [need.fixed] if need.fixed is not None else range(SLOTS)
    for slot in sorted(candidates, key=lambda slot: not slots.holds(need, slot)):
        if slots.fits(need, slot):
            found = _search(needs[1:], slots.with_need(need, slot))
            if found is not None:
                return found[0], [slot, *found[1]]
    return None


def _failure(needs: Sequence[Need], given: Slots) -> SourceError:
    """Why the needs do not fit, at the first operand that is one too many."""
    for what, wanted, listed in (
        ("RGB", [need for need in needs if need.color], given.color),
        ("alpha", [need for need in needs if need.alpha], given.alpha),
    ):
        if None not in listed:
            missing = [need for need in wanted if need.register not in listed]
            if missing:
                message = f"{missing[0].register} is not among the {what} sources that are given"
                return SourceError(message, missing[0].position)
        registers = list(dict.fromkeys(need.register for need in wanted))
        if len(registers) > SLOTS:
            names = ", ".join(map(str, registers))
            message = f"this needs {len(registers)} {what} sources ({names}); an instruction has {SLOTS}"
            return SourceError(message, next(need.position for need in wanted if need.register == registers[SLOTS]))
    return SourceError(
        "the sources do not fit three slots: presubtracts, MDH and MDV need theirs in slots 0 and 1, and a register of "
        "which one operand uses colour and alpha needs the same slot for both",
        needs[-1].position,
    )
