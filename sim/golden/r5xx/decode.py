"""Decoding of instruction words, with the rules of what is illegal.

An illegal field value faults even where the field is not used; docs/design/choices.md lists them.
"""

from collections.abc import Sequence
from typing import TypeVar

from ctm.rtl.isa.r5xx import instruction as layouts
from ctm.rtl.isa.r5xx.opcodes import (
    AddressOperation,
    AlphaOperation,
    BranchOperation,
    FlowOperation,
    InputModifier,
    InstructionType,
    OutputModifier,
    PredicateSelect,
    Presubtract,
    RgbOperation,
    Select,
    Swizzle,
    TextureOperation,
    ZeroTest,
)
from ctm.rtl.isa.r5xx.operations import ALPHA_BIT_COPIES, RGB_BIT_COPIES, RGB_DOT_PRODUCTS, TRANSCENDENTALS
from ctm.rtl.isa.word import unpack
from ctm.sim.golden.r5xx.instruction import (
    Address,
    Alu,
    Bank,
    Common,
    Destination,
    Flow,
    Illegal,
    Instruction,
    Predicate,
    Row,
    Tex,
    Unit,
)

_LITERALS = {Swizzle.ZERO: 0.0, Swizzle.HALF: 0.5, Swizzle.ONE: 1.0}
_Fields = dict[str, int]
_Code = TypeVar("_Code", RgbOperation, AlphaOperation, AddressOperation, BranchOperation)


class _IllegalError(Exception):
    """Raised inside the decoder only."""


def decode(words: Sequence[int], *, code_offset: int, uncached_writes: bool) -> Instruction:
    """Decode one instruction of six words; an illegal one becomes `Illegal` with the reason."""
    fields = unpack(layouts.COMMON, words[0])
    kind = InstructionType(fields["type"])
    common = _common(kind, fields)
    unpacked = [unpack(layout, word) for layout, word in zip(layouts.WORDS[kind], words, strict=True)]
    try:
        _check_predicates(kind, fields)
        if kind is InstructionType.TEX:
            return _tex(common, unpacked)
        if kind is InstructionType.FC:
            return _flow(common, unpacked, code_offset)
        return _alu(common, unpacked, uncached_writes)
    except _IllegalError as illegal:
        return Illegal(common=common, reason=str(illegal))


def _channels(rgb: int, alpha: int) -> tuple[int, ...]:
    mask = rgb | alpha << 3
    return tuple(channel for channel in range(4) if mask >> channel & 1)


def _common(kind: InstructionType, fields: _Fields) -> Common:
    predicates = []
    for unit in ("rgb", "alpha"):
        select = fields[f"{unit}_pred_sel"]
        legal = PredicateSelect(select) if select <= PredicateSelect.AAAA.value else PredicateSelect.NONE
        predicates.append(Predicate(legal, bool(fields[f"{unit}_pred_inv"])))
    return Common(
        type=kind,
        wait_semaphore=bool(fields["tex_sem_wait"]),
        predicates=(predicates[0], predicates[1]),
        write_inactive=bool(fields["write_inactive"]),
        last=bool(fields["last"]),
        nop=bool(fields["nop"]),
        alu_wait=bool(fields["alu_wait"]),
        write_mask=_channels(fields["rgb_wmask"], fields["alpha_wmask"]),
        output_mask=_channels(fields["rgb_omask"], fields["alpha_omask"]),
    )


def _check_predicates(kind: InstructionType, fields: _Fields) -> None:
    for unit in ("rgb", "alpha"):
        if fields[f"{unit}_pred_sel"] > PredicateSelect.AAAA.value:
            raise _IllegalError(f"{unit.upper()}_PRED_SEL is {fields[f'{unit}_pred_sel']}")
    if kind is InstructionType.FC and fields["rgb_pred_sel"] == PredicateSelect.RGBA.value:
        raise _IllegalError("a flow-control instruction has a predicate per channel")


def _code(codes: type[_Code], value: int, field: str) -> _Code:
    try:
        return codes(value)
    except ValueError:
        raise _IllegalError(f"{field} is {value}") from None


def _addresses(fields: _Fields, unit: str) -> tuple[Address, Address, Address]:
    found = []
    for source in range(3):
        address, relative = fields[f"addr{source}"], bool(fields[f"addr{source}_rel"])
        if fields[f"addr{source}_const"]:
            found.append(Address(Bank.CONSTANT, address, relative))
        elif address & layouts.ADDRESS_INLINE:
            if relative:
                raise _IllegalError(f"{unit} source {source} adds aL to an inline constant")
            code = address & ~layouts.ADDRESS_INLINE
            found.append(Address(Bank.INLINE, code, False, layouts.inline_constant(code)))
        else:
            found.append(Address(Bank.TEMPORARY, address, relative))
    return found[0], found[1], found[2]


def _row(select: int, swizzle: int, modifier: int) -> Row:
    if swizzle > Swizzle.ONE.value:
        raise _IllegalError(f"a swizzle is {swizzle}")
    literal = _LITERALS.get(Swizzle(swizzle))
    source = None if select == Select.SRCP.value else select
    return Row(InputModifier(modifier), 0 if literal is not None else swizzle, source, literal)


