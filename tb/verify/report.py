"""What a run found, as text and as JUnit XML."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctm.tb.verify.coverage.holes import Coverage
from ctm.tb.verify.tally import Failure, Tally

_SHOWN = 10
"""Holes of a table that are named as text; the page has all."""
_SUITE = "ctm.tb.verify"


@dataclass(frozen=True)
class Results:
    """A run: its campaigns, their coverage, the seconds of its clock, and what ended it early, if anything did."""

    tallies: Sequence[Tally]
    coverage: Sequence[Coverage]
    seconds: float
    ended_by: str = ""

    @property
    def failures(self) -> list[Failure]:
        """All failing seeds."""
        return [failure for tally in self.tallies for _, failure in sorted(tally.failures.items())]

    @property
    def holes(self) -> int:
        """Cells that count as holes."""
        return sum(len(table.holes) for table in self.coverage if table.is_enough)

    @property
    def is_good(self) -> bool:
        """Whether nothing failed, nothing was lost, and no hole counts."""
        return not (self.failures or self.holes or any(tally.lost for tally in self.tallies))


def _rate(tally: Tally) -> str:
    """How fast the seeds of a campaign were; those of some take minutes each."""
    if not tally.seconds or not tally.seeds:
        return ""
    rate = tally.seeds / tally.seconds
    return f", {rate:.1f} a second and worker" if rate >= 0.1 else f", {1 / rate:,.0f} seconds each"


def lines(results: Results) -> Iterator[str]:
    """The results for a terminal."""
    for tally in results.tallies:
        yield f"{tally.campaign.name}: {tally.seeds:,} seeds, {len(tally.failures):,} failing{_rate(tally)}"
        yield from (f"  could not be done: {reason}" for reason in dict.fromkeys(tally.lost))
    for table in results.coverage:
        yield _coverage_line(table)
        if table.is_enough:
            yield from (f"  hole: {cell}" for cell in table.holes[:_SHOWN])
            if len(table.holes) > _SHOWN:
                yield f"  and {len(table.holes) - _SHOWN:,} more"


def _coverage_line(table: Coverage) -> str:
    text = f"{table.table}: {table.covered:,} of {len(table.cells):,} covered"
    if table.explained:
        text += f", {len(table.explained):,} explained"
    if table.holes:
        text += f", {len(table.holes):,} {'holes' if table.is_enough else 'not yet'}"
    return text


def junit(results: Results) -> bytes:
    """The results as JUnit XML: a suite for each campaign, a case for its seeds, each failing one and each table."""
    top = ElementTree.Element("testsuites", name=_SUITE)
    for tally in results.tallies:
        tables = [table for table in results.coverage if table.campaign == tally.campaign.name]
        _add_suite(top, tally, tables)
    for element in (top, *top):
        _count(element)
    ElementTree.indent(top)
    return bytes(ElementTree.tostring(top, encoding="utf-8", xml_declaration=True)) + b"\n"


def _add_suite(top: ElementTree.Element, tally: Tally, tables: Sequence[Coverage]) -> None:
    name, classname = tally.campaign.name, f"{_SUITE}.{tally.campaign.name}"
    suite = ElementTree.SubElement(top, "testsuite", name=name, time=f"{tally.seconds:.1f}")
    attributes = {"classname": classname, "name": f"{tally.seeds} seeds", "time": f"{tally.seconds:.1f}"}
    seeds = ElementTree.SubElement(suite, "testcase", attributes)
    for reason in dict.fromkeys(tally.lost):
        ElementTree.SubElement(seeds, "error", message=_clean(reason))
    for _, failure in sorted(tally.failures.items()):
        case = ElementTree.SubElement(suite, "testcase", classname=classname, name=f"seed {failure.seed}")
        found = ElementTree.SubElement(case, "failure", message=_clean(failure.difference.partition("\n")[0]))
        found.text = _clean("\n".join([failure.difference, *failure.listing]))
    for table in tables:
        case = ElementTree.SubElement(suite, "testcase", classname=classname, name=f"coverage of {table.table}")
        if table.holes and table.is_enough:
            found = ElementTree.SubElement(case, "failure", message=_coverage_line(table))
            found.text = "\n".join(table.holes)
        elif table.holes:
            message = f"{tally.seeds} seeds are fewer than {table.enough}: {_coverage_line(table)}"
            ElementTree.SubElement(case, "skipped", message=message)


def _count(element: ElementTree.Element) -> None:
    for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(sum(1 for _ in element.iter(tag))))


def _clean(text: str) -> str:
    """Text that XML can hold."""
    return "".join(each if each.isprintable() or each in "\n\t" else "?" for each in text)
