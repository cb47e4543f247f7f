"""The page of a run in the system's headless Chromium, on a wide screen and on a telephone's."""

from pathlib import Path

import pytest

from ctm.sim.profile.profile import profiles
from ctm.sim.report.page.page import page_of
from ctm.tb.explore.browser import PHONE, WIDE, Scheme, chromium, shown
from ctm.tb.explore.legible import illegible
from ctm.tb.report.ran import ran

_CHARTS = 6


@pytest.mark.skipif(chromium() is None, reason="there is no Chromium: install it, or name it with CHROMIUM")
@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (WIDE, "light")])
def test_a_line_opens_with_its_waits_misses_and_bytes(tmp_path: Path, width: int, scheme: Scheme) -> None:
    run = ran("rtl")
    file = tmp_path / "page.html"
    file.write_text(page_of(run))
    (profile,) = profiles(run.seen, run.programs)
    with shown(file, width, scheme, charts=_CHARTS) as page:
        assert illegible(page) == {}
        rows = page.locator("details.line")
        assert rows.count() == len(profile.lines)
        for row, figures in zip(rows.all(), profile.lines.values(), strict=True):
            assert "issues" not in row.inner_text()
            row.locator("summary").click()
            text = row.inner_text()
            waits = (f"{wait.name.lower()} {count:,}" for wait, count in figures.waited.items() if count)
            assert all(wait in text for wait in waits)
            lines = f"{figures.misses:,} of {figures.hits + figures.misses:,} lines missed, {figures.loaded:,} bytes"
            assert (lines in text) == (figures.misses > 0)
            assert (f"{figures.from_memory:,} of them from memory" in text) == (figures.misses > 0)
        assert illegible(page) == {}