def _operands(rgb: _Fields, alpha: _Fields, both: _Fields) -> tuple[tuple[Row, Row, Row], ...]:
    """Rows A, B, C of the four channels."""
    rgb_words = [(rgb, "", "a"), (rgb, "", "b"), (both, "rgb_", "c")]
    channels = []
    for color in ("red", "green", "blue"):
        rows = [
            _row(word[f"{prefix}sel_{name}"], word[f"{color}_swiz_{name}"], word[f"{prefix}mod_{name}"])
            for word, prefix, name in rgb_words
        ]
        channels.append((rows[0], rows[1], rows[2]))
    alpha_words = [(alpha, "", "a"), (alpha, "", "b"), (both, "alpha_", "c")]
    rows = [
        _row(word[f"{prefix}sel_{name}"], word[f"{prefix}swiz_{name}"], word[f"{prefix}mod_{name}"])
        for word, prefix, name in alpha_words
    ]
    return (*channels, (rows[0], rows[1], rows[2]))


def _check_pair(rgb: Unit, alpha: Unit) -> None:
    if rgb.operation is RgbOperation.SOP and alpha.operation not in TRANSCENDENTALS:
        raise _IllegalError("SOP without a transcendental operation in the alpha unit")
    if alpha.operation is AlphaOperation.DP and rgb.operation not in RGB_DOT_PRODUCTS:
        raise _IllegalError("DP without a dot product in the RGB unit")
    if rgb.modifier is OutputModifier.DISABLED and rgb.operation not in RGB_BIT_COPIES:
        raise _IllegalError(f"the output modifier is disabled for RGB {rgb.operation.name}")
    if alpha.modifier is OutputModifier.DISABLED and alpha.operation not in ALPHA_BIT_COPIES:
        raise _IllegalError(f"the output modifier is disabled for alpha {alpha.operation.name}")


def _alu(common: Common, unpacked: list[_Fields], uncached_writes: bool) -> Alu:
    first, rgb_addr, alpha_addr, rgb_inst, alpha_inst, both = unpacked
    rgb = Unit(
        operation=_code(RgbOperation, both["rgb_op"], "RGB_OP"),
        addresses=_addresses(rgb_addr, "RGB"),
        presubtract=Presubtract(rgb_addr["srcp_op"]),
        destination=Destination(both["rgb_addrd"], bool(both["rgb_addrd_rel"])),
        modifier=OutputModifier(rgb_inst["omod"]),
        clamp=bool(first["rgb_clamp"]),
        target=rgb_inst["target"],
    )
    alpha = Unit(
        operation=_code(AlphaOperation, alpha_inst["op"], "ALPHA_OP"),
        addresses=_addresses(alpha_addr, "alpha"),
        presubtract=Presubtract(alpha_addr["srcp_op"]),
        destination=Destination(alpha_inst["addrd"], bool(alpha_inst["addrd_rel"])),
        modifier=OutputModifier(alpha_inst["omod"]),
        clamp=bool(first["alpha_clamp"]),
        target=alpha_inst["target"],
    )
    _check_pair(rgb, alpha)
    is_output = common.type is InstructionType.OUTPUT
    if is_output and uncached_writes and len(common.output_mask) not in (0, 4):
        raise _IllegalError("an uncached write has a partial output mask")
    alu_result = None
    if rgb_inst["alu_wmask"] and not is_output:
        alu_result = 3 * first["alu_result_sel"], ZeroTest(first["alu_result_op"])
    return Alu(
        common=common,
        rgb=rgb,
        alpha=alpha,
        operands=_operands(rgb_inst, alpha_inst, both),
        alu_result=alu_result,
        writes_conditional=bool(alpha_inst["w_omask"]) and is_output,
    )


def _swizzle(fields: _Fields, names: Sequence[str]) -> tuple[int, int, int, int]:
    channels = [fields[name] for name in names]
    return channels[0], channels[1], channels[2], channels[3]


def _tex(common: Common, unpacked: list[_Fields]) -> Tex:
    inst, addr = unpacked[1], unpacked[2]
    return Tex(
        common=common,
        operation=TextureOperation(inst["inst"]),
        input=inst["tex_id"],
        source=Destination(addr["src_addr"], bool(addr["src_addr_rel"])),
        source_swizzle=_swizzle(addr, [f"src_{coordinate}_swiz" for coordinate in "strq"]),
        destination=Destination(addr["dst_addr"], bool(addr["dst_addr_rel"])),
        destination_swizzle=_swizzle(addr, [f"dst_{channel}_swiz" for channel in "rgba"]),
        unscaled=bool(inst["unscaled"]),
        acquire=bool(inst["tex_sem_acquire"]),
        ignore_uncovered=bool(inst["ignore_uncovered"]),
    )


def _flow(common: Common, unpacked: list[_Fields], code_offset: int) -> Flow:
    inst, addr = unpacked[2], unpacked[3]
    return Flow(
        common=common,
        operation=FlowOperation(inst["op"]),
        address_operation=_code(AddressOperation, inst["a_op"], "A_OP"),
        branch_if_stay=_code(BranchOperation, inst["b_op0"], "B_OP0"),
        branch_if_jump=_code(BranchOperation, inst["b_op1"], "B_OP1"),
        is_else=bool(inst["b_else"]),
        jump_any=bool(inst["jump_any"]),
        jump_function=inst["jump_func"],
        pop_count=inst["b_pop_cnt"],
        ignore_uncovered=bool(inst["ignore_uncovered"]),
        boolean=addr["bool_addr"],
        integer=addr["int_addr"],
        target=addr["jump_addr"] + (0 if addr["jump_global"] else code_offset),
    )
