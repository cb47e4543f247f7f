"""Builders of R700 words for tests: ALU groups, fetch instructions and CF instructions, packed by the declared layouts.

Operands are written as text: `R3.x`, `T0.y` (clause temporaries), `K0[5].z` and `K1[5].z` (kcache sets), `PV.x`, `PS`,
`1.0`, `0.5`, `0`, `1i`, `-1i`, `DBL244` (inline constants by select), `#3f800000` (a literal). `-`, `|...|` around are
NEG and ABS; a `+` before the component (`R3+.x`, `K0[5+].z`) is REL.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ctm.rtl.isa.r700 import alu, control_flow, exports, fetch
from ctm.rtl.isa.r700.alu import IndexMode, Op2, Op3, PredicateSelect
from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition
from ctm.rtl.isa.r700.exports import ExportOperation
from ctm.rtl.isa.r700.operations import OPERATIONS, Slots
from ctm.rtl.isa.word import pack
from ctm.tb.r700 import ports

Unit = tuple[int, int]
CHANNELS = "xyzw"
TRANS = 4
_INLINE = {"0": 248, "1.0": 249, "1i": 250, "-1i": 251, "0.5": 252}
_REGISTER = re.compile(r"([RT])(\d+)(\+?)\.([xyzw])")
_CONSTANT = re.compile(r"K([01])\[(\d+)(\+?)\]\.([xyzw])")


@dataclass(frozen=True, kw_only=True)
class Source:
    """An operand; `literal` holds the word of a literal, whose channel the group chooses."""

    select: int
    channel: int = 0
    relative: bool = False
    negated: bool = False
    absolute: bool = False
    literal: int | None = None


def source(text: str) -> Source:
    """The operand that a text means."""
    if text.startswith("-") and text not in _INLINE:
        return replace(source(text[1:]), negated=True)
    if text.startswith("|"):
        return replace(source(text.strip("|")), absolute=True)
    if match := _REGISTER.fullmatch(text):
        bank, number, plus, channel = match.groups()
        base = 124 if bank == "T" else 0
        return Source(select=base + int(number), relative=bool(plus), channel=CHANNELS.index(channel))
    if match := _CONSTANT.fullmatch(text):
        which, row, plus, channel = match.groups()
        select = 128 + 32 * int(which) + int(row)
        return Source(select=select, relative=bool(plus), channel=CHANNELS.index(channel))
    if text.startswith("PV."):
        return Source(select=alu.PREVIOUS_VECTOR, channel=CHANNELS.index(text[3]))
    if text == "PS":
        return Source(select=alu.PREVIOUS_SCALAR)
    if text.startswith("DBL"):
        return Source(select=int(text[3:]))
    if text.startswith("#"):
        return Source(select=alu.LITERAL, literal=int(text[1:], 16))
    return Source(select=_INLINE[text])


@dataclass(frozen=True, kw_only=True)
class Slot:
    """An ALU instruction; `swizzle` None: the group chooses one. `fields` are raw ones that go over all others."""

    operation: Op2 | Op3
    sources: tuple[Source, ...]
    register: int = 0
    channel: int = 0
    relative: bool = False
    writes: bool = True
    index: int = 0
    omod: int = 0
    clamp: bool = False
    predicate: int = 0
    updates_mask: bool = False
    updates_predicate: bool = False
    swizzle: int | None = None
    fields: tuple[tuple[str, int], ...] = ()


def slot(name: str, destination: str, *operands: str, index: str = "AR_X", predicate: str = "OFF", **values) -> Slot:
    """An instruction. The destination is `R1.x`, relative `R1+.x`, or unwritten `_.x`; raw fields go by their names."""
    operation = Op2[name] if name in Op2.__members__ else Op3[name]
    writes = not destination.startswith("_")
    target = source(destination if writes else f"R0{destination[1:]}")
    own = {key: values.pop(key) for key in list(values) if key in Slot.__dataclass_fields__}
    return Slot(
        operation=operation, sources=tuple(source(text) for text in operands), register=target.select,
        channel=target.channel, relative=target.relative, writes=writes, index=IndexMode[index].value,
        predicate=PredicateSelect[predicate].value, fields=tuple(values.items()), **own,
    )  # fmt: skip


def positions(slots: Sequence[Slot]) -> list[int]:
    """The slot, 0 to 4, that each instruction takes."""
    taken: list[int] = []
    for each in slots:
        kind = OPERATIONS[each.operation].slots if each.operation in OPERATIONS else Slots.ANY
        to_trans = kind is Slots.TRANS or kind is Slots.ANY and each.channel in taken
        taken.append(TRANS if to_trans else each.channel)
    return taken


def operand_count(operation: Op2 | Op3) -> int:
    """Operands that an operation has."""
    return OPERATIONS[operation].operands if operation in OPERATIONS else 3 if isinstance(operation, Op3) else 2


def reads(each: Slot) -> list[ports.Read]:
    """What the port rule has to know of an instruction's operands; rows of the two kcache sets are told apart."""
    found = []
    for operand in each.sources[: operand_count(each.operation)]:
        kind = "value"
        if operand.select < 128:
            kind = "register"
        elif operand.select < 192:
            kind = "constant"
        elif operand.select in (alu.PREVIOUS_VECTOR, alu.PREVIOUS_SCALAR):
            kind = "previous"
        found.append(ports.Read(kind, operand.select, operand.channel, operand.relative))
    return found


