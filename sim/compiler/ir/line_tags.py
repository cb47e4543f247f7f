"""Keeps what LLVM's optimiser drops: which line of the source an instruction is of.

Whatever it moves out of a branch or merges with another it gives the branch's line or none. Names of results it keeps.
So they carry the line through it: `%add` of line 7, column 9 of file 0 is `%add.L7C9F0E` there.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from ctm.sim.compiler.error import Location
from ctm.sim.compiler.ir.flow import loop_heads
from ctm.sim.compiler.ir.metadata import Metadata
from ctm.sim.compiler.ir.module import NAME, Block, Function, Instruction, Module

_TAG = re.compile(r"\.L(\d+)C(\d+)F(\d+)E")
_NAMES = re.compile(NAME)
_DEBUG = re.compile(r", !dbg !(\d+)")
_NODE = re.compile(r"^!(\d+) = ")
_UNTAGGED = ("alloca", "phi")
"""Instructions without a line of their own: variables, and phis."""


class LineTags:
    """Takes the lines of one module through the optimiser."""

    def __init__(self) -> None:
        self._files: list[str] = []

    def tagged(self, text: str) -> str:
        """The text of a module that is to be optimised, with lines in its names."""
        module = Module.read(text)
        tagging = _Tagging(self._files, module)
        entities = (str(tagging.tagged(each)) if isinstance(each, Function) else each for each in module.entities)
        return "\n".join([*entities, *tagging.copies, ""])

    def restored(self, text: str) -> str:
        """The text of a module that was optimised, with the lines that were in its names."""
        module = Module.read(text)
        nodes = _Nodes(module)
        for number, entity in enumerate(module.entities):
            if isinstance(entity, Function) and nodes.subprogram(entity) is not None:
                module.entities[number] = _Restored(self._files, nodes, loop_heads(module, entity), entity).function
        return "\n".join([str(module), *nodes.lines, ""])


class _Tagging:
    """Puts lines into the names of a module's values.

    A function without lines, as those of ctm/kernel.h are, is of the line that calls it: each line has its own copy.
    """

    def __init__(self, files: list[str], module: Module) -> None:
        self._files, self._module = files, module
        self._without = {each.name: each for each in module.functions if "!dbg" not in each.head}
        self.copies: dict[str, None] = {}
        """The texts of copies."""
        self._names: set[str] = set()

    def tagged(self, function: Function) -> Function:
        """A function with its lines; as it is if it has none."""
        if function.name in self._without:
            return function
        return self._with(function, {each: self._tag(each) for each in function.instructions})

    def _with(self, function: Function, tags: Mapping[Instruction, str]) -> Function:
        names = {}
        for each, tag in tags.items():
            if tag and each.result and each.opcode not in _UNTAGGED:
                names[each.result] = f'{each.result[:-1]}{tag}"' if each.result.endswith('"') else each.result + tag
        calls = {
            each: self._copy(each.callee, tag) for each, tag in tags.items() if tag and each.callee in self._without
        }
        blocks = [Block(block.label, [_called(each, calls.get(each)) for each in block.instructions])
                  for block in function.blocks]  # fmt: skip
        return _renamed(Function(function.head, blocks), names)

    def _tag(self, instruction: Instruction) -> str:
        location = self._module.location(instruction)
        if location is None:
            return ""
        if location.file not in self._files:
            self._files.append(location.file)
        return f".L{location.line}C{location.column}F{self._files.index(location.file)}E"

    def _copy(self, callee: str, tag: str) -> str:
        """The name of a function's copy for a line."""
        name = callee + tag
        if name not in self._names:
            self._names.add(name)
            function = self._without[callee]
            copy = self._with(function, dict.fromkeys(function.instructions, tag))
            self.copies[str(replace(copy, head=copy.head.replace(f"@{callee}(", f"@{name}(", 1)))] = None
        return name


