"""What a clause carries from group to group besides registers: address registers and the predicate."""

from ctm.rtl.isa.r700.alu import IndexMode
from ctm.sim.assembler.r700.groups.view import View
from ctm.sim.assembler.r700.names import COMPONENTS

PREDICATE = "the predicate"


def writes(view: View) -> set[str]:
    """What of the state an instruction sets."""
    found = {PREDICATE} if view.flag("update_pred") else set()
    if view.operation is not None and view.operation.sets_address:
        found.add(_address(view.channel))
    return found


def reads(view: View) -> set[str]:
    """What of the state an instruction depends on."""
    found = {PREDICATE} if view.draft.get("pred_sel") else set()
    mode = view.draft.get("index_mode")
    if view.is_relative and mode < IndexMode.LOOP.value:
        found.add(_address(mode))
    return found


def _address(channel: int) -> str:
    return f"AR.{COMPONENTS[channel]}"
