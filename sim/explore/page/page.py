"""The page of one browser: a source, what becomes of it, and the steps from one to the other."""

import asyncio
from threading import Event

from nicegui import background_tasks, context, run, ui
from nicegui.events import GenericEventArguments, ValueChangeEventArguments

from ctm.sim.compiler.targets import DEFAULT_TARGET, TARGETS
from ctm.sim.explore import start as starts
from ctm.sim.explore.explorer import Explorer
from ctm.sim.explore.job import isa_of
from ctm.sim.explore.models import Models
from ctm.sim.explore.page import cards, looks
from ctm.sim.explore.page.editors import Listing, SourceEditor, colours_of, language_of
from ctm.sim.explore.request import Explored, Problem, Program, Request, Run
from ctm.sim.explore.start import Start

_DELAY_SECONDS = 0.4
"""Seconds without a key before a source is looked at."""
_POLL, _LOOK = 1.0, 0.1
_NAMES = {"r5xx": "R5xx", "r700": "R700"}


class Page:
    """The page of one browser. `explorer` computes all of its contents."""

    def __init__(self, start: Start, explorer: Explorer, models: Models) -> None:
        self._start, self._explorer, self._models = start, explorer, models
        self._examples = starts.examples()
        self._stop = Event()
        self._programs: tuple[Program, ...] = ()
        self._problems: tuple[Problem, ...] = ()
        self._run: Run | None = None
        self._whole: Run | None = None
        self._notes = {"run": "", "picture": ""}
        self._chosen = 0
        self._is_own_job = False
        self._is_setting = False
        self._is_left = False
        self._wants_model = False
        """Whether the last run took the golden model for want of the machine."""

    def build(self) -> None:
        """Make the elements, and begin."""
        self._client = context.client
        ui.add_css(looks.STYLE)
        self._bar()
        with ui.element("div").classes("ctm-columns"):
            with self._panel() as self._source_title:
                self._source_title.classes("ctm-source")
                self._editor = SourceEditor(self._changed, self._choose)
            self._listings: dict[str, Listing] = {}
            self._remarks: dict[str, ui.element] = {}
            for isa in TARGETS:
                with self._panel(_NAMES[isa]):
                    self._remarks[isa] = ui.element("div").classes("ctm-body")
                    self._listings[isa] = Listing(self._choose)
            self._told = ui.element("div").classes("ctm-told")
            with ui.element("div").classes("ctm-side"):
                self._line = self._card("The line")
                self._summary = self._card("Cycles")
            self._expensive = self._card("Lines that cost most")
            self._pictures = self._card("Output")
        self._job_panel()
        ui.on("darkness", self._darken)
        ui.timer(_POLL, self._look_at_models)
        self._client.on_delete(self._leave)
        background_tasks.create(self._begin())

    def _bar(self) -> None:
        with ui.element("div").classes("ctm-bar"):
            ui.html("<h1>ctm explore</h1>", sanitize=False)
            names = {"": self._start.name, **{title: title for title in self._examples}}
            ui.select(names, value="", label="source", on_change=self._pick).classes("ctm-example").props("dense")
            self._isa = ui.toggle(_NAMES, value=DEFAULT_TARGET, on_change=self._changed_isa).props(
                "dense no-caps toggle-color=blue-9"
            )
            with ui.element("div").classes("ctm-state").props("role=status"):
                self._spinner = ui.spinner(size="1.2em")
                self._state = ui.label().classes("ctm-text").mark("state")

    @staticmethod
    def _panel(title: str = "") -> ui.element:
        panel = ui.element("section").classes("ctm-panel")
        with panel:
            ui.label(title).classes("ctm-title")
        return panel

    def _card(self, title: str) -> ui.element:
        with self._panel(title):
            return ui.element("div").classes("ctm-body")

    def _job_panel(self) -> None:
        with ui.expansion("How it is run").classes("ctm-panel w-full"):
            ui.label(
                "The job: domain, inputs, outputs, constants. Files are looked for in the kernel's folder."
            ).classes("ctm-soft ctm-text")
            self._job = ui.codemirror(language="TOML", theme=looks.LIGHT, on_change=self._changed_job).classes(
                "ctm-job"
            )

    # What the user does.

    async def _begin(self) -> None:
        await self._client.connected()
        with self._client:
            self._open(self._start)
            # Nothing waits for what it says: a computer that is busy may take long.
            ui.run_javascript(looks.WATCH_DARKNESS)

    def _darken(self, event: GenericEventArguments) -> None:
        self._set_theme(bool(event.args))

    def _set_theme(self, dark: bool) -> None:
        editors = (self._editor.element, self._job, *(each.element for each in self._listings.values()))
        for editor in editors:
            editor.theme = looks.DARK if dark else looks.LIGHT

    def _pick(self, event: ValueChangeEventArguments[str]) -> None:
        self._open(starts.of_file(self._examples[event.value]) if event.value else self._start)

    def _open(self, start: Start) -> None:
        self._source, self._chosen, self._run, self._whole = start, 0, None, None
        self._is_setting = True
        self._editor.element.language = language_of(start.name)
        self._editor.element.value = start.text
        self._job.value, self._is_own_job = start.job, bool(start.job)
        isa = isa_of(start.job) if start.job else ""
        self._isa.value = isa if isa in TARGETS else DEFAULT_TARGET
        self._models.is_there(self._isa.value)
        self._is_setting = False
        self._source_title.default_slot.children[0].text = start.name  # type: ignore[attr-defined]
        self._again()

    def _leave(self) -> None:
        """The page is closed."""
        self._is_left = True
        self._stop.set()

    def _changed(self) -> None:
        if not self._is_setting:
            self._again(_DELAY_SECONDS)

    def _changed_isa(self) -> None:
        if not self._is_setting:
            self._again()

    def _changed_job(self) -> None:
        if not self._is_setting:
            self._is_own_job = bool(self._job.value.strip())
            self._again(_DELAY_SECONDS)

    def _choose(self, line: int) -> None:
        self._chosen = line
        self._mark()
        self._show_run()
        for listing in self._listings.values():
            listing.reveal(line)

    # What becomes of the source.

    def _again(self, delay: float = 0.0) -> None:
        """Begin anew with what stands there; what is being computed is given up."""
        self._stop.set()
        if self._is_left:
            return
        self._stop = Event()
        background_tasks.create(self._wait(self._stop, delay))

    async def _wait(self, stop: Event, delay: float) -> None:
        await asyncio.sleep(delay)
        if not stop.is_set():
            with self._client:
                await self._follow(stop)

    async def _follow(self, stop: Event) -> None:
        self._tell("compiling ...", busy=True)
        found = await self._ask(stop)
        if found is None:
            return
        self._take(found)
        if not self._is_runnable():
            self._run = self._whole = None
            self._notes = {"run": "", "picture": ""}
            self._mark()
            self._show_run()
            self._tell("there are errors" if self._problems or any(p.problems for p in found.programs) else "")
            return
        await self._measure(stop)
        if not stop.is_set():
            await self._draw(stop)

    def _is_runnable(self) -> bool:
        return any(each.instructions and each.isa == self._isa.value for each in self._programs)

    async def _measure(self, stop: Event) -> None:
        """Run a sample of the job with a profile, on hardware if it is there."""
        isa = self._isa.value
        while self._models.is_looked_for(isa) and not stop.is_set():
            await asyncio.sleep(_LOOK)
        engine = "rtl" if self._models.is_there(isa) else "golden"
        self._wants_model = engine == "golden"
        self._tell(f"running on engine {engine} ...", busy=True)
        found = await self._ask(stop, engine=engine)
        if found is not None and engine == "rtl" and found.run is None and not found.problems:
            missing = found.failure
            found = await self._ask(stop, engine="golden")
            self._notes["run"] = f"No cycles: on engine rtl {missing}."
        elif engine == "golden":
            problem = self._models.problem(isa)
            waiting = (
                f"No cycles yet: the {_NAMES[isa]} machine is compiled in the background, once, for a few minutes."
            )
            self._notes["run"] = f"No cycles: {problem}" if problem else waiting
        else:
            self._notes["run"] = ""
        if found is None:
            return
        self._run, self._problems = found.run, found.problems
        if found.failure:
            self._notes["run"] = f"It has no profile: {found.failure}."
        self._mark()
        self._show_run()

    async def _draw(self, stop: Event) -> None:
        """Run all of the job for its pictures."""
        if self._problems:
            self._whole = None
            self._notes["picture"] = ""
        else:
            self._tell("running the whole job ...", busy=True)
            found = await self._ask(stop, engine="auto", whole=True)
            if found is None:
                return
            self._whole = found.run
            said = found.failure or "; ".join(each.message for each in found.problems)
            self._notes["picture"] = f"Of the whole job there is none: {said}." if said else ""
        self._show_run()
        self._tell("it does not run to its end" if self._problems else "done")

    async def _ask(self, stop: Event, *, engine: str = "", whole: bool = False) -> Explored | None:
        """The response, None if a newer request has replaced this one."""
        try:
            request = Request(
                text=self._editor.text, name=self._source.name, folder=self._source.folder, engine=engine, whole=whole,
                job=self._job.value if self._is_own_job else "", isa=self._isa.value if engine else "",
            )  # fmt: skip
        except ValueError as error:
            self._tell(str(error))
            return None
        found = await run.io_bound(self._explorer.explored, request, stop)
        return None if stop.is_set() else found

    def _look_at_models(self) -> None:
        """Run again when the machine is there that a run waited for."""
        waits = self._wants_model and self._run is not None and not self._spinner.visible
        if waits and not self._models.problem(self._isa.value) and self._models.is_there(self._isa.value):
            self._again()

    # What is shown.

    def _tell(self, text: str, *, busy: bool = False) -> None:
        self._spinner.visible, self._state.text = busy, text

    def _take(self, found: Explored) -> None:
        if found.failure:
            self._tell(found.failure)
        self._programs, self._problems = found.programs, found.problems
        if not self._is_own_job and found.job != self._job.value:
            self._is_setting = True
            self._job.value = found.job
            self._is_setting = False
        if self._run is not None and self._run.isa != self._isa.value:
            self._run = None
        one = next((each.isa for each in found.programs if each.instructions), "") if len(found.programs) == 1 else ""
        if one and one != self._isa.value:
            self._is_setting = True
            self._isa.value = one
            self._is_setting = False
        self._mark()
        self._show_run()

    def _mark(self) -> None:
        colours = colours_of(self._programs)
        problems = [*self._problems, *(each for program in self._programs for each in program.problems)]
        costs = self._run.lines if self._run is not None else {}
        self._editor.show(colours, problems, costs, self._chosen)
        for isa, listing in self._listings.items():
            program = next((each for each in self._programs if each.isa == isa), None)
            listing.show(program, colours, self._chosen)
            self._show_remarks(isa, program)
        self._told.clear()
        common = [
            *self._problems,
            *(each for program in self._programs if not program.isa for each in program.problems),
        ]
        with self._told:
            for problem in common:
                self._show_problem(problem)

    def _show_remarks(self, isa: str, program: Program | None) -> None:
        box = self._remarks[isa]
        box.clear()
        self._listings[isa].box.visible = program is not None and bool(program.instructions)
        with box:
            if program is None:
                reason = "This source is for the other instruction set, or has errors." if self._programs else "..."
                ui.label(reason).classes("ctm-soft ctm-text")
            for problem in () if program is None else program.problems:
                self._show_problem(problem)
        box.visible = program is None or bool(program.problems)

    def _show_problem(self, problem: Problem) -> None:
        location = f"line {problem.line}: " if problem.line else f"{problem.location}: " if problem.location else ""
        kind = "warning: " if problem.is_warning else ""
        label = ui.label(f"{location}{kind}{problem.message}").classes("ctm-bad")
        if problem.line:
            label.classes("ctm-link").on("click", lambda: self._editor.element.reveal_line(problem.line))

    def _show_run(self) -> None:
        lines = self._editor.text.split("\n")
        text = lines[self._chosen - 1] if 0 < self._chosen <= len(lines) else ""
        whole = self._whole or self._run
        boxes = (self._summary, self._line, self._expensive, self._pictures)
        for box in boxes:
            box.clear()
        with self._summary:
            cards.show_summary(self._run, self._notes["run"])
            if self._run is None and not self._notes["run"]:
                ui.label("Nothing has run yet.").classes("ctm-soft")
        with self._line:
            cards.show_line(self._run, self._chosen if text or self._chosen else 0, f"{self._chosen}: {text.strip()}")
        with self._expensive:
            cards.show_expensive(self._run, lines, self._choose)
        with self._pictures:
            pictures, extent = (whole.pictures, whole.extent) if whole is not None else ((), "")
            nothing = "It has no outputs." if whole is not None else "Pictures stand here when the program has run."
            nothing = "" if pictures else nothing
            cards.show_pictures(pictures, extent, self._notes["picture"] or nothing)