def _called(instruction: Instruction, name: str | None) -> Instruction:
    """A call, of the function of this name."""
    if name is None:
        return instruction
    return replace(instruction, text=instruction.text.replace(f"@{instruction.callee}(", f"@{name}(", 1))


def _renamed(function: Function, names: Mapping[str, str]) -> Function:
    def new(text: str) -> str:
        return _NAMES.sub(lambda found: names.get(found[0], found[0]), text)

    return Function(
        function.head,
        [Block(block.label, [replace(each, result=new(each.result), text=new(each.text))
                             for each in block.instructions]) for block in function.blocks],
    )  # fmt: skip


class _Nodes:
    """The metadata of a module, and what is added to it."""

    def __init__(self, module: Module) -> None:
        self.lines: list[str] = []
        self.metadata = Metadata(module.lines)
        found = [_NODE.match(line) for line in module.lines]
        self._next = max((int(node[1]) for node in found if node), default=-1) + 1
        self._made: dict[str, int] = {}

    def subprogram(self, function: Function) -> int | None:
        """The number of its node."""
        found = re.search(r" !dbg !(\d+)", function.head)
        return int(found[1]) if found else None

    def location(self, position: Location, subprogram: int) -> int:
        """The number of the node of a location, as one of a function's own."""
        scope = subprogram
        if self.metadata.file(subprogram) != position.file:
            name = position.file.replace("\\", "\\5C").replace('"', "\\22")
            file = self._node(f'!DIFile(filename: "{name}", directory: ".")')
            scope = self._node(f"!DILexicalBlockFile(scope: !{subprogram}, file: !{file}, discriminator: 0)")
        return self._node(f"!DILocation(line: {position.line}, column: {position.column}, scope: !{scope})")

    def _node(self, text: str) -> int:
        if text not in self._made:
            self._made[text] = self._next
            self.lines.append(f"!{self._next} = {text}")
            self._next += 1
        return self._made[text]


class _Restored:
    """A function with the locations of its instructions; phis at a loop's head have that of the loop."""

    def __init__(self, files: list[str], nodes: _Nodes, heads: Mapping[str, Location], function: Function) -> None:
        self._files, self._nodes, self._heads = files, nodes, heads
        subprogram = nodes.subprogram(function)
        assert subprogram is not None
        self._subprogram = subprogram
        self._locations = {each.result: self._own(each) for each in function.instructions if each.result}
        self.function = Function(function.head, [self._block(block) for block in function.blocks])

    def _block(self, block: Block) -> Block:
        locations = [self._location(block, each) for each in block.instructions]
        return Block(block.label, [self._at(each, location) for each, location in
                                   zip(block.instructions, locations, strict=True)])  # fmt: skip

    def _location(self, block: Block, each: Instruction) -> Location | None:
        if each.opcode == "phi":
            return self._heads.get(block.label) or self._said(each)
        if each.opcode == "br" and len(each.targets) > 1 and "!llvm.loop" not in each.metadata:
            condition = next(iter(_NAMES.findall(each.text)), "")
            return self._said(each) or self._locations.get(condition)
        return self._own(each)

    def _own(self, each: Instruction) -> Location | None:
        tags, said = _TAG.findall(each.result), self._said(each)
        # LLVM makes a choice of two branches and names it by what one of them computes.
        if not tags or each.opcode == "phi" or (each.opcode == "select" and said is not None):
            return said
        line, column, file = map(int, tags[-1])
        return Location(self._files[file], line, column)

    def _said(self, each: Instruction) -> Location | None:
        found = _DEBUG.search(each.metadata)
        return self._nodes.metadata.location(int(found[1])) if found else None

    def _at(self, each: Instruction, location: Location | None) -> Instruction:
        if location is None or location == self._said(each):
            return each
        number = self._nodes.location(location, self._subprogram)
        return replace(each, metadata=f"{_DEBUG.sub('', each.metadata)}, !dbg !{number}")