def group(*slots: Slot, last: bool = True) -> list[Unit]:
    """The words of a group with its literals. Swizzles that are not given are chosen so that it can be read."""
    values = list(dict.fromkeys(each.literal for s in slots for each in s.sources if each.literal is not None))
    if len(values) > 4:
        raise ValueError(f"{len(values)} literals in a group")
    slots = tuple(replace(s, sources=tuple(_placed(each, values) for each in s.sources)) for s in slots)
    given = [each.swizzle for each in slots]
    found = ports.choose(
        [(position, reads(each)) for position, each in zip(positions(slots), slots, strict=True)], given
    )
    units = [
        slot_words(replace(each, swizzle=swizzle), last=last and each is slots[-1])
        for each, swizzle in zip(slots, found, strict=True)
    ]
    padded = values + [0] * (len(values) % 2)
    return units + [(padded[at], padded[at + 1]) for at in range(0, len(padded), 2)]


def _placed(operand: Source, literals: Sequence[int]) -> Source:
    return operand if operand.literal is None else replace(operand, channel=literals.index(operand.literal))


def slot_words(each: Slot, *, last: bool) -> Unit:
    """The two words of an instruction."""
    raw = dict(each.fields)
    low = {"index_mode": each.index, "pred_sel": each.predicate, "last": int(last)}
    high = {
        "bank_swizzle": each.swizzle or 0, "dst_gpr": each.register, "dst_rel": int(each.relative),
        "dst_chan": each.channel, "clamp": int(each.clamp), "alu_inst": each.operation.value,
    }  # fmt: skip
    has_three = isinstance(each.operation, Op3)
    for number, operand in enumerate(each.sources):
        fields = {
            f"src{number}_sel": operand.select, f"src{number}_rel": int(operand.relative),
            f"src{number}_chan": operand.channel, f"src{number}_neg": int(operand.negated),
        }  # fmt: skip
        (low if number < 2 else high).update(fields)
        if not has_three:
            high[f"src{number}_abs"] = int(operand.absolute)
    if not has_three:
        high |= {
            "write_mask": int(each.writes), "omod": each.omod,
            "update_execute_mask": int(each.updates_mask), "update_pred": int(each.updates_predicate),
        }  # fmt: skip
    second = alu.ALU_DWORD1_OP3 if has_three else alu.ALU_DWORD1_OP2
    low_names, high_names = dict(alu.ALU_DWORD0), dict(second)
    low |= {name: value for name, value in raw.items() if name in low_names}
    high |= {name: value for name, value in raw.items() if name in high_names}
    return pack(alu.ALU_DWORD0, **low), pack(second, **high)


def word(name: str, addr: int = 0, *, cond: str = "ACTIVE", pop: int = 0, const: int = 0, **fields: int) -> Unit:
    """A CF instruction that starts neither an ALU clause nor an export; `fields` by the layout's names."""
    values = {"cond": Condition[cond].value, "pop_count": pop, "cf_const": const, "barrier": 1, **fields}
    values.setdefault("cf_inst", CfOperation[name].value)
    return pack(control_flow.CF_DWORD0, addr=addr), pack(control_flow.CF_DWORD1, **values)


def alu_word(name: str, addr: int, units: int, *, kcache: Sequence[tuple[int, int]] = (), **fields: int) -> Unit:
    """A CF instruction that starts an ALU clause of `units` units; `kcache` has (mode, line) of each set."""
    low, high = {"addr": addr}, {"count": units - 1, "cf_inst": AluClause[name].value, "barrier": 1}
    for number, (mode, line) in enumerate(kcache):
        (low if number == 0 else high)[f"kcache_mode{number}"] = mode
        high[f"kcache_addr{number}"] = line
    names = dict(control_flow.CF_ALU_DWORD0)
    low |= {name: value for name, value in fields.items() if name in names}
    high |= {name: value for name, value in fields.items() if name not in names}
    return pack(control_flow.CF_ALU_DWORD0, **low), pack(control_flow.CF_ALU_DWORD1, **high)


