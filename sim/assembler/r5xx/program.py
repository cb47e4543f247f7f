"""Assembles a whole R5xx program: parsed statements, structure, addresses, automatic bits, executable."""

from ctm.rtl.isa.r5xx.limits import BRANCH_COUNTER_PARTIAL, INSTRUCTION_SLOTS
from ctm.rtl.isa.r5xx.opcodes import AddressOperation, FlowOperation, InstructionType
from ctm.sim.assembler.cursor import number
from ctm.sim.assembler.error import Position, SourceError
from ctm.sim.assembler.listing import Listing, listing, with_table
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.sim.assembler.r5xx.encoder.encoder import encode
from ctm.sim.assembler.r5xx.parser.source import TOO_MANY, Source, parse
from ctm.sim.assembler.r5xx.parser.statement import Item
from ctm.sim.assembler.r5xx.structure import Structure
from ctm.sim.assembler.r5xx.synchronization import synchronize
from ctm.sim.assembler.tokens import Kind, Token
from ctm.sim.elf.r5xx.executable import Executable


def assemble(source: str, name: str) -> Listing[Executable]:
    """Assemble an R5xx program; see `Language.assemble`."""
    return listing(source, name, parse, lambda parsed: with_table(_link(parsed), parsed.origins, name, source))


def _link(source: Source) -> Listing[Executable]:
    """Make a program of parsed statements.

    Raises
    ------
    SourceError
        The statements do not make a program together.
    """
    if not source.items:
        raise SourceError("there are no instructions", Position(1, 1))
    structure = _structure(source)
    _append_output(source)
    if len(source.items) > INSTRUCTION_SLOTS:
        too_many = source.items[INSTRUCTION_SLOTS]
        raise SourceError(TOO_MANY, too_many.position)
    _aim(source, structure)
    start, end = _start_and_end(source)
    _finish_words(source, end)
    code = [tuple(item.draft.words) for item in source.items]
    needs_full = structure.deepest > BRANCH_COUNTER_PARTIAL + 1 or any(_needs_full(item.draft) for item in source.items)
    executable = source.directives.executable(code, start=start, end=end, needs_full=needs_full)
    return Listing(executable, tuple(item.position.line for item in source.items))


def _structure(source: Source) -> Structure:
    structure = Structure()
    for slot, item in enumerate(source.items):
        if item.flow is not None:
            structure.add(item.flow, slot)
    structure.finish()
    return structure


def _append_output(source: Source) -> None:
    """A program ends with an OUTPUT; where none is written at its end, an empty one is added."""
    if source.directives.manual or ".end" in source.directives.addresses:
        return
    last = source.items[-1]
    if last.draft.kind is not InstructionType.OUTPUT or len(source.items) in source.labels.values():
        draft = Draft(InstructionType.OUTPUT)
        encode(draft, (None, None), {}, uncached_writes=False)
        source.items.append(Item(draft, last.position))


def _aim(source: Source, structure: Structure) -> None:
    """Write the targets of jumps."""
    for flow, slot in structure.targets:
        flow.draft.set("fc_addr", jump_addr=_relative(source, slot, flow.position))
    for item in source.items:
        if item.flow is not None and item.flow.target is not None:
            is_global = bool(item.draft.get("fc_addr")["jump_global"])
            address = _address(source, item.flow.target, is_global=is_global)
            item.draft.set("fc_addr", jump_addr=address)


def _address(source: Source, target: Token, *, is_global: bool = False) -> int:
    """The address that a label or a number means; labels become relative to the code offset if it is not global."""
    if target.kind is Kind.NUMBER:
        value = number(target)
        if not isinstance(value, int) or not 0 <= value < INSTRUCTION_SLOTS:
            raise SourceError(f"an address is 0..{INSTRUCTION_SLOTS - 1}, not {target.text}", target.position)
        return value
    if target.text not in source.labels:
        raise SourceError(f"there is no label {target.text}", target.position)
    slot = source.labels[target.text]
    return slot if is_global else _relative(source, slot, target.position)


def _relative(source: Source, slot: int, position: Position) -> int:
    address = slot - source.directives.offset
    if not 0 <= address < INSTRUCTION_SLOTS:
        raise SourceError(f"slot {slot} cannot be reached with the code offset {source.directives.offset}", position)
    return address


def _start_and_end(source: Source) -> tuple[int, int]:
    """START and END of US_CODE_ADDR: the first and the last instruction, if nothing else is said."""
    addresses, offset = source.directives.addresses, source.directives.offset
    if offset >= len(source.items) and ".end" not in addresses:
        raise SourceError(f"there is no instruction at the code offset {offset}", Position(1, 1))
    start = _address(source, addresses[".start"]) if ".start" in addresses else 0
    end = _address(source, addresses[".end"]) if ".end" in addresses else len(source.items) - 1 - offset
    return start, end


def _finish_words(source: Source, end: int) -> None:
    """Set the automatic bits and the overridden fields, which have the last word."""
    for item in source.items:
        item.override()
    if source.directives.manual:
        return
    drafts = [item.draft for item in source.items]
    offset = source.directives.offset
    jumps = {slot: _absolute_target(draft, offset) for slot, draft in enumerate(drafts) if _is_flow(draft)}
    synchronize(drafts, jumps, end + offset, uncached_writes=source.directives.uncached_writes)
    for item in source.items:
        item.override()


def _is_flow(draft: Draft) -> bool:
    return draft.kind is InstructionType.FC


def _absolute_target(draft: Draft, offset: int) -> int:
    fields = draft.get("fc_addr")
    return fields["jump_addr"] + (0 if fields["jump_global"] else offset)


def _needs_full(draft: Draft) -> bool:
    """Whether an instruction uses the loop stack or the address stack, which partial flow control does not have."""
    if not _is_flow(draft):
        return False
    fields = draft.get("fc_inst")
    return fields["op"] != FlowOperation.JUMP.value or fields["a_op"] != AddressOperation.NONE.value
