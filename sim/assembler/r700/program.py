"""Assembles a whole R700 program: parsed statements, groups, control flow, addresses, executable."""

from collections.abc import Callable, Iterable, Mapping

from ctm.rtl.isa.r700.pipeline import PIPELINE_INFORMATION, Pipeline, pipeline_of
from ctm.sim.assembler.error import Position, Report, SourceError
from ctm.sim.assembler.listing import Listing, listing, with_table
from ctm.sim.assembler.r700.form import Draft
from ctm.sim.assembler.r700.groups.builder import build
from ctm.sim.assembler.r700.groups.checker import ANY_SLOTS
from ctm.sim.assembler.r700.groups.packing import pack
from ctm.sim.assembler.r700.parser.directives import Directives
from ctm.sim.assembler.r700.parser.source import Source, parse
from ctm.sim.assembler.r700.placement.clauses import cut
from ctm.sim.assembler.r700.placement.layout import Code, address_of, lay_out
from ctm.sim.assembler.r700.placement.manual import lay_out_as_written
from ctm.sim.assembler.r700.placement.resources import check_resources
from ctm.sim.assembler.r700.placement.stack import stack_size
from ctm.sim.assembler.r700.placement.structure import structure
from ctm.sim.assembler.r700.placement.usage import gprs_of
from ctm.sim.assembler.r700.syntax import Fetch, Group, Item, Keyword, Pack, Statement, Word
from ctm.sim.assembler.tokens import Kind, Token
from ctm.sim.elf.r700.executable import Executable

_TOO_DEEP = "the stack gets too deep: does a subroutine call itself? If it does not really, write .stack"
_NOTHING: frozenset[int] = frozenset()


def assemble(source: str, name: str) -> Listing[Executable]:
    """Assemble an R700 program; see `Language.assemble`."""
    return listing(source, name, _parse, lambda parsed: with_table(_link(parsed), parsed.origins, name, source))


def _parse(text: str, report: Report) -> Source:
    source = parse(text, report)
    _build_groups(source, report)
    return source


def _build_groups(source: Source, report: Report) -> None:
    """Put all groups together; those that are wrong are reported."""
    produced: frozenset[int] = _NOTHING
    labelled = set(source.labels.values())
    for number, item in enumerate(source.items):
        if number in labelled:
            produced = _NOTHING
        if isinstance(item, Pack):
            _pack(item, report)
            produced = _NOTHING
        elif isinstance(item, Statement) and item.condition is not None:
            _build(item.condition, produced, report)
            produced = _NOTHING
        else:
            produced = _build(item, produced, report) if isinstance(item, Group) else _NOTHING


def _build(group: Group, produced: frozenset[int], report: Report) -> frozenset[int]:
    """The slots that a group produces; all there can be if it is wrong, so that nothing else is blamed for it."""
    if group.is_broken:
        return ANY_SLOTS
    try:
        return build(group, produced)
    except SourceError as error:
        report(error)
        return ANY_SLOTS


def _pack(item: Pack, report: Report) -> None:
    if any(group.is_broken for group in item.groups):
        return
    try:
        item.groups = pack(item)
    except SourceError as error:
        report(error)


def _link(source: Source) -> Listing[Executable]:
    """Make a program of parsed statements.

    Raises
    ------
    SourceError
        The statements do not make a program together.
    """
    code, words, resolve = lay_out_as_written(source) if source.directives.manual else _structured(source)
    if not code:
        raise SourceError("there are no instructions", Position(1, 1))
    directives = source.directives
    start = resolve(directives.start) if directives.start is not None else 0
    if start >= len(code):
        assert directives.start is not None
        raise SourceError(f"the code has {len(code)} units, so it cannot start at {start}", directives.start.position)
    executable = Executable(
        code=tuple(unit for unit, _ in code),
        start=start,
        type=directives.type,
        gprs=directives.numbers.get("gprs", 0) or gprs_of(_drafts(source.items)),
        stack_size=_stack(source, words, start),
        dx10_clamp=directives.flag("dx10_clamp"),
        depth=directives.flag("depth"),
        memory=directives.flag("memory"),
        scratch=directives.flag("scratch"),
        texture_base=directives.numbers.get("texture_base", 0),
        lds_dwords=directives.numbers.get("lds", 0),
        stage=directives.stage,
        pipeline=_pipeline(directives, len(code)),
    )
    return Listing(executable, tuple(line for _, line in code))


def _pipeline(directives: Directives, units: int) -> Pipeline | None:
    """The pipeline that directives describe, if they describe one."""
    if not directives.pipeline:
        return None
    words = tuple(directives.pipeline.get(name, 0) for name in PIPELINE_INFORMATION)
    try:
        return pipeline_of(words, units)
    except ValueError as error:
        raise SourceError(f".pipeline: {error}", Position(1, 1)) from None


_Placed = tuple[Code, Mapping[int, Draft], Callable[[Token], int]]
"""The code, its CF instructions by their addresses, and what a target means."""


def _structured(source: Source) -> _Placed:
    """Clauses after all CF instructions, each cut where it must be."""
    check_resources(source.items, source.directives)
    nodes, labelled = structure(source)
    for node in nodes:
        cut(node)
    words = [word for node in nodes for word in node.words]

    def resolve(target: Token) -> int:
        if target.kind is Kind.NUMBER:
            return address_of(target)
        if target.text not in labelled:
            raise SourceError(f"there is no label {target.text}", target.position)
        node = labelled[target.text].node
        assert node is not None
        return words.index(node.words[0])

    code = lay_out(nodes, resolve)
    return code, {address: word.draft for address, word in enumerate(words)}, resolve


def _stack(source: Source, words: Mapping[int, Draft], start: int) -> int:
    if "stack" in source.directives.numbers:
        return source.directives.numbers["stack"]
    found = stack_size(words, start)
    if found is None:
        pushes = [item for item in source.items if isinstance(item, Word | Statement)]
        calls = [item for item in pushes if isinstance(item, Statement) and item.keyword is Keyword.CALL]
        position = (calls or pushes or source.items)[0].position
        raise SourceError(_TOO_DEEP, position)
    return found


def _drafts(items: Iterable[Item]) -> list[Draft]:
    """All instructions of a text."""
    groups = [group for item in items for group in _groups(item)]
    others = [item.draft for item in items if isinstance(item, Fetch | Word)]
    return others + [draft for group in groups for draft in group.drafts]


def _groups(item: Item) -> list[Group]:
    if isinstance(item, Pack):
        return item.groups
    if isinstance(item, Statement):
        return [] if item.condition is None else [item.condition]
    return [item] if isinstance(item, Group) else []
