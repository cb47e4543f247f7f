"""Lines of what LLVM gives none: CF instructions, copies, and tests that it puts together.

Sums and products of floats that LLVM moved down lose their line: they have the one after what they compute with that
otherwise nothing has. Else an instruction has that of what it computes with, or of what it is for: of the loop after
its clause, of the condition that its clause ends with, or of what follows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ctm.rtl.isa.r700.alu import PREVIOUS_SCALAR, PREVIOUS_VECTOR, Op2, Op3, PredicateSelect
from ctm.rtl.isa.r700.control_flow import CfOperation
from ctm.rtl.isa.r700.operations import OPERATIONS
from ctm.sim.elf.lines import Line
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.elf.r700.operands import instructions
from ctm.sim.elf.r700.words import Word, words

_LOOP_STARTS = (CfOperation.LOOP_START, CfOperation.LOOP_START_DX10, CfOperation.LOOP_START_NO_AL)
_TRANS = "t"
_ARITHMETIC = ("ADD", "MUL_IEEE", "MULADD_IEEE")
_TRUTHS = ("SET", "AND_INT", "OR_INT", "NOT_INT", "XOR_INT", "PRED_SET")
"""How the names of operations begin whose results are conditions."""

_Lines = list[Line | None]
_Origin = tuple[Line | None, str]
"""The line and the operation that something comes from."""
_Registers = dict[tuple[int, int], _Origin]
"""By register and channel."""
_Channel = int | str
"""A slot of the group before: a component, or `_TRANS`."""


def with_all_lines(executable: Executable, heads: Sequence[Line], computed: Iterable[Line]) -> Executable:
    """The program with a line for each unit that has one.

    `heads` are those of its loops, in their order, `computed` those of sums and products of floats before LLVM's back
    end.
    """
    if executable.lines is None:
        return executable
    found = list(words(executable.code, executable.start))
    lines: _Lines = list(executable.lines.units)
    loops = _loops(executable, found, lines, heads)
    registers: _Registers = {}
    lost = sorted(set(computed) - set(lines))
    for word in found:
        if word.is_alu:
            _derive(executable, word, registers, lost, lines)
    for number, word in enumerate(found):
        _direct(found, number, loops, lines)
        if word.units:
            _fill(executable, word, _loop_after(found, number, loops), _before(found, number, lines), lines)
    return replace(executable, lines=replace(executable.lines, units=tuple(lines)))


def _operation(word: Word) -> CfOperation | None:
    return None if word.is_alu or word.is_export else CfOperation(word.fields["cf_inst"])


def _loops(executable: Executable, found: Sequence[Word], lines: _Lines, heads: Sequence[Line]) -> dict[int, Line]:
    """The head of each CF instruction that begins or ends a loop, where it is clear which loop that is."""
    starts = [word.address for word in found if _operation(word) in _LOOP_STARTS]
    if len(starts) != len(heads):
        return {}
    loops = dict(zip(starts, heads, strict=True))
    open_loops: list[Line] = []
    for word in found:
        if word.address in loops:
            open_loops.append(loops[word.address])
        elif _operation(word) is CfOperation.LOOP_END and open_loops:
            loops[word.address] = open_loops.pop()
    return loops


def _derive(executable: Executable, word: Word, registers: _Registers, lost: list[Line], lines: _Lines) -> None:
    """Lines of a clause's instructions by what they compute with; those of a condition by that condition.

    `registers` are what computed them last, `lost` lines that nothing has.
    """
    previous: dict[_Channel, _Origin] = {}
    group: dict[_Channel, _Origin] = {}
    written: _Registers = {}
    condition: Line | None = None
    for fields in instructions(executable.code, word):
        address, name = fields["address"], _name(fields)
        sources = [_source(fields, number, registers, previous) for number in range(fields["operands"])]
        told = [source for source in sources if source is not None]
        is_test = name.startswith("PRED_SET") and any(origin.startswith(_TRUTHS) for _, origin in told)
        if lines[address] is None and name in _ARITHMETIC:
            lines[address] = _found_again(lost, [line for line, _ in told if line])
        if lines[address] is None or is_test:
            lines[address] = next((line for line, _ in told if line), lines[address])
        if lines[address] is None and fields["pred_sel"] != PredicateSelect.OFF.value:
            lines[address] = condition
        if name.startswith("PRED_SET"):
            condition = lines[address]
        result = lines[address], name
        channel: _Channel = fields["dst_chan"]
        group[_TRANS if channel in group else channel] = result
        if fields.get("write_mask", 1):
            written[fields["dst_gpr"], fields["dst_chan"]] = result
        if fields["last"]:
            registers.update(written)
            previous, group, written = group, {}, {}


def _found_again(lost: list[Line], sources: Sequence[Line]) -> Line | None:
    """The first line after those of its operands that no instruction has; now it has one."""
    found = next((line for line in lost if all(line >= source for source in sources)), None)
    if found is not None and sources:
        lost.remove(found)
        return found
    return None


def _name(fields: dict[str, int]) -> str:
    kind = Op3 if fields["has_three"] else Op2
    codes = {code.value for code in OPERATIONS if isinstance(code, kind)}
    return kind(fields["alu_inst"]).name if fields["alu_inst"] in codes else ""


def _source(
    fields: dict[str, int],
    number: int,
    registers: _Registers,
    previous: Mapping[_Channel, _Origin],
) -> _Origin | None:
    """What computed an operand, None where that is not known."""
    select, channel = fields[f"src{number}_sel"], fields[f"src{number}_chan"]
    if select == PREVIOUS_VECTOR:
        return previous.get(channel)
    if select == PREVIOUS_SCALAR:
        return previous.get(_TRANS)
    return None if fields[f"src{number}_rel"] else registers.get((select, channel))


def _loop_after(found: Sequence[Word], number: int, loops: dict[int, Line]) -> Line | None:
    """The head of a loop that begins or ends after a clause, or that is left there."""
    following = [*map(_operation, found[number + 1 : number + 3])]
    if following == [CfOperation.JUMP, CfOperation.LOOP_BREAK]:
        ends = (each for each in found[number:] if _operation(each) is CfOperation.LOOP_END)
        return next((loops[each.address] for each in ends if each.address in loops), None)
    return loops.get(found[number].address + 1)


def _before(found: Sequence[Word], number: int, lines: _Lines) -> Line | None:
    """The line of what the CF instruction before one does last."""
    if not number:
        return None
    word = found[number - 1]
    end = word.fields["addr"] + word.units - 1 if word.units else word.address
    return lines[end] if end < len(lines) else None


def _direct(found: Sequence[Word], number: int, loops: dict[int, Line], lines: _Lines) -> None:
    """The line of a CF instruction: of a loop its head, of a branch its condition."""
    word = found[number]
    jumps = (each for each in found[:number] if _operation(each) is CfOperation.JUMP)
    jump = next((each for each in jumps if each.fields["addr"] == word.address), None)
    if word.address in loops:
        lines[word.address] = loops[word.address]
    elif jump is not None and _operation(word) in (CfOperation.ELSE, CfOperation.POP):
        lines[word.address] = lines[jump.address]
    elif not word.units and not word.is_export and lines[word.address] is None:
        lines[word.address] = _before(found, number, lines)


def _fill(executable: Executable, word: Word, loop: Line | None, before: Line | None, lines: _Lines) -> None:
    """Lines of what remains in a clause, of its literals, and of the CF instruction that starts it.

    `loop` is the head of a loop that begins, ends or is left after it, `before` the line of what was done before it.
    """
    end = min(word.fields["addr"] + word.units, len(lines))
    own = range(word.fields["addr"], end)
    known = [address for address in own if lines[address]]
    for address in own:
        if lines[address] is None:
            following = next((each for each in known if each > address), known[-1] if known else None)
            lines[address] = loop or (before if following is None else lines[following])
    if word.is_alu:
        alone = {fields["address"] for fields in instructions(executable.code, word)}
        for address in own:
            # Literals are of the last instruction of their group.
            lines[address] = lines[address] if address in alone or address == own.start else lines[address - 1]
    first = next((lines[address] for address in own if lines[address]), None)
    lines[word.address] = first or lines[word.address]
