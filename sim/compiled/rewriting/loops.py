"""Opens loops that exist only between words: where part of a word follows from another part of the same word.

Such loops are no loops of the hardware, but who computes a word at a time would have to do it several times. Words in
a loop become several words, and cells that work on each bit by itself become several cells.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise

from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.rewriting.rtlil import (
    Bit,
    Cell,
    bits,
    cells,
    module_outputs,
    modules,
    names,
    replace,
    signal,
    slices,
    wires,
)

_ROUNDS = 6
_BITWISE = ("$and", "$or", "$xor", "$not", "$mux")
_SHARED = "S"
"""The input of a bitwise cell that goes to all of its bits."""
Node = str | int
"""A wire's name, or a cell's number."""
Pieces = Mapping[str, Sequence[int]]
"""Where each wire is cut, its two ends included."""


class LoopThroughModuleError(Exception):
    """What a module gives comes back to it at once; `modules` are all of which this is so."""

    def __init__(self, modules: Set[str]) -> None:
        super().__init__(", ".join(sorted(modules)))
        self.modules = modules


def open_loops(text: str) -> str:
    """A design's RTLIL without loops between words.

    Raises
    ------
    LoopThroughModuleError
        There may be none if these modules are made part of those that use them.
    ToolchainError
        The hardware itself has a loop.
    """
    outputs = dict(module_outputs(text))
    through: set[str] = set()
    parts = []
    for part in modules(text):
        try:
            parts.append(_without_loops(part, outputs))
        except LoopThroughModuleError as error:
            through |= error.modules
    if through:
        raise LoopThroughModuleError(through)
    return "".join(parts)


def _without_loops(text: str, outputs: Mapping[str, Set[str]]) -> str:
    """A module without loops between words."""
    for attempt in range(_ROUNDS):
        lines = text.splitlines(keepends=True)
        found = list(cells(lines, outputs))
        loop = set(_loops(_graph(found)))
        if not loop:
            return text
        # First only where the hardware takes words apart anyway.
        if attempt > 0 and (through := {found[node].kind for node in loop if isinstance(node, int)} & outputs.keys()):
            raise LoopThroughModuleError(through)
        text = _opened(lines, found, loop, single_bits=attempt > 0)
    raise ToolchainError(f"combinational loop through {', '.join(sorted(map(str, loop)))}")


def _opened(lines: list[str], found: Sequence[Cell], loop: set[Node], *, single_bits: bool) -> str:
    """The module with the loop's words and cells taken apart."""
    widths = {wire.name: wire.width for wire in wires(lines)}
    opened = [wire for wire in wires(lines) if wire.name in loop and wire.width > 1 and wire.is_free]
    cuts = _cuts(found, {wire.name: wire.width for wire in opened}, single_bits=single_bits)
    pieces: dict[str, list[tuple[str, int, int]]] = {}
    for number in sorted(node for node in loop if isinstance(node, int)):
        cell = found[number]
        if not cell.kind:
            lines[cell.first] = "".join(_connections(cell, widths, cuts))
        elif single_bits and cell.kind in _BITWISE:
            lines[cell.first : cell.end] = ["".join(_single_cells(cell, widths)), *[""] * (cell.end - cell.first - 1)]
    given = []
    for wire in opened:
        parts = [(_piece(wire.name, low), low, end) for low, end in pairwise(cuts[wire.name])]
        pieces[wire.name] = parts
        declarations = "".join(f"  wire width {end - low} {name}\n" for name, low, end in parts)
        lines[wire.line] = declarations + (lines[wire.line] if wire.is_output else "")
        if wire.is_output:
            given.append(f"  connect {wire.name} {{ {' '.join(name for name, _, _ in reversed(parts))} }}\n")
    return "".join([replace("".join(lines), widths, pieces).removesuffix("end\n"), *given, "end\n"])


def _piece(name: str, low: int) -> str:
    return f"{name}#{low}"


