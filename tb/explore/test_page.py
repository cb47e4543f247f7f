"""The page in the system's headless Chromium, on a wide screen and on a telephone's."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ctm.sim.explore.models import main as prepare_model
from ctm.tb.explore.browser import CANNED, CTM, PHONE, WIDE, chromium, server
from ctm.tb.explore.canned import FETCH, MARK, OUTPUT, SLOW, SOURCE, WAITED
from ctm.tb.explore.legible import illegible

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium: install it, or name it with CHROMIUM")
EXAMPLE = Path(__file__).parents[1].resolve().parent / "examples" / "nbody" / "nbody.c"
_PATIENCE = 90_000
_THEMED = """() => [...document.querySelectorAll('.cm-editor')].every(each =>
  getComputedStyle(each).backgroundColor === getComputedStyle(document.body).backgroundColor)"""
"""Whether the editors have the background of the page."""
_LOOKS = 3_000
"""Milliseconds in which the page looks several times whether a machine is there."""


@contextmanager
def browser() -> Iterator[Any]:
    """A browser that can reach no network."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        found = driver.chromium.launch(
            executable_path=chromium(), args=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        )
        yield found
        found.close()


@contextmanager
def page_at(opened: Any, port: int, width: int, scheme: str = "light") -> Iterator[Any]:
    """The page when it has run its first source; at its end nothing has been said on the console."""
    context = opened.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page, said = context.new_page(), []
    page.set_default_timeout(_PATIENCE)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("requestfailed", lambda request: said.append(request.url))
    page.goto(f"http://127.0.0.1:{port}/")
    page.wait_for_function("() => document.querySelector('[role=status]').innerText.trim() === 'done'")
    # The server hears of the scheme from the page, and gives the editors their theme after that.
    page.wait_for_function(_THEMED)
    yield page
    context.close()
    assert said == []


def colour(page: Any, box: str, line: int) -> str:
    shown = page.locator(f"{box} .cm-line[data-line='{line}']").first
    return str(shown.evaluate("each => getComputedStyle(each).boxShadow"))


def luminance(page: Any, box: str, name: str) -> float:
    """Of a colour of an element, from 0 to 1."""
    text = page.locator(box).first.evaluate(f"each => getComputedStyle(each).{name}")
    red, green, blue = (float(digits) / 255 for digits in text[text.index("(") + 1 : -1].split(",")[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def overlapping(page: Any) -> list[list[str]]:
    """Panels of which one overlaps another."""
    found: list[list[str]] = page.evaluate("""() => {
      const boxes = [...document.querySelectorAll('.ctm-panel')].map(each => each.getBoundingClientRect());
      const aside = (a, b) => a.right < b.left + 1 || b.right < a.left + 1;
      const above = (a, b) => a.bottom < b.top + 1 || b.bottom < a.top + 1;
      const pairs = boxes.flatMap((a, n) => boxes.slice(n + 1).map(b => [a, b]));
      return pairs.filter(([a, b]) => !aside(a, b) && !above(a, b));
    }""")
    return found


def check_contrast(page: Any, scheme: str) -> None:
    """Text stands out from the page."""
    back = luminance(page, "body", "backgroundColor")
    assert (back > 0.9) == (scheme == "light")
    for box in (".ctm-title", ".ctm-soft", ".ctm-editor .cm-line", ".ctm-listing .cm-line"):
        assert abs(luminance(page, box, "color") - back) > 0.45, box


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with server(command=CANNED) as (number, _):
        yield number


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (WIDE, "light")])
def test_lines_stalls_and_errors(opened: Any, port: int, width: int, scheme: str) -> None:
    with page_at(opened, port, width, scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert overlapping(page) == []
        assert illegible(page) == {}
        check_contrast(page, scheme)
        # A line has one colour everywhere, and another one than its neighbour.
        colours = [{colour(page, box, line) for box in (".ctm-editor", ".ctm-listing")} for line in (FETCH, OUTPUT)]
        assert [len(each) for each in colours] == [1, 1] and colours[0] != colours[1]
        for box in (".ctm-editor", ".ctm-listing >> nth=1"):
            page.locator(f"{box} >> .cm-line[data-line='{FETCH}']").click()
            page.wait_for_function("() => document.body.innerText.includes('1,234')")
            text = page.locator(".ctm-side").inner_text()
            assert all(cause in text for cause in WAITED) and SOURCE.split("\n")[FETCH - 1].strip() in text
            page.locator(f"{box} >> .cm-line[data-line='{OUTPUT}']").click()
            page.wait_for_function("() => document.body.innerText.includes('It waits for nothing')")
        assert "4,321 cycles" in page.locator(".ctm-side").inner_text()
        assert page.locator(".ctm-picture img").evaluate("each => each.naturalWidth") == 8
        page.locator(".ctm-editor .cm-content").click()
        page.keyboard.press("Control+End")
        page.keyboard.type(MARK)
        page.wait_for_function("() => document.querySelector('.ctm-editor .ctm-error')")
        assert page.locator(".ctm-editor .ctm-error").inner_text() == MARK
        # Shares of the program before are not those of this one.
        page.wait_for_function("() => !document.querySelector('.ctm-editor .ctm-share')")
        assert f"use of '{MARK}'" in page.locator(".ctm-bad").first.inner_text()
        assert illegible(page) == {}


def test_a_source_that_hardware_does_not_end_is_run_once(opened: Any, port: int) -> None:
    with page_at(opened, port, WIDE) as page:
        page.locator(".ctm-editor .cm-content").click()
        page.keyboard.press("Control+End")
        page.keyboard.type(SLOW)
        page.wait_for_function("() => document.body.innerText.includes('No cycles: on engine rtl it did not end')")
        page.wait_for_function("() => document.querySelector('[role=status]').innerText.trim() === 'done'")
        before = page.locator(".ctm-side").inner_text()
        page.wait_for_timeout(_LOOKS)
        assert page.locator(".ctm-side").inner_text() == before and ", run " in before


@pytest.mark.long
def test_an_example_on_hardware(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["models", "r700"])
    prepare_model()
    with server(EXAMPLE, command=CTM) as (number, _), page_at(opened, number, WIDE) as page:
        page.wait_for_function("() => document.querySelector('.ctm-side').innerText.includes('engine rtl')")
        assert " cycles, " in page.locator(".ctm-side").inner_text()
        page.locator(".ctm-editor .cm-line[data-line='12']").click()
        page.wait_for_function("() => document.querySelector('.ctm-side').innerText.includes('responses of fetches')")
        assert page.locator(".ctm-picture").count() == 2
