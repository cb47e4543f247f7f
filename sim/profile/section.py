"""A program's profile as a section of a page: its figures, what is usually wrong with such, its source."""

from html import escape

from ctm.sim.profile.advice import advice
from ctm.sim.profile.profile import ProgramProfile
from ctm.sim.profile.source import source_html


def section_html(title: str, profile: ProgramProfile, *, waits: str = "") -> str:
    """The section; `waits` is a chart of what its wavefronts waited for, as HTML. `source.STYLE` is its style."""
    whole = profile.figures
    sentences = "".join(f"<li>{escape(text)}</li>" for text in advice(profile))
    what = "the cycles of its wavefronts" if profile.has_cycles else "the instructions issued"
    return (
        f"<h2>{escape(title)}</h2><p>{whole.issues:,} instructions issued; "
        f"{whole.efficiency:.0%} of the lanes that are covered work.</p>"
        f"<ul>{sentences}</ul>{waits}"
        f'<p class="soft">In front of each line stands its share of {what}. '
        f"A click on such a line opens its instructions{' and what they waited for' * profile.has_cycles}.</p>"
        f"{source_html(profile)}"
    )
