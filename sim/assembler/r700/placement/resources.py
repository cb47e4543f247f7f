"""What instructions need of the program's note and of the machine, which would stop at them or ignore them."""

from collections.abc import Iterable

from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH, ExportOperation, ExportType
from ctm.rtl.isa.r700.fetch import MemoryOperation
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r700.form import BUFFER, MEMORY_READ, SHARE_READ, SHARE_WRITE, SWIZZLED, Draft
from ctm.sim.assembler.r700.names import CODE_FIELDS, name_of
from ctm.sim.assembler.r700.parser.directives import Directives
from ctm.sim.assembler.r700.placement.support import problem
from ctm.sim.assembler.r700.syntax import Fetch, Item, Word

_MEMORY, _SCRATCH, _LDS, _DEPTH = "memory", "scratch", "lds", "depth"
_BY_CODE = {
    (BUFFER, ExportOperation.MEM_EXPORT.value): _MEMORY,
    (BUFFER, ExportOperation.MEM_SCRATCH.value): _SCRATCH,
    (MEMORY_READ, MemoryOperation.RD_SCATTER.value): _MEMORY,
    (MEMORY_READ, MemoryOperation.RD_SCRATCH.value): _SCRATCH,
    (SHARE_WRITE, MemoryOperation.LOCAL_DS_WRITE.value): _LDS,
    (SHARE_READ, MemoryOperation.LOCAL_DS_READ.value): _LDS,
}


def check_resources(items: Iterable[Item], directives: Directives) -> None:
    """Check that the directives say what the code uses, and that the machine has it.

    Raises
    ------
    SourceError
    """
    for item in items:
        if isinstance(item, Fetch | Word):
            needed = _needed(item.draft)
            if needed and not directives.flag(needed) and not directives.numbers.get(needed):
                name = name_of(item.draft.form, item.draft.get(CODE_FIELDS[item.draft.form]))
                example = " with its dwords, as in .lds 64" if needed == _LDS else ""
                raise SourceError(f"this {name} needs the directive .{needed}{example}", item.position)
            found = problem(item.draft, directives) if item.checked else ""
            if found:
                raise SourceError(found, item.position)


def _needed(draft: Draft) -> str:
    if draft.form is SWIZZLED:
        is_depth = (draft.get("type"), draft.get("array_base")) == (ExportType.PIXEL.value, COMPUTED_DEPTH)
        return _DEPTH if is_depth else ""
    return _BY_CODE.get((draft.form, draft.get(CODE_FIELDS[draft.form])), "")
