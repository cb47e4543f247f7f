"""Which general-purpose registers a program uses: NUM_GPRS."""

from collections.abc import Iterable

from ctm.rtl.isa.limits import TEMPORARIES
from ctm.rtl.isa.r700.exports import MemoryWrite
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY
from ctm.sim.assembler.r700.form import (
    ALU_FORMS,
    BUFFER,
    MEMORY_READ,
    SHARE_READ,
    SHARE_WRITE,
    SWIZZLED,
    Draft,
)
from ctm.sim.assembler.r700.groups.view import View
from ctm.sim.assembler.r700.names import COMPONENTS, SELECTS

ALL = frozenset(range(TEMPORARIES))
"""What a relative operand may reach."""
_MASK = SELECTS.index("_")


def gprs_of(drafts: Iterable[Draft]) -> int:
    """NUM_GPRS: up to the highest register; as many as there can be if one is addressed relatively."""
    used = frozenset[int]().union(*(registers_of(draft) for draft in drafts))
    return max((number + 1 for number in used if number < FIRST_CLAUSE_TEMPORARY), default=1)


def registers_of(draft: Draft) -> frozenset[int]:
    """The registers that an instruction reads or writes."""
    if draft.form in ALU_FORMS:
        view = View(draft)
        return read_by_alu(view) | written_by_alu(view)
    if draft.form in (SWIZZLED, BUFFER):
        return _exported(draft)
    if "dst_gpr" in draft.form.fields or "src_gpr" in draft.form.fields:
        return read_by_fetch(draft) | written_by_fetch(draft)
    return frozenset()


def read_by_alu(view: View) -> frozenset[int]:
    """The registers that an ALU instruction reads."""
    found: frozenset[int] = frozenset()
    for operand in view.operands:
        if operand.is_register:
            found |= ALL if operand.relative else frozenset({operand.select})
    return found


def written_by_alu(view: View) -> frozenset[int]:
    """The registers that an ALU instruction writes."""
    if not view.writes:
        return frozenset()
    return ALL if view.draft.get("dst_rel") else frozenset({view.draft.get("dst_gpr")})


def _exported(draft: Draft) -> frozenset[int]:
    found = _burst(draft, "rw_gpr") if not draft.get("rw_rel") else ALL
    if draft.form is BUFFER and draft.get("type") & MemoryWrite.WRITE_IND.value:
        found |= {draft.get("index_gpr")}
    return found


def _burst(draft: Draft, field: str) -> frozenset[int]:
    first = draft.get(field)
    count = draft.get("burst_count") + 1 if "burst_count" in draft.form.fields else 1
    return frozenset(range(first, min(first + count, TEMPORARIES)))


def read_by_fetch(draft: Draft) -> frozenset[int]:
    """The registers that a fetch instruction reads."""
    if draft.form is SHARE_WRITE:
        return _burst(draft, "src_gpr")
    if draft.form is MEMORY_READ and not draft.get("indexed"):
        return frozenset()
    is_relative = draft.form is not SHARE_READ and draft.get("src_rel")
    return ALL if is_relative else frozenset({draft.get("src_gpr")})


def written_by_fetch(draft: Draft) -> frozenset[int]:
    """The registers that a fetch instruction writes."""
    if draft.form is SHARE_WRITE:
        return frozenset()
    if draft.form is SHARE_READ:
        return _burst(draft, "dst_gpr")
    if all(draft.get(f"dst_sel_{component}") == _MASK for component in COMPONENTS):
        return frozenset()
    return ALL if draft.get("dst_rel") else _burst(draft, "dst_gpr")
