"""IR that LLVM 22's R600 back end gets wrong for the RV770, rewritten.

What helps nearly always is a zero that LLVM does not know (`ZERO`): x + zero is x, but nothing is known of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ctm.sim.compiler.ir.module import NAME, Block, Function, Instruction, split
from ctm.sim.compiler.ir.rewriting import Replacement, Rule, numbers_for, rewrite
from ctm.sim.compiler.r700.lowering import PRIVATE, ZERO

_DIVISION = re.compile(r"(?P<sign>[us])(?P<what>div|rem) (?:exact )?(?P<type>i8|i16|i32) (?P<operands>.*)")


@dataclass(frozen=True, kw_only=True)
class Remedies:
    """Repairs beyond those that are always made, where defects of the object need them.

    conditions
        A branch after a fetch is made to depend on it, so that the fetch remains before it.
    divisors
        Divisions by constants too.
    shifts
        Everything that may be half of a rotation is hidden.
    arrays
        No element of a private array has an index that LLVM knows.
    ends
        The last discard is under a condition that LLVM does not know: none of its programs ends with arithmetic.
    """

    conditions: bool = False
    divisors: bool = False
    shifts: bool = False
    arrays: bool = False
    ends: bool = False


def repaired(function: Function, remedies: Remedies) -> Function:
    """The function with everything that LLVM gets wrong rewritten."""
    rules: list[Rule] = [_element, _rotation, _union(function, any_shift=remedies.shifts), _trailing_zeros]
    rules.append(_division if remedies.divisors else _unknown_division)
    if any(instruction.opcode == "fneg" for instruction in function.instructions):
        rules.append(_magnitude)
    numbers = numbers_for(function)
    function = _with_wide_phis(function, numbers)
    if remedies.arrays:
        function = _with_hidden_indices(function, numbers)
    function = rewrite(function, rules, numbers)
    if remedies.ends:
        function = _with_guarded_ends(function, numbers)
    return _with_tied_branches(function, numbers) if remedies.conditions else function


def _element(new: Replacement) -> bool:
    """Of one of two elements LLVM computes the address first, and then divides it by the size of a register twice."""
    if (
        not new.replaced.text.startswith("load ")
        or PRIVATE not in new.replaced.text
        or " volatile " in new.replaced.text
    ):
        return False
    new.keep(new.replaced.text.replace("load ", "load volatile ", 1))
    return True


def _unknown_division(new: Replacement) -> bool:
    """Division of values with 9 or more sign bits is done in 24 bits, wrongly for large unsigned ones.

    A signed quotient is then extended from the operands' own width: -128 / -1 of bytes is -128. A remainder is right.
    """
    found = _DIVISION.fullmatch(new.replaced.text)
    if found is None or not split(found["operands"])[1].startswith("%"):
        return False
    is_wrong = found["what"] == "div" if found["sign"] == "s" else found["type"] == "i32"
    return is_wrong and _division(new)


def _division(new: Replacement) -> bool:
    """The same in 32 bits, of operands that LLVM does not know."""
    found = _DIVISION.fullmatch(new.replaced.text)
    if found is None:
        return False
    kind, operands = found["type"], split(found["operands"])
    if kind != "i32":
        extension = "sext" if found["sign"] == "s" else "zext"
        operands = [new.value(f"{extension} {kind} {operand} to i32") for operand in operands]
    one, other = (new.value(f"add i32 {operand}, {ZERO}") for operand in operands)
    quotient = f"{found['sign']}{found['what']} i32 {one}, {other}"
    new.result(quotient if kind == "i32" else f"trunc i32 {new.value(quotient)} to {kind}")
    return True


def _rotation(new: Replacement) -> bool:
    """LLVM believes that the R700 can rotate. LLVM knows no shift by 32: it is two, one of them by 1."""
    name = new.replaced.callee
    if name not in ("llvm.fshl.i32", "llvm.fshr.i32"):
        return False
    high, low, by = new.replaced.arguments
    masked = new.value(f"and i32 {by}, 31")
    amount = new.value(f"add i32 {masked}, {ZERO}")
    distance = new.value(f"sub i32 31, {amount}")
    if name == "llvm.fshl.i32":
        first = new.value(f"shl i32 {high}, {amount}")
        half = new.value(f"lshr i32 {low}, 1")
        second = new.value(f"lshr i32 {half}, {distance}")
    else:
        first = new.value(f"lshr i32 {low}, {amount}")
        half = new.value(f"shl i32 {high}, 1")
        second = new.value(f"shl i32 {half}, {distance}")
    new.result(f"or i32 {first}, {second}")
    return True


def _union(function: Function, *, any_shift: bool) -> Rule:
    """What LLVM would take for a rotation: the shift to the right gets a count that LLVM does not know."""
    shifts = {each.result: each for each in function.instructions if each.opcode in ("shl", "lshr")}

    def count_of(name: str, opcode: str) -> str | None:
        each = shifts.get(name)
        return (
            split(each.text.split(" i32 ")[1])[1] if each and each.opcode == opcode and " i32 " in each.text else None
        )

    def rule(new: Replacement) -> bool:
        found = _UNION.fullmatch(new.replaced.text)
        operands = split(found[2]) if found else []
        for number, (one, other) in enumerate(zip(operands, operands[::-1], strict=True)):
            right, left = count_of(one, "lshr"), count_of(other, "shl")
            if found and right is not None and (any_shift or _make_32(right, left)):
                value = split(shifts[one].text.split(" i32 ")[1])[0]
                hidden = new.value(f"add i32 {right}, {ZERO}")
                operands[number] = new.value(f"lshr i32 {value}, {hidden}")
                new.result(f"{found[1]} i32 {', '.join(operands)}")
                return True
        return False

    return rule


def _make_32(right: str, left: str | None) -> bool:
    """Whether two counts may be those of a rotation."""
    if left is None:
        return False
    return not (right.isdecimal() and left.isdecimal()) or int(right) + int(left) == 32


def _trailing_zeros(new: Replacement) -> bool:
    """LLVM crashes on them."""
    if new.replaced.callee != "llvm.cttz.i32":
        return False
    word = new.replaced.arguments[0]
    negative = new.value(f"sub i32 0, {word}")
    lowest = new.value(f"and i32 {word}, {negative}")
    hidden = new.value(f"add i32 {lowest}, {ZERO}")
    leading = new.value(f"call i32 @llvm.ctlz.i32(i32 {hidden}, i1 false)")
    number = new.value(f"sub i32 31, {leading}")
    none = new.value(f"icmp eq i32 {word}, 0")
    new.result(f"select i1 {none}, i32 32, i32 {number}")
    return True


def _hidden(new: Replacement, number: int) -> str:
    """A number that LLVM does not know."""
    return new.value(f"add i32 {ZERO}, {number}") if number else ZERO


def _magnitude(new: Replacement) -> bool:
    """|x| where -x is computed too becomes -|x|."""
    if new.replaced.callee != "llvm.fabs.f32":
        return False
    bits = new.value(f"bitcast float {new.replaced.arguments[0]} to i32")
    cleared = new.value(f"and i32 {bits}, {_hidden(new, 0x7FFFFFFF)}")
    new.result(f"bitcast i32 {cleared} to float")
    return True


def _with_wide_phis(function: Function, numbers: Iterator[int]) -> Function:
    """Each phi of a narrow type in 32 bits.

    Else LLVM has the truncations in the blocks of a switch, moves them to one of its branches as they cost nothing
    (StructurizeCFG), and the value is undefined after another branch.
    """
    ends = {f"%{block.label}": Replacement(block.instructions[-1], numbers) for block in function.blocks}
    blocks = []
    for block in function.blocks:
        phis: list[Instruction] = []
        narrowed: list[Instruction] = []
        others: list[Instruction] = []
        for each in block.instructions[:-1]:
            found = _NARROW_PHI.match(each.text)
            if found is None:
                (phis if each.opcode == "phi" else others).append(each)
                continue
            # Two edges from one block need one name; their values are the same.
            extended = {label: ends[label].value(f"zext {found[1]} {value} to i32") for value, label in each.incoming}
            new = Replacement(each, numbers)
            wide = new.value(f"phi i32 {', '.join(f'[ {extended[label]}, {label} ]' for _, label in each.incoming)}")
            new.result(f"trunc i32 {wide} to {found[1]}")
            phis.append(new.instructions[0])
            narrowed.append(new.instructions[1])
        blocks.append(Block(block.label, [*phis, *narrowed, *others]))
    for block in blocks:
        end = ends[f"%{block.label}"]
        end.keep()
        block.instructions += end.instructions
    return Function(function.head, blocks)


def _with_tied_branches(function: Function, numbers: Iterator[int]) -> Function:
    """Each branch depends on the fetches of its block, without an effect on its condition."""
    blocks = []
    for block in function.blocks:
        fetched = [each.result for each in block.instructions if each.callee == "llvm.r600.tex"]
        branch = block.instructions[-1]
        found = re.fullmatch(r"br i1 (\S+), (.*)", branch.text)
        new = Replacement(branch, numbers)
        if found and fetched:
            condition = found[1]
            for result in fetched:
                first = new.value(f"extractelement <4 x float> {result}, i32 0")
                bits = new.value(f"bitcast float {first} to i32")
                none = new.value(f"and i32 {bits}, {ZERO}")
                never = new.value(f"icmp ne i32 {none}, 0")
                condition = new.value(f"or i1 {condition}, {never}")
            new.keep(f"br i1 {condition}, {found[2]}")
        else:
            new.keep()
        blocks.append(Block(block.label, [*block.instructions[:-1], *new.instructions]))
    return Function(function.head, blocks)


def _with_guarded_ends(function: Function, numbers: Iterator[int]) -> Function:
    """Each discard at the end in a block of its own, under a condition that always holds."""
    blocks: list[Block] = []
    for block in function.blocks:
        *others, end = block.instructions
        if end.opcode != "ret" or not others or others[-1].callee != "llvm.r600.kill":
            blocks.append(block)
            continue
        kill = others.pop()
        killing, ending = (f"-{name}.{block.label.lstrip('-')}" for name in ("kill", "end"))
        new = Replacement(end, numbers)
        holds = new.value(f"icmp eq i32 {ZERO}, 0")
        new.effect(f"br i1 {holds}, label %{killing}, label %{ending}")
        branch = Replacement(end, numbers)
        branch.effect(f"br label %{ending}")
        blocks += [
            Block(block.label, [*others, *new.instructions]),
            Block(killing, [kill, *branch.instructions]),
            Block(ending, [end]),
        ]
    return Function(function.head, blocks)


_NARROW_PHI = re.compile(r"phi (i1|i8|i16) ")
_UNION = re.compile(r"(or|add|xor)(?: \w+)* i32 (.*)")
_CONSTANT_INDEX = re.compile(rf"(getelementptr .*{re.escape(PRIVATE)} {NAME}(?:, i32 0)?, i32 )(\d+)")
_ACCESS = re.compile(rf"((?:load|store) .*{re.escape(PRIVATE)} )({NAME})(.*)")


def _with_hidden_indices(function: Function, numbers: Iterator[int]) -> Function:
    """An element with an index that is known is a register of its own to LLVM, which then reorders accesses."""
    arrays = {each.result for each in function.instructions if each.opcode == "alloca"}

    def index(new: Replacement) -> bool:
        found = _CONSTANT_INDEX.fullmatch(new.replaced.text)
        if found is None:
            return False
        new.result(f"{found[1]}{_hidden(new, int(found[2]))}")
        return True

    def access(new: Replacement) -> bool:
        found = _ACCESS.fullmatch(new.replaced.text)
        if found is None or found[2] not in arrays:
            return False
        number = new.value(f"getelementptr i8, {PRIVATE} {found[2]}, i32 {ZERO}")
        new.keep(f"{found[1]}{number}{found[3]}")
        return True

    return rewrite(function, [index, access], numbers)
