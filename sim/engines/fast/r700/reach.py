"""What the code that can be reached does anywhere."""

from collections.abc import Iterator, Sequence

from ctm.rtl.isa.r700.exports import ExportOperation
from ctm.sim.engines.fast.r700.graph import Graph, Instruction
from ctm.sim.golden.r700.instruction import Bank, Export, Fetch, Group, MemoryRead, Slot


def kills(clause: Sequence[Instruction]) -> bool:
    """Whether a clause may kill lanes."""
    return any(slot.operation.kills for group in clause if isinstance(group, Group) for slot in group.slots)


def is_relative(graph: Graph) -> bool:
    """Whether any register is addressed relatively."""
    if any(export.relative for export in exports(graph)):
        return True
    return any(map(_is_relative, instructions(graph)))


def writes_memory(graph: Graph) -> bool:
    """Whether there is a MEM_EXPORT."""
    return any(not export.selects and export.operation is not ExportOperation.MEM_SCRATCH for export in exports(graph))


def writes_scratch(graph: Graph) -> bool:
    """Whether there is a MEM_SCRATCH."""
    return any(export.operation is ExportOperation.MEM_SCRATCH for export in exports(graph))


def reads_memory(graph: Graph, *, scratch: bool) -> bool:
    """Whether there is an RD_SCATTER or, with `scratch`, an RD_SCRATCH."""
    return any(isinstance(each, MemoryRead) and each.scratch is scratch for each in instructions(graph))


def exports(graph: Graph) -> Iterator[Export]:
    """All exports."""
    for node in graph.edges:
        word = graph.word(node)
        if isinstance(word, Export):
            yield word


def instructions(graph: Graph) -> Iterator[Instruction]:
    """All instructions of clauses that can be executed to their ends."""
    for node in graph.edges:
        if graph.starts_clause(node):
            yield from graph.clause(node) or ()


def _is_relative(instruction: Instruction) -> bool:
    if isinstance(instruction, Group):
        return any(map(_slot_is_relative, instruction.slots))
    return isinstance(instruction, Fetch) and (instruction.source_relative or instruction.destination_relative)


def _slot_is_relative(slot: Slot) -> bool:
    registers = (operand for operand in slot.operands if operand.bank is Bank.GPR)
    return slot.index is not None or any(operand.index is not None for operand in registers)
