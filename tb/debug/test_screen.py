"""The screen: mistakes are found by keys and clicks, on a large terminal and on a small one."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from ctm.sim.debug.screen.application import DebugScreen
from ctm.sim.debug.screen.command_line import CommandLine
from ctm.sim.debug.screen.image import ImagePane
from ctm.sim.debug.walk import Position
from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.tb.cli.invocation import error_line
from ctm.tb.debug.jobs import DIVERGENT, LONG, LOOP_BY_COLUMN, example, program, race, session_of
from ctm.tb.debug.terminal import terminal
from ctm.tb.draws.recorded import make_job

LARGE, SMALL = (160, 50), (80, 24)
LARGE_FIRST = [LARGE, pytest.param(SMALL, marks=pytest.mark.long)]
SMALL_FIRST = [SMALL, pytest.param(LARGE, marks=pytest.mark.long)]
"""Both sizes, of which the ordinary suite has the first."""
FAULT = DIVERGENT.replace("MAD(r0.r, r0.g, 0.0)", "MAD(r0.r, r0.g, 0.0) {rgba_inst.rgb_op=15}")


class Seen:
    """A screen, and a user's keys and clicks."""

    def __init__(self, app: DebugScreen, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot

    async def settled(self) -> None:
        end = time.monotonic() + 30
        await self.pilot.pause()
        while self.app.is_busy:
            assert time.monotonic() < end
            await self.pilot.pause(0.01)
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
            await self.settled()

    async def hit(self, *keys: str) -> None:
        """Press keys while a command runs: the pilot would wait until the processor is idle."""
        for key in keys:
            self.app.simulate_key(key)
            await asyncio.sleep(0.25)

    async def enter(self, line: str) -> None:
        await self.pilot.press("colon", line[0])
        self.app.query_one(CommandLine).value = line
        # Escape would interrupt what runs.
        await self.press("enter", "escape")

    async def click(self, name: str, x: int, y: int) -> None:
        """A click at a character of a pane, within its border."""
        pane = self.app.query_one(f"#{name}", Widget)
        left, top = pane.content_region.offset - pane.region.offset
        assert await self.pilot.click(f"#{name}", offset=(x + left, y + top))
        await self.settled()

    def rows(self, name: str) -> list[str]:
        pane = self.app.query_one(f"#{name}", Widget)
        return [pane.render_line(y).text.rstrip() for y in range(pane.content_size.height)]

    def row(self, name: str, text: str) -> str:
        """The one row of a pane that has a text."""
        (found,) = [row for row in self.rows(name) if text in row]
        return found

    @property
    def location(self) -> str:
        return self.rows("location")[0]


async def a_draw(seen: Seen) -> None:
    """From its vertices to a pixel, and why it is so."""
    assert "launch 0 (VS of draw 0)" in seen.location and "vertex 0" in seen.location
    assert seen.rows("image")[0] == "the program has no image"
    await seen.enter("break (24, 24)")
    await seen.press("i", "i", "I", "s", "f", "c")
    assert "launch 1 (PS of draw 0)" in seen.location and "(24, 24) of primitive 2 (vertex 4" in seen.location
    assert "Output 0" in str(seen.app.query_one(ImagePane).border_title)
    assert seen.row("registers", "R0 ")
    await seen.enter("print CB1[0].x")
    assert any("CB1[0].x = " in row for row in seen.rows("log"))
    await seen.enter("why o0[24,24]")
    assert any("vertex buffer 0" in row for row in seen.rows("log"))
    await seen.press("right", "c", "C")
    await seen.enter("goto 1 0 0")
    assert "wavefront 0 of" in seen.location
    await seen.enter("watch o0[24,24]")
    await seen.press("c", "c")
    assert "end of the wavefront" in seen.location
    await seen.enter("delete")
    await seen.press("c")
    assert "the job has ended" in seen.location
    # The draw has stored its pixels.
    pane = seen.app.query_one(ImagePane)
    assert pane._colours is not None and len({tuple(each) for each in pane._colours.reshape(-1, 3).tolist()}) > 1


@pytest.mark.long
def test_a_draw_is_looked_at(tmp_path: Path) -> None:
    told(a_draw, load_job(make_job("cube_indexed", "sfn", tmp_path)))


def test_a_draw_begins_with_its_vertices(tmp_path: Path) -> None:
    async def story(seen: Seen) -> None:
        assert "launch 0 (VS of draw 0)" in seen.location
        await seen.press("i", "5")
        assert seen.rows("image")[0] == "the program has no image"

    told(story, load_job(make_job("cube_indexed", "sfn", tmp_path)), SMALL)


def told(
    story: Callable[[Seen], Awaitable[None]], job: LoadedJob, size: tuple[int, int] = LARGE, **options: object
) -> int | None:
    """What the screen returns at the end of a story."""

    async def tell() -> int | None:
        with session_of(job, **options) as session:
            app = DebugScreen(session, ["as it began"])
            async with app.run_test(size=size) as pilot:
                seen = Seen(app, pilot)
                await seen.settled()
                await story(seen)
            return app.return_value

    return asyncio.run(tell())


@pytest.mark.parametrize("size", SMALL_FIRST)
def test_a_fault(tmp_path: Path, size: tuple[int, int]) -> None:
    async def story(seen: Seen) -> None:
        await seen.press("c")
        assert "fault: ILLEGAL_INSTRUCTION" in seen.location or size == SMALL
        assert seen.app.query_one("#location").has_class("fault")
        assert seen.row("source", "wrong:").startswith(" ▶  10")
        assert any(row.startswith("fault: ILLEGAL_INSTRUCTION: RGB_OP is 15") for row in seen.rows("log"))
        await seen.press("I")
        assert not seen.app.query_one("#location").has_class("fault") and "step 6" in seen.location

    told(story, program(FAULT, tmp_path), size)


def test_a_wrong_pixel(tmp_path: Path) -> None:
    async def story(seen: Seen) -> None:
        session = seen.app.session
        # A pixel is as many characters wide as it is half characters high.
        zoom = seen.app.query_one(ImagePane).zoom
        await seen.click("image", 5 * zoom + 1, zoom // 2 + 1)
        assert (session.position, session.lane) == (Position(0, 2, 0), 3) and "(5, 1)" in seen.location
        await seen.click("source", 12, 9)
        assert not session.stops
        await seen.click("source", 4, 9)
        assert seen.row("source", "wrong:").startswith("● ") and seen.row("instructions", "r2.g = ").startswith("● ")
        await seen.press("c")
        assert session.position == Position(0, 2, 7) and seen.row("source", "wrong:").startswith("●▶")
        await seen.click("lanes", 5, 1)
        assert session.lane == 3 and "[A]" in seen.rows("lanes")[1] and "lane 3 (5, 1)" in seen.location
        assert not any(row.startswith("*") for row in seen.rows("registers"))
        await seen.press("i")
        assert seen.row("registers", "r2").split() == ["*r2", "r", "2", "g", "5", "b", "0", "a", "0"]
        await seen.press("S")
        assert session.position == Position(0, 2, 7) and "g 0 " in seen.row("registers", "r2")
        # The same key, and a click beside another pane's row, take breakpoints away and set others.
        await seen.click("instructions", 4, 7)
        await seen.press("f")
        assert session.stops == [] and "end of the wavefront" in seen.location
        await seen.press("down", "b")
        assert len(session.stops) == 1

    told(story, program(DIVERGENT, tmp_path))


@pytest.mark.long
def test_a_wrong_pixel_on_a_small_terminal(tmp_path: Path) -> None:
    """By keys: the pane of each is shown where it is looked at."""

    async def story(seen: Seen) -> None:
        session = seen.app.session
        await seen.enter("pixel 5 1")
        assert (session.position, session.lane) == (Position(0, 2, 0), 3) and "(5, 1)" in seen.location
        await seen.enter("tbreak wrong if i == 5 and j == 1")
        await seen.press("c", "1")
        assert session.position == Position(0, 2, 7) and seen.row("source", "wrong:").startswith(" ▶")
        await seen.press("i", "3")
        assert seen.row("registers", "r2").split()[:5] == ["*r2", "r", "2", "g", "5"]
        await seen.enter("why o0[5,1].g")
        await seen.press("6")
        assert any(row.startswith("lines: p.s:") and "9-11" in row for row in seen.rows("log"))
        await seen.press("5")
        assert "Output 0" in str(seen.app.query_one(ImagePane).border_title)

    told(story, program(DIVERGENT, tmp_path), SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("size", LARGE_FIRST)
def test_divergence(tmp_path: Path, size: tuple[int, int]) -> None:
    async def story(seen: Seen) -> None:
        await seen.enter("break 6 if i > 2")
        assert seen.row("source", "MAD(r2.r").startswith("◆")
        await seen.press("c")
        await seen.press("4")
        rows = seen.rows("lanes")
        assert rows[0].split() == ["b", "[A]"] and rows[1].split() == ["b", "A"]
        assert seen.row("lanes", "by a branch") and seen.row("lanes", "loop_inactive").endswith("....")
        await seen.click("lanes", 1, 0)
        assert seen.app.session.lane == 0
        await seen.press("tab", "4")
        await seen.click("lanes", 5, 0)
        await seen.press("down", "left", "left")
        assert seen.app.session.lane == 2

    told(story, program(DIVERGENT, tmp_path), size)


@pytest.mark.parametrize("size", SMALL_FIRST)
def test_a_hang(tmp_path: Path, size: tuple[int, int]) -> None:
    async def story(seen: Seen) -> None:
        await seen.press("c")
        fault = "fault: WATCHDOG: a wavefront executed 20 instructions"
        assert (fault if size == LARGE else "fault: WATCHDOG") in seen.location
        assert any(row.startswith(fault) for row in seen.rows("log"))
        await seen.press("C")
        assert "step 0" in seen.location and "wavefront 0" in seen.location

    told(story, program(LOOP_BY_COLUMN, tmp_path), size, watchdog=20)


@pytest.mark.slow
@pytest.mark.parametrize("size", LARGE_FIRST)
def test_a_race(tmp_path: Path, size: tuple[int, int]) -> None:
    async def story(seen: Seen) -> None:
        await seen.press("c")
        assert seen.row("source", "RD_SCATTER").startswith("!▶")
        assert any(row.startswith("hazard: CF instruction 3") for row in seen.rows("log"))
        await seen.press("c")
        assert "the job has ended" in seen.location
        # There is nothing to look at, and nothing breaks.
        await seen.press("4", "left", "5", "right", "1", "b", "i")
        assert any("the job has ended" in row for row in seen.rows("log"))
        await seen.enter("run")
        assert "step 0" in seen.location

    told(story, race(tmp_path), size, hazards=True)


@pytest.mark.slow
def test_what_runs_long_is_interrupted_and_the_screen_lives(tmp_path: Path) -> None:
    async def story(seen: Seen) -> None:
        session = seen.app.session
        await seen.enter("stepi 3")
        await seen.enter("break 10 if i == 511 and j == 511")
        await seen.hit("c")
        assert "Escape interrupts it" in seen.location and seen.app.is_busy
        await seen.hit("3", "i")
        assert seen.app.query_one("#registers").has_focus
        await seen.hit("escape")
        await seen.settled()
        assert session.position == Position(0, 0, 3) and len(session.stops) == 1
        assert any(row.startswith("interrupted") for row in seen.rows("log"))
        await seen.hit("c", "ctrl+c")
        await seen.settled()
        assert session.position == Position(0, 0, 3)
        # The end waits for the command.
        await seen.hit("c", "q")

    program(LONG, tmp_path, width=512, height=512)
    job = tmp_path / "job.toml"
    job.write_text(job.read_text().replace("[5, 0, 1]", "[99, 0, 1]"))
    assert told(story, load_job(job), SMALL) == 0


@pytest.mark.long
def test_a_small_terminal_has_one_pane_and_a_large_one_all() -> None:
    names = ("source", "instructions", "registers", "lanes", "image", "log")

    async def story(seen: Seen) -> None:
        for number, name in enumerate(names, start=1):
            await seen.press(str(number))
            shown = [each for each in names if seen.app.query_one(f"#{each}").region.area]
            assert shown == ([name, "log"] if name != "log" else ["log"])
        await seen.pilot.resize_terminal(*LARGE)
        await seen.settled()
        assert all(seen.app.query_one(f"#{each}").region.area for each in names)
        for name in ("source", "image", "source"):
            await seen.press("1" if name == "source" else "tab")
            assert seen.app.query_one("#source").has_focus == (name == "source")

    told(story, example("r700/mandelbrot/mandelbrot"), SMALL)


@pytest.mark.long
def test_a_large_output_is_panned_and_follows_the_pixel() -> None:
    async def story(seen: Seen) -> None:
        await seen.enter("pixel 200 100")
        image = seen.app.query_one("#image")
        assert str(image.border_subtitle).endswith("at (200, 100)")
        before = image.border_subtitle
        image.focus()
        await seen.press("up", "left")
        assert image.border_subtitle != before
        await seen.enter("pixel 255 127")
        assert "to (255, 127)" in str(image.border_subtitle)
        # With the pane out of sight, too, and in its middle.
        await seen.pilot.resize_terminal(*SMALL)
        await seen.enter("pixel 100 60")
        await seen.press("5")
        assert str(image.border_subtitle).startswith("(60, ")

    told(story, example("mandelbrot/mandelbrot", width=256, height=128))


@pytest.mark.parametrize("size", SMALL_FIRST)
def test_all_images_of_a_launch_are_shown_one_after_the_other(size: tuple[int, int]) -> None:
    async def story(seen: Seen) -> None:
        pane, titles = seen.app.query_one(ImagePane), []
        await seen.press("5")
        for _ in range(3):
            titles.append(pane.border_title)
            await seen.press("o")
        assert titles == ["Output 0", "Input 0", "Output 0"]

    told(story, example("transpose/transpose"), size)


@pytest.mark.long
def test_the_command_line_recalls_and_completes_its_story(tmp_path: Path) -> None:
    async def story(seen: Seen) -> None:
        assert seen.rows("log")[0] == "as it began"
        await seen.enter("frob")
        assert any(row == "error: there is no command frob; `help` lists them" for row in seen.rows("log"))
        await seen.enter("stepi 2")
        await seen.pilot.press("colon", "up", "up", "down", "enter")
        await seen.settled()
        assert seen.app.session.position.step == 4
        await seen.pilot.press(*"quit", "enter")
        await seen.settled()

    assert told(story, program(DIVERGENT, tmp_path)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("ending", [pytest.param("key", marks=pytest.mark.long), "signal"])
def test_on_a_terminal_it_ends_and_leaves_the_terminal_as_it_was(tmp_path: Path, ending: str) -> None:
    program(DIVERGENT, tmp_path)
    with terminal("debug", str(tmp_path / "job.toml"), "--screen", kind="xterm-256color") as user:
        user.until("\x1b[?1049h")
        user.until("wrong:")
        if ending == "key":
            user.type("q")
        else:
            user.process.send_signal(signal.SIGTERM)
        user.until("\x1b[?1049l")
        assert user.ended() == (0 if ending == "key" else 128 + signal.SIGTERM)


def test_without_a_terminal_one_line_says_so(tmp_path: Path) -> None:
    program(DIVERGENT, tmp_path)
    assert "--screen: there is no terminal" in error_line("debug", tmp_path / "job.toml", "--screen")
