"""Reads the halves of an ALU or OUTPUT instruction back from its words.

An illegal code reads as a legal one: the disassembler finds the difference and writes it as an override.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from ctm.rtl.isa.r5xx.instruction import ADDRESS_INLINE
from ctm.rtl.isa.r5xx.opcodes import (
    AlphaOperation,
    InputModifier,
    InstructionType,
    OutputModifier,
    PredicateSelect,
    Presubtract,
    RgbOperation,
    Select,
    Swizzle,
    UmrtTarget,
    ZeroTest,
)
from ctm.rtl.isa.r5xx.operations import RGB_DERIVATIVES
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.sim.assembler.r5xx.encoder.encoder import Given
from ctm.sim.assembler.r5xx.encoder.operand_fields import operand_fields
from ctm.sim.assembler.r5xx.encoder.pairing import ARITY
from ctm.sim.assembler.r5xx.encoder.sources import SLOTS
from ctm.sim.assembler.r5xx.syntax import (
    SWIZZLE_LETTERS,
    Bank,
    Destination,
    Half,
    Operand,
    Predicate,
    Presubtraction,
    Register,
    Slot,
    Source,
    Target,
    Unit,
)

_DERIVATIVES = tuple(operation.name for operation in RGB_DERIVATIVES)
_BOTH_SOURCES = (Presubtract.SUB, Presubtract.ADD)
_Code = TypeVar("_Code", bound=Enum)


def legal(codes: type[_Code], value: int) -> _Code:
    """The code of a field, or the first of its kind for an illegal one."""
    try:
        return codes(value)
    except ValueError:
        return next(iter(codes))


@dataclass(frozen=True)
class Decoder:
    """One instruction. With `by_slot` the operands name their source slot, else the register in it if they can."""

    draft: Draft
    uncached_writes: bool
    by_slot: bool = False

    def given(self, unit: Unit) -> Given:
        """The source addresses of a unit."""
        fields = self.draft.get(f"{unit.value}_addr")
        registers = [self._register(unit, slot) for slot in range(SLOTS)]
        return Given(tuple(registers), Presubtract(fields["srcp_op"]))

    def half(self, unit: Unit) -> Half:
        """What a unit does."""
        common, inst = self.draft.get("common"), self.draft.get(f"{unit.value}_inst")
        code = self.draft.get("rgba_inst")["rgb_op"] if unit is Unit.RGB else inst["op"]
        codes: type[RgbOperation] | type[AlphaOperation] = RgbOperation if unit is Unit.RGB else AlphaOperation
        operation: RgbOperation | AlphaOperation = legal(codes, code)
        return Half(
            unit=unit,
            operation=operation.name,
            operands=tuple(self.operand(unit, name) for name in "abc"[: self._count(unit, operation)]),
            destinations=tuple(self._destinations(unit)),
            predicate=Predicate(
                legal(PredicateSelect, common[f"{unit.value}_pred_sel"]), bool(common[f"{unit.value}_pred_inv"])
            ),
            modifier=OutputModifier(inst["omod"]),
            clamp=bool(common[f"{unit.value}_clamp"]),
        )

    def operand(self, unit: Unit, name: str) -> Operand:
        """Operand a, b or c of a unit, with three letters for RGB and one for alpha."""
        fields_of = operand_fields(unit, name)
        fields = self.draft.get(fields_of.word)
        letters = "".join(SWIZZLE_LETTERS[legal(Swizzle, fields[swizzle]).value] for swizzle in fields_of.swizzles)
        modifier = InputModifier(fields[fields_of.modifier])
        return Operand(
            source=self._source(unit, fields[fields_of.select], letters),
            swizzle=letters,
            negative=modifier in (InputModifier.NEG, InputModifier.NAB),
            absolute=modifier in (InputModifier.ABS, InputModifier.NAB),
        )

    def _count(self, unit: Unit, operation: RgbOperation | AlphaOperation) -> int:
        """Operands to write: C of MDH and MDV, which may be left out, only if it says anything."""
        counts = ARITY[operation]
        if operation.name not in _DERIVATIVES:
            return counts[0]
        fields_of = operand_fields(unit, "c")
        fields = self.draft.get(fields_of.word)
        says = any(fields[name] for name in (fields_of.select, fields_of.modifier, *fields_of.swizzles))
        return counts[-1] if says else counts[0]

    def _register(self, unit: Unit, slot: int) -> Register:
        fields = self.draft.get(f"{unit.value}_addr")
        address, relative = fields[f"addr{slot}"], bool(fields[f"addr{slot}_rel"])
        if fields[f"addr{slot}_const"]:
            return Register(Bank.CONSTANT, address, relative)
        if address & ADDRESS_INLINE:
            return Register(Bank.INLINE, address & ~ADDRESS_INLINE)
        return Register(Bank.TEMPORARY, address, relative)

    def _source(self, unit: Unit, select: int, letters: str) -> Source:
        units = [Unit.RGB] if any(letter in "rgb" for letter in letters) else []
        units += [Unit.ALPHA] if "a" in letters else []
        if not units:
            return Slot(select) if select else None
        if self.by_slot:
            return Slot(select)
        found: set[Source] = set()
        for read in units:
            found.add(self._presubtraction(read) if select == Select.SRCP.value else self._register(read, select))
        return found.pop() if len(found) == 1 else Slot(select)

    def _presubtraction(self, unit: Unit) -> Presubtraction:
        operation = Presubtract(self.draft.get(f"{unit.value}_addr")["srcp_op"])
        count = 2 if operation in _BOTH_SOURCES else 1
        return Presubtraction(operation, tuple(self._register(unit, slot) for slot in range(count)))

    def _destinations(self, unit: Unit) -> list[Destination]:
        return [*self._temporary(unit), *self._output(unit), *self._single(unit)]

    def _mask(self, unit: Unit, field: str) -> str:
        bits = self.draft.get("common")[f"{unit.value}_{field}"]
        return "".join(letter for bit, letter in enumerate("rgb" if unit is Unit.RGB else "a") if bits >> bit & 1)

    def _temporary(self, unit: Unit) -> list[Destination]:
        word, prefix = ("rgba_inst", "rgb_") if unit is Unit.RGB else ("alpha_inst", "")
        fields, mask = self.draft.get(word), self._mask(unit, "wmask")
        index, relative = fields[f"{prefix}addrd"], bool(fields[f"{prefix}addrd_rel"])
        if not (mask or index or relative):
            return []
        return [Destination(target=Target.TEMPORARY, index=index, relative=relative, mask=mask)]

    def _output(self, unit: Unit) -> list[Destination]:
        """Output channels or predicate bits, or the uncached write, which is the RGB unit's."""
        mask, target = self._mask(unit, "omask"), self.draft.get(f"{unit.value}_inst")["target"]
        if self.draft.kind is InstructionType.ALU:
            found = Destination(target=Target.PREDICATE, mask=mask, test=ZeroTest(target))
        elif self.uncached_writes:
            is_write = mask == "rgb" and self._mask(Unit.ALPHA, "omask") == "a"
            return [Destination(target=Target.UMRT, umrt=UmrtTarget(target))] if is_write else []
        else:
            found = Destination(target=Target.OUTPUT, mask=mask, index=target)
        return [found] if mask or target else []

    def _single(self, unit: Unit) -> list[Destination]:
        """The ALU result or the conditional value."""
        if self.draft.kind is InstructionType.OUTPUT:
            writes = unit is Unit.ALPHA and self.draft.get("alpha_inst")["w_omask"]
            return [Destination(target=Target.CONDITIONAL, mask="a")] if writes else []
        common = self.draft.get("common")
        if not self.draft.get("rgb_inst")["alu_wmask"] or bool(common["alu_result_sel"]) != (unit is Unit.ALPHA):
            return []
        mask = "a" if unit is Unit.ALPHA else "r"
        return [Destination(target=Target.ALU_RESULT, mask=mask, test=ZeroTest(common["alu_result_op"]))]
