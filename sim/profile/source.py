"""The source of a program with its figures, as HTML: a line opens to show its instructions and waits."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from ctm.sim.elf.lines import Line
from ctm.sim.profile.figures import WAITS, Figures
from ctm.sim.profile.profile import ProgramProfile, Statement

STYLE = """
.listing, .listing .wide { overflow-x: auto; }
.listing .line code { font: 13px/1.5 ui-monospace, monospace; white-space: pre; color: inherit; background: none;
                      border: none; padding: 0; }
.listing { border: 1px solid var(--edge, #8886); border-radius: 6px; padding: 0.3em 0; }
.line { box-sizing: border-box; padding-left: 0.5em; width: max-content; min-width: 100%; }
details.line .location, details.line .share { color: inherit; }
details.line > summary { list-style: none; cursor: pointer; }
details.line > summary:hover, details.line[open] { outline: 1px solid var(--edge, #8886); }
details.line { background: color-mix(in srgb, var(--hot, #f59e0b) var(--heat), transparent); }
details.line > :not(summary) { margin: 0; padding: 0.2em 0 0.5em 9em; width: fit-content; max-width: 84vw;
                               box-sizing: border-box; position: sticky; left: 0; }
.location, .share { display: inline-block; width: 4.2em; text-align: right; padding-right: 1em; white-space: nowrap;
                 color: var(--soft, #888); font-size: 0.8em; }
@media (max-width: 45em) {
  details.line > :not(summary) { padding-left: 1em; } .share { width: 3.9em; } .location { width: 2.8em; }
}
"""
"""The looks of a listing, with which a page's colours `--edge`, `--soft` and `--hot` go."""
_HOTTEST = 70
"""Per cent of the colour of the most expensive line."""
_TITLES = {"cost": "cycles", "loaded": "bytes", "from_memory": "of memory"}


def source_html(profile: ProgramProfile) -> str:
    """Each line of its files, or each instruction where lines are not known; those with instructions have figures."""
    if not profile.lines:
        rows = (_row(str(each.unit), each.text, each.figures, [each], profile) for each in profile.statements)
        return _listing("instructions", rows)
    by_line: dict[Line, list[Statement]] = {}
    for statement in profile.statements:
        if statement.line is not None:
            by_line.setdefault(statement.line, []).append(statement)
    return "".join(_listing(file, _file(file, profile, by_line)) for file in sorted({line.file for line in by_line}))


def _file(file: str, profile: ProgramProfile, by_line: Mapping[Line, Sequence[Statement]]) -> Iterator[str]:
    last = max(line.line for line in by_line if line.file == file)
    for number in range(1, max(len(profile.sources.get(file, ())), last) + 1):
        line = Line(file, number)
        yield _row(str(number), profile.source(line), profile.lines.get(line), by_line.get(line, ()), profile)


def _listing(title: str, rows: Iterator[str]) -> str:
    return f'<h3>{escape(title)}</h3><div class="listing">{"".join(rows)}</div>'


def _row(
    location: str, text: str, figures: Figures | None, statements: Sequence[Statement], profile: ProgramProfile
) -> str:
    code = f'<span class="location">{location}</span><code>{escape(text) or "&nbsp;"}</code>'
    if figures is None or not figures.cost:
        return f'<div class="line"><span class="share"></span>{code}</div>'
    share = figures.cost / profile.figures.cost
    most = max(each.cost for each in (profile.lines.values() if profile.lines else _figures(profile)))
    heat = f"--heat: {_HOTTEST * figures.cost / most:.0f}%"
    return (
        f'<details class="line" style="{heat}"><summary><span class="share">{share:.1%}</span>{code}</summary>'
        f"{_details(figures)}{_instructions(statements)}</details>"
    )


def _figures(profile: ProgramProfile) -> Iterator[Figures]:
    return (each.figures for each in profile.statements)


def _details(figures: Figures) -> str:
    """Issues, lanes, and what was waited for, the longest first."""
    facts = [f"{figures.issues:,} issues", f"{figures.efficiency:.0%} of the lanes work"]
    waited = sorted((each for each in WAITS if figures.waits_for(each)), key=lambda each: -figures.waits_for(each))
    if waited:
        facts.append(
            "cycles waited: " + ", ".join(f"{wait.name.lower()} {figures.waits_for(wait):,}" for wait in waited)
        )
    if figures.hits + figures.misses:
        facts.append(
            f"{figures.misses:,} of {figures.hits + figures.misses:,} lines missed, {figures.loaded:,} bytes, "
            f"{figures.from_memory:,} of them from memory"
        )
    return f"<p>{escape('; '.join(facts))}</p>"


def _instructions(statements: Sequence[Statement]) -> str:
    columns = ["issues", *(["cost"] if any(each.figures.waited for each in statements) else [])]
    if any(each.figures.hits + each.figures.misses for each in statements):
        columns += ["misses", "loaded", "from_memory"]
    titles = "".join(f"<th>{_TITLES.get(name, name)}" for name in columns)
    rows = "".join(
        f"<tr><td>{each.unit}"
        + "".join(f'<td class="number">{getattr(each.figures, name):,}' for name in columns)
        + f"<td><code>{escape(each.text)}</code>"
        for each in statements
    )
    return f'<div class="wide"><table><tr><th>unit{titles}<th>instruction{rows}</table></div>'
