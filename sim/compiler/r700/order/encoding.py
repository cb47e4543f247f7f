"""Groups as words."""

from amaranth.lib import data

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, LITERALS_PER_UNIT
from ctm.rtl.isa.word import fields as fields_of
from ctm.sim.compiler.r700.order.operations import Component, Node
from ctm.sim.compiler.r700.order.ports import Operand, swizzles
from ctm.sim.compiler.r700.order.schedule import Group
from ctm.sim.elf.lines import Line
from ctm.sim.elf.r700.executable import Unit

Units = list[tuple[Unit, Line | None]]
"""Units of code, each with its line."""


def encoded(group: Group, components: dict[Node, Component]) -> Units:
    """The words of a group; `components` are where results go."""
    slots = [slot for slot in range(GROUP_SLOTS) if slot in group.members]
    codes = swizzles([group.members[slot] for slot in slots])
    assert codes is not None
    literals: list[int] = []
    units: Units = []
    for slot, code in zip(slots, codes, strict=True):
        node, number = group.nodes[slot]
        where = components.get(node)
        if where is not None and node.operation.is_reduction and where % CHANNELS != slot:
            where = None
        fields = node.members[number] | _sources(group.members[slot].operands, literals)
        # Without a result the slot is that of the component all the same.
        register, channel = (0, slot % CHANNELS) if where is None else divmod(where, CHANNELS)
        fields |= {"dst_gpr": register, "dst_chan": channel, "bank_swizzle": code, "last": int(slot == slots[-1])}
        fields["write_mask"] = int(where is not None)
        layout = alu.ALU_DWORD1_OP3 if fields["has_three"] else alu.ALU_DWORD1_OP2
        units.append(((_packed(alu.ALU_DWORD0, fields), _packed(layout, fields)), node.line))
    literals += [0] * (-len(literals) % LITERALS_PER_UNIT)
    pairs = zip(literals[::LITERALS_PER_UNIT], literals[1::LITERALS_PER_UNIT], strict=True)
    return units + [(pair, units[-1][1]) for pair in pairs]


def _sources(operands: tuple[Operand, ...], literals: list[int]) -> dict[str, int]:
    """Fields of operands; what literals they name is added to those of the group."""
    fields: dict[str, int] = {}
    for number, operand in enumerate(operands):
        channel = operand.channel
        if operand.literal is not None:
            if operand.literal not in literals:
                literals.append(operand.literal)
            channel = literals.index(operand.literal)
        fields |= {f"src{number}_sel": operand.select, f"src{number}_chan": channel}
    return fields


def _packed(layout: data.StructLayout, values: dict[str, int]) -> int:
    """The word with those of the values that it has."""
    return sum(values.get(name, 0) << offset for name, offset, _ in fields_of(layout))