def _cuts(found: Sequence[Cell], widths: Mapping[str, int], *, single_bits: bool) -> Pieces:
    """Where to cut wires of these widths."""
    if single_bits:
        return {name: range(width + 1) for name, width in widths.items()}
    cuts = {name: {0, width} for name, width in widths.items()}
    for cell in found:
        for text in (*cell.inputs.values(), *cell.outputs.values()):
            for name, low, end in slices(text, widths):
                cuts[name] |= {low, end}
    return {name: sorted(positions) for name, positions in cuts.items()}


def _connections(cell: Cell, widths: Mapping[str, int], cuts: Pieces) -> Iterator[str]:
    """A connection as one for each piece that it drives."""
    group: list[tuple[Bit, Bit]] = []
    for left, right in zip(bits(cell.outputs["Y"], widths), bits(cell.inputs["A"], widths), strict=True):
        if group and (isinstance(left, str) or left[0] != group[-1][0][0] or left[1] in cuts.get(left[0], ())):
            yield _connection(group)
            group = []
        group.append((left, right))
    yield _connection(group)


def _connection(group: Sequence[tuple[Bit, Bit]]) -> str:
    left, right = zip(*group, strict=True)
    return f"  connect {signal(left)} {signal(right)}\n"


def _single_cells(cell: Cell, widths: Mapping[str, int]) -> Iterator[str]:
    """A bitwise cell as one for each bit."""
    results = bits(cell.outputs["Y"], widths)
    inputs = {port: bits(text, widths) for port, text in cell.inputs.items()}
    for number, result in enumerate(results):
        yield f"  cell {cell.kind} {cell.name}#{number}\n"
        if cell.kind == "$mux":
            yield "    parameter \\WIDTH 1\n"
        else:
            for port in (*inputs, "Y"):
                yield f"    parameter \\{port}_WIDTH 1\n"
            for port in inputs:
                yield f"    parameter \\{port}_SIGNED 0\n"
        for port, given in inputs.items():
            bit = given[0] if port == _SHARED else _extended(cell, port, given, number)
            yield f"    connect \\{port} {signal([bit])}\n"
        yield f"    connect \\Y {signal([result])}\n  end\n"


def _extended(cell: Cell, port: str, given: Sequence[Bit], number: int) -> Bit:
    """A bit of an operand that may be narrower than the result."""
    if number < len(given):
        return given[number]
    return given[-1] if cell.parameters.get(f"{port}_SIGNED") == "1" else "0"


def _graph(found: Sequence[Cell]) -> dict[Node, set[Node]]:
    """What follows from a wire or a cell in the same cycle."""
    graph: dict[Node, set[Node]] = defaultdict(set)
    for number, cell in enumerate(found):
        if cell.is_combinational:
            for text in cell.inputs.values():
                for name in names(text):
                    graph[name].add(number)
            graph[number] = {name for text in cell.outputs.values() for name in names(text)}
    return dict(graph)


def _loops(graph: Mapping[Node, set[Node]]) -> Iterator[Node]:
    """The nodes that are in loops: strongly connected components, by Kosaraju's algorithm."""
    backward: dict[Node, set[Node]] = defaultdict(set)
    for node, following in graph.items():
        for other in following:
            backward[other].add(node)
    left = set(graph)
    for start in reversed(list(_finished(graph))):
        component = []
        reached = [start] if start in left else []
        left.discard(start)
        while reached:
            node = reached.pop()
            component.append(node)
            reached += (new := backward[node] & left)
            left -= new
        if len(component) > 1 or start in graph[start]:
            yield from component


def _finished(graph: Mapping[Node, set[Node]]) -> Iterator[Node]:
    """All nodes with something behind them, in the order in which a search in depth leaves them."""
    entered: set[Node] = set()
    for start in graph:
        path = [] if start in entered else [(start, iter(graph[start]))]
        entered.add(start)
        while path:
            node, following = path[-1]
            for other in following:
                if other in graph and other not in entered:
                    entered.add(other)
                    path.append((other, iter(graph[other])))
                    break
            else:
                yield node
                path.pop()
