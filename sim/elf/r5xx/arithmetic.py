"""What an ALU or OUTPUT instruction reads and writes; CTM Guide pp. 25-32."""

from collections.abc import Iterable, Mapping, Sequence

from ctm.rtl.isa.r5xx.instruction import ADDRESS_INLINE
from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, Presubtract, RgbOperation, Select, Swizzle
from ctm.rtl.isa.r5xx.operations import ALPHA, ALPHA_DERIVATIVES, RGB, RGB_DERIVATIVES
from ctm.sim.elf.r5xx.registers import Registers, Usage

Fields = Mapping[str, int]

RGB_CHANNELS = (0, 1, 2)
ALPHA_CHANNEL = 3
_COLORS = ("red", "green", "blue")


def _every(operands: str, channels: Iterable[int]) -> frozenset[tuple[str, int]]:
    return frozenset((operand, channel) for channel in channels for operand in operands)


_DOT_PRODUCTS = {
    code.value: _every("ab", operation.products) | _every("c", operation.addends)
    for code, operation in RGB.items()
    if operation.is_dot
}
"""(operand, channel) that a dot product reads, whatever channels it is written to."""

_RGB_OPERANDS = {code.value: operation.reads for code, operation in RGB.items()}
_ALPHA_OPERANDS = {code.value: operation.reads for code, operation in ALPHA.items()}
"""Operands that an operation takes through select and swizzle."""

_RGB_DERIVATIVES = {code.value for code in RGB_DERIVATIVES}
_ALPHA_DERIVATIVES = {code.value for code in ALPHA_DERIVATIVES}
_ONE_SOURCE = {Presubtract.BIAS.value, Presubtract.INV.value}


def arithmetic_usage(unpacked: Sequence[Fields], *, is_output: bool) -> Usage:
    """What an instruction reads and writes, from the fields of its six words."""
    wanted = _written_channels(unpacked, is_output)
    selected = {_selection(unpacked, operand, channel) for operand, channel in _operands_read(unpacked, wanted)}
    bubble_slots = _presubtract_slots(unpacked, selected) | _derivative_slots(unpacked, wanted)
    slots = bubble_slots | {
        (_unit(channel), select)
        for select, channel in selected
        if select != Select.SRCP.value and channel <= Swizzle.A.value
    }
    return Usage(
        reads=_registers(unpacked, slots, constant=False),
        writes=_destinations(unpacked),
        bubble=_registers(unpacked, bubble_slots, constant=False),
        constants=_registers(unpacked, slots, constant=True),
        outputs=_outputs(unpacked) if is_output else frozenset(),
        conditional_output=is_output and bool(unpacked[4]["w_omask"]),
    )


def _unit(channel: int) -> str:
    return "alpha" if channel == ALPHA_CHANNEL else "rgb"


def _written_channels(unpacked: Sequence[Fields], is_output: bool) -> frozenset[int]:
    """Channels whose result is written."""
    common, rgb_inst, alpha_inst = unpacked[0], unpacked[3], unpacked[4]
    rgb, alpha = common["rgb_wmask"] | common["rgb_omask"], common["alpha_wmask"] | common["alpha_omask"]
    if not is_output and rgb_inst["alu_wmask"]:
        rgb, alpha = rgb | 1 - common["alu_result_sel"], alpha | common["alu_result_sel"]
    if is_output:
        alpha |= alpha_inst["w_omask"]
    mask = rgb | alpha << ALPHA_CHANNEL
    return frozenset(channel for channel in (*RGB_CHANNELS, ALPHA_CHANNEL) if mask >> channel & 1)


def _operands_read(unpacked: Sequence[Fields], wanted: frozenset[int]) -> frozenset[tuple[str, int]]:
    """(operand, channel) that the two operations read to give the wanted channels."""
    rgb_operation, alpha_operation = unpacked[5]["rgb_op"], unpacked[4]["op"]
    rgb = wanted - {ALPHA_CHANNEL}
    alpha = wanted - rgb
    if rgb and rgb_operation == RgbOperation.SOP.value:
        alpha = frozenset({ALPHA_CHANNEL})
    if alpha and alpha_operation == AlphaOperation.DP.value:
        rgb = frozenset(RGB_CHANNELS)
    if rgb_operation in _DOT_PRODUCTS:
        read = _DOT_PRODUCTS[rgb_operation] if rgb else frozenset()
    else:
        read = _every(_RGB_OPERANDS.get(rgb_operation, "abc"), rgb)
    return read | _every(_ALPHA_OPERANDS.get(alpha_operation, "abc"), alpha)


def _selection(unpacked: Sequence[Fields], operand: str, channel: int) -> tuple[int, int]:
    """(select, swizzle) of one channel of an operand."""
    is_alpha = channel == ALPHA_CHANNEL
    if operand == "c":
        fields, prefix = unpacked[5], "alpha_" if is_alpha else "rgb_"
    else:
        fields, prefix = unpacked[4] if is_alpha else unpacked[3], ""
    swizzle = f"{prefix}swiz_{operand}" if is_alpha else f"{_COLORS[channel]}_swiz_{operand}"
    return fields[f"{prefix}sel_{operand}"], fields[swizzle]


def _presubtract_slots(unpacked: Sequence[Fields], selected: set[tuple[int, int]]) -> set[tuple[str, int]]:
    slots = set()
    for select, channel in selected:
        if select == Select.SRCP.value and channel <= Swizzle.A.value:
            unit = _unit(channel)
            operation = unpacked[2 if unit == "alpha" else 1]["srcp_op"]
            slots |= {(unit, slot) for slot in range(1 if operation in _ONE_SOURCE else 2)}
    return slots


def _derivative_slots(unpacked: Sequence[Fields], wanted: frozenset[int]) -> set[tuple[str, int]]:
    slots = set()
    if unpacked[5]["rgb_op"] in _RGB_DERIVATIVES and wanted - {ALPHA_CHANNEL}:
        slots.add(("rgb", 0))
    if unpacked[4]["op"] in _ALPHA_DERIVATIVES and ALPHA_CHANNEL in wanted:
        slots.add(("alpha", 0))
    return slots


def _registers(unpacked: Sequence[Fields], slots: Iterable[tuple[str, int]], *, constant: bool) -> Registers:
    """Temporaries, or constants, that some source slots address."""
    registers = Registers()
    for unit, slot in slots:
        fields = unpacked[2 if unit == "alpha" else 1]
        address, is_constant = fields[f"addr{slot}"], bool(fields[f"addr{slot}_const"])
        if is_constant != constant or not is_constant and address & ADDRESS_INLINE:
            continue
        if fields[f"addr{slot}_rel"]:
            registers |= Registers(relative=True)
        else:
            registers |= Registers(frozenset({address}))
    return registers


def _destinations(unpacked: Sequence[Fields]) -> Registers:
    common, alpha_inst, rgba = unpacked[0], unpacked[4], unpacked[5]
    registers = Registers()
    for mask, address, relative in (
        (common["rgb_wmask"], rgba["rgb_addrd"], rgba["rgb_addrd_rel"]),
        (common["alpha_wmask"], alpha_inst["addrd"], alpha_inst["addrd_rel"]),
    ):
        if mask:
            registers |= Registers(relative=True) if relative else Registers(frozenset({address}))
    return registers


def _outputs(unpacked: Sequence[Fields]) -> frozenset[int]:
    common, rgb_inst, alpha_inst = unpacked[0], unpacked[3], unpacked[4]
    masks = ((common["rgb_omask"], rgb_inst["target"]), (common["alpha_omask"], alpha_inst["target"]))
    return frozenset(target for mask, target in masks if mask)
