"""What a clause carries from group to group, which ends with the clause."""

from collections.abc import Sequence

from ctm.sim.assembler.r700.groups.state import reads, writes
from ctm.sim.assembler.r700.groups.view import views_of
from ctm.sim.assembler.r700.syntax import Group


def needed_after(groups: Sequence[Group]) -> list[str]:
    """For each group what it, or a later one, needs of those in front; empty where a clause can be cut before it.

    Groups that are not checked need nothing.
    """
    views = [views_of(group.drafts) if group.checked else () for group in groups]
    written: set[str] = set()
    before = []
    for group in views:
        before.append(set(written))
        written |= {name for view in group for name in writes(view)}
    needed: set[str] = set()
    found: list[str] = []
    for number in range(len(views) - 1, -1, -1):
        group = views[number]
        # A word that writes only where the predicate says so leaves the value in front needed.
        needed -= {name for view in group if not view.draft.get("pred_sel") for name in writes(view)}
        needed |= {name for view in group for name in reads(view)}
        live = sorted(needed & before[number])
        result = any(operand.is_previous for view in group for operand in view.operands)
        found.append("PV or PS is read here" if result else f"{live[0]} is needed after it" if live else "")
    return found[::-1]