def export(base: int, gpr: int, selects: Sequence[int] = (0, 1, 2, 3), *, name: str = "EXPORT", **fields: int) -> Unit:
    """A PIXEL export."""
    low = {"array_base": base, "rw_gpr": gpr}
    high = {f"sel_{component}": select for component, select in zip(CHANNELS, selects, strict=True)}
    return _export(exports.EXPORT_DWORD1_SWIZ, name, low, high, fields)


def memory_export(base: int, gpr: int, *, name: str = "MEM_EXPORT", mask: int = 15, **fields: int) -> Unit:
    """An export of the buffer form, ARRAY_SIZE unbounded unless it is given."""
    high = {"comp_mask": mask, "array_size": exports.UNBOUNDED}
    return _export(exports.EXPORT_DWORD1_BUF, name, {"array_base": base, "rw_gpr": gpr}, high, fields)


def _export(second: object, name: str, low: dict[str, int], high: dict[str, int], fields: dict[str, int]) -> Unit:
    names = dict(exports.EXPORT_DWORD0)
    low |= {key: value for key, value in fields.items() if key in names}
    high |= {"cf_inst": ExportOperation[name].value, "barrier": 1}
    high |= {key: value for key, value in fields.items() if key not in names}
    return pack(exports.EXPORT_DWORD0, **low), pack(second, **high)  # type: ignore[arg-type]


_FETCHES = {
    "TEX": fetch.TEXTURE, "VTX": fetch.VERTEX, "RD": fetch.MEMORY_READ,
    "DSW": fetch.SHARE_WRITE, "DSR": fetch.SHARE_READ,
}  # fmt: skip


def fetch_words(form: str, **fields: int) -> list[Unit]:
    """A fetch instruction of a form (TEX, VTX, RD, DSW, DSR): two units."""
    numbers = []
    left = dict(fields)
    for layout in _FETCHES[form]:
        names = dict(layout)
        numbers.append(pack(layout, **{name: left.pop(name) for name in list(left) if name in names}))
    if left:
        raise KeyError(f"{form} has no {', '.join(left)}")
    return [(numbers[0], numbers[1]), (numbers[2], numbers[3])]


IDENTITY = {f"dst_sel_{component}": position for position, component in enumerate(CHANNELS)}
COORDINATES = {f"src_sel_{component}": position for position, component in enumerate(CHANNELS)}


def tex(name: str, dst: int, src: int, resource: int = 0, **fields: int) -> list[Unit]:
    """A texture instruction with identity swizzles."""
    return fetch_words("TEX", **{
        "tex_inst": fetch.TextureOperation[name].value, "dst_gpr": dst, "src_gpr": src, "resource_id": resource,
        **IDENTITY, **COORDINATES, **fields,
    })  # fmt: skip


def vtx(dst: int, src: int, buffer: int = 0, **fields: int) -> list[Unit]:
    """A vertex fetch of four floats by component x."""
    return fetch_words("VTX", **{
        "dst_gpr": dst, "src_gpr": src, "buffer_id": buffer, "data_format": fetch.FetchFormat.FLOAT32_4.value,
        **IDENTITY, **fields,
    })  # fmt: skip


def memory_read(name: str, dst: int, src: int, **fields: int) -> list[Unit]:
    """RD_SCATTER or RD_SCRATCH of four floats."""
    return fetch_words("RD", **{
        "mem_inst": 2, "mem_op": fetch.MemoryOperation[name].value, "dst_gpr": dst, "src_gpr": src,
        "data_format": fetch.FetchFormat.FLOAT32_4.value, "array_size": exports.UNBOUNDED, **IDENTITY, **fields,
    })  # fmt: skip


def share_write(src: int, **fields: int) -> list[Unit]:
    """LOCAL_DS_WRITE."""
    return fetch_words("DSW", **{
        "mem_inst": 2, "mem_op": fetch.MemoryOperation.LOCAL_DS_WRITE.value, "src_gpr": src, "simd_wave_rel": 1,
        **COORDINATES, **fields,
    })  # fmt: skip


def share_read(dst: int, src: int, **fields: int) -> list[Unit]:
    """LOCAL_DS_READ of all components; SRC.x holds the bank, SRC.y the dword."""
    writes = {f"dst_wr_{component}": 1 for component in CHANNELS}
    return fetch_words("DSR", **{
        "mem_inst": 2, "mem_op": fetch.MemoryOperation.LOCAL_DS_READ.value, "src_gpr": src, "dst_gpr": dst,
        "src_sel_y": 1, **writes, **fields,
    })  # fmt: skip


def joined(sequences: Iterable[Sequence[Unit]]) -> list[Unit]:
    """Units one after another."""
    return [unit for sequence in sequences for unit in sequence]
