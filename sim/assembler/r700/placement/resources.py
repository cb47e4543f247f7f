"""What instructions need of the program's note: without it the machine would stop, or ignore them."""

from collections.abc import Iterable

from ctm.rtl.isa.limits import INPUTS
from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH, ExportOperation, ExportType
from ctm.rtl.isa.r700.fetch import WITHOUT_INPUT, MemoryOperation
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r700.form import BUFFER, MEMORY_READ, SHARE_READ, SHARE_WRITE, SWIZZLED, TEXTURE, VERTEX, Draft
from ctm.sim.assembler.r700.names import CODE_FIELDS, name_of
from ctm.sim.assembler.r700.parser.directives import Directives
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
_WITHOUT_INPUT = tuple(operation.value for operation in WITHOUT_INPUT)


def check_resources(items: Iterable[Item], directives: Directives) -> None:
    """Check that the directives say what the code uses.

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
            _check_input(item, directives.numbers.get("texture_base", 0))


def _check_input(item: Fetch | Word, base: int) -> None:
    """A fetch from a resource needs that this is an input."""
    draft = item.draft
    if draft.form is TEXTURE and draft.get("tex_inst") not in _WITHOUT_INPUT:
        letter, resource = "t", draft.get("resource_id")
    elif draft.form is VERTEX and draft.get("buffer_id"):
        letter, resource = "b", draft.get("buffer_id")
    else:
        return
    if not base <= resource < base + INPUTS:
        constants = " (b0 is the constants)" if letter == "b" else ""
        raise SourceError(
            f"{letter}{resource} is no input: with .texture_base {base} inputs are {letter}{base} to "
            f"{letter}{base + INPUTS - 1}{constants}",
            item.position,
        )


def _needed(draft: Draft) -> str:
    if draft.form is SWIZZLED:
        is_depth = (draft.get("type"), draft.get("array_base")) == (ExportType.PIXEL.value, COMPUTED_DEPTH)
        return _DEPTH if is_depth else ""
    return _BY_CODE.get((draft.form, draft.get(CODE_FIELDS[draft.form])), "")
