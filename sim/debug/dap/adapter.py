"""What requests of the protocol do to a session.

The wavefront that is looked at is the one thread. The response to a request that executes instructions is sent before.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ctm.sim.debug.cancellation import Cancelled
from ctm.sim.debug.console import Console
from ctm.sim.debug.dap.arguments import LAUNCH, Arguments
from ctm.sim.debug.dap.breakpoints import Breakpoints
from ctm.sim.debug.dap.channel import Channel
from ctm.sim.debug.dap.code import Frames
from ctm.sim.debug.dap.sources import Sources
from ctm.sim.debug.dap.values import Values
from ctm.sim.debug.error import DebugError, unknown
from ctm.sim.debug.event import Event
from ctm.sim.debug.session import Session
from ctm.sim.debug.walk import Position
from ctm.sim.fault import MachineError
from ctm.sim.jobs.loading import LoadedJob

_THREAD = 1
_FAULT = "fault"
CAPABILITIES = {
    "supportsConfigurationDoneRequest": True, "supportsConditionalBreakpoints": True,
    "supportsFunctionBreakpoints": True, "supportsInstructionBreakpoints": True, "supportsDisassembleRequest": True,
    "supportsSteppingGranularity": True, "supportsStepBack": True, "supportsSetVariable": True,
    "supportsEvaluateForHovers": True, "supportsExceptionInfoRequest": True, "supportsRestartRequest": True,
    "supportsTerminateRequest": True,
    "exceptionBreakpointFilters": [{"filter": _FAULT, "label": "Faults of the machine", "default": True}],
}  # fmt: skip
_Body = dict[str, Any] | None


class Opened(NamedTuple):
    """A session with its job."""

    session: Session
    job: LoadedJob


class _Launched:
    """What there is from the launch on."""

    def __init__(self, opened: Opened, first_line: int) -> None:
        self.session = opened.session
        self.sources = Sources([opened.job.path.parent, *(each.program.key[0].parent for each in opened.job.launches)])
        self.values = Values(opened.session)
        self.breakpoints = Breakpoints(opened.session, self.sources, first_line)
        self.frames = Frames(opened.session, self.sources, first_line)
        self.said: list[str] = []
        self.console = Console(opened.session, self.said.append)


class Adapter:
    """Carries out requests, one after the other, in one thread; what it tells goes to the channel.

    `open_session` opens what the arguments of a launch name; DebugError: it cannot.
    """

    def __init__(self, channel: Channel, open_session: Callable[[Arguments], Opened]) -> None:
        self._channel, self._open = channel, open_session
        self._launched: _Launched | None = None
        self._first_line = 1
        self._has_responded = False
        self._stops_on_entry = False
        self._is_configured = False
        self._stops_at_faults = True
        self._exception: dict[str, Any] | None = None
        self._then: Callable[[], None] | None = None
        """What is done after the response."""
        self.thread_name = "wavefront"
        """Of the one thread, as it was when it stopped last; any thread may read it."""
        self._requests: dict[str, Callable[[Arguments], _Body]] = {
            "initialize": self._initialize, "launch": self._launch, "configurationDone": self._configuration_done,
            "setBreakpoints": lambda given: {"breakpoints": self._job.breakpoints.of_source(given)},
            "setFunctionBreakpoints": lambda given: {"breakpoints": self._job.breakpoints.of_functions(given)},
            "setInstructionBreakpoints": lambda given: {"breakpoints": self._job.breakpoints.of_instructions(given)},
            "setExceptionBreakpoints": self._set_exception_breakpoints,
            "stackTrace": lambda given: self._job.frames.stack(given),
            "scopes": lambda _: {"scopes": self._job.values.scopes()},
            "variables": lambda given: {
                "variables": self._job.values.variables(given.required("variablesReference", int))
            },
            "setVariable": self._set_variable, "evaluate": self._evaluate,
            "continue": lambda _: self._moving(self._session.go_on, allThreadsContinued=True),
            "next": self._step, "stepIn": self._step, "stepBack": self._step_back,
            "stepOut": lambda _: self._moving(self._session.finish),
            "reverseContinue": lambda _: self._moving(self._session.back_on),
            "restart": self._restart, "terminate": self._terminate, "exceptionInfo": self._exception_info,
            "disassemble": lambda given: self._job.frames.instructions(given),
            "source": lambda given: {"content": self._job.sources.text(given.required("sourceReference", int))},
        }  # fmt: skip

    def handle(self, request: dict[str, Any]) -> None:
        """Carry out a request, and what it sets going."""
        command, self._then, self._has_responded = request["command"], None, False
        try:
            if command not in self._requests:
                raise DebugError(f"request {command} is not known here")
            body = self._requests[command](Arguments(request.get("arguments")))
        except (DebugError, MachineError) as error:
            self._channel.reject(request, str(error))
            return
        self._has_responded = True
        self._channel.respond(request, body)
        if self._then is not None:
            self._then()

    def fail(self, request: dict[str, Any], error: Exception) -> None:
        """Of a mistake in here: it must not leave an editor waiting."""
        problem = f"request {request['command']} failed: {type(error).__name__}: {error}"
        if self._has_responded:
            self._say(problem, "stderr")
            self._channel.tell("terminated")
        else:
            self._channel.reject(request, problem)

    def cancel(self) -> None:
        """Of any thread: end what runs; the session will stand where that began."""
        if self._launched is not None:
            self._launched.session.cancellation.request()

    def clear(self) -> None:
        """Of any thread: nothing runs that could be ended."""
        if self._launched is not None:
            self._launched.session.cancellation.clear()

    def end(self) -> None:
        """Of any thread: end what runs, for ever."""
        if self._launched is not None:
            self._launched.session.cancellation.end()

    def close(self) -> None:
        """End the session; nothing runs any more."""
        if self._launched is not None:
            self._launched.session.close()

    @property
    def _job(self) -> _Launched:
        if self._launched is None:
            raise DebugError("no job was launched")
        return self._launched

    @property
    def _session(self) -> Session:
        return self._job.session

    # Beginning and ending.

    def _initialize(self, given: Arguments) -> _Body:
        self._first_line = 0 if given.optional("linesStartAt1", bool) is False else 1
        return CAPABILITIES

    def _launch(self, given: Arguments) -> _Body:
        if self._launched is not None:
            raise DebugError("a job was launched already; restart begins it again")
        self._stops_on_entry = given.optional("stopOnEntry", bool) or False
        for name in given.ignored(LAUNCH):
            console = "; the console has a command of this name" if name in Console.commands() else ""
            self._say(f"warning: ignored: {unknown('argument of launch', name, LAUNCH)}{console}", "important")
        opened = self._open(given)
        self._launched = _Launched(opened, self._first_line)
        for warning in opened.job.warnings:
            self._say(f"warning: {warning}", "important")
        # From here on lines and labels are known.
        self._then = lambda: self._channel.tell("initialized")
        return None

    def _configuration_done(self, _: Arguments) -> _Body:
        assert self._job
        if self._is_configured:
            raise DebugError("the configuration was done already")
        self._is_configured = True
        self._then = self._begin
        return None

    def _begin(self) -> None:
        self._renew()
        if self._session.result is not None:
            # It has no wavefront, or was moved to its end before.
            self._say("the job has ended", "important")
            self._channel.tell("terminated")
        elif self._stops_on_entry:
            self._stopped("entry")
        else:
            self._move(self._session.go_on)

    def _restart(self, _: Arguments) -> _Body:
        assert self._session
        self._then = self._begin_again
        return None

    def _begin_again(self) -> None:
        try:
            self._session.restart()
        except (Cancelled, MachineError) as error:
            self._say(str(error) or "interrupted", "important")
            self._channel.tell("terminated")
        else:
            self._begin()

    def _terminate(self, _: Arguments) -> _Body:
        self._then = lambda: self._channel.tell("terminated")
        return None

    # Going on and back.

    def _step(self, given: Arguments) -> _Body:
        by_instruction = given.optional("granularity", str) == "instruction"
        return self._moving(self._session.step if by_instruction else self._session.step_line)

    def _step_back(self, given: Arguments) -> _Body:
        by_instruction = given.optional("granularity", str) == "instruction"
        return self._moving(self._session.back if by_instruction else self._session.back_line)

    def _moving(self, action: Callable[[], Event], **body: Any) -> _Body:
        assert self._session.position
        self._then = lambda: self._move(action)
        return body

    def _move(self, action: Callable[[], Event]) -> None:
        """Execute, and tell where it stopped."""
        session = self._session
        before, lane = session.position, session.lane
        self._exception = None
        try:
            event = action()
        except (DebugError, MachineError) as error:
            self._say(str(error), "important")
            event = Event("step")
        except Cancelled:
            self._return(before, lane)
            return
        self._tell(event)

    def _return(self, before: Position, lane: int) -> None:
        """Go to where what was cancelled began."""
        try:
            self._session.go_afresh(before)
        except Cancelled:
            # It ends.
            return
        self._session.lane = lane
        self._stopped("pause", description="Interrupted; it is where the command began")

    def _tell(self, event: Event) -> None:
        """Tell why it stopped."""
        if event.reason == "finished" or (event.error is not None and not self._stops_at_faults):
            self._say("the job has ended" if event.error is None else f"fault: {event.error}", "important")
            self._channel.tell("exited", exitCode=0 if event.error is None else 1)
            self._channel.tell("terminated")
        elif event.error is not None:
            self._stopped_by(event.error.status.name, str(event.error))
        elif event.reason == "hazard" and event.stop is not None:
            self._stopped_by("HAZARD", event.stop.text)
        elif event.stop is not None:
            reason, identifiers = self._job.breakpoints.stopped(event.stop)
            self._stopped(reason, hitBreakpointIds=identifiers)
        elif event.reason == "end":
            self._stopped("step", description="The wavefront has ended; its outputs are stored")
        else:
            self._stopped("step")

    def _stopped_by(self, name: str, text: str) -> None:
        self._exception = {"exceptionId": name, "description": text, "breakMode": "always"}
        self._say(text, "important")
        self._stopped("exception", description=name, text=text)

    def _stopped(self, reason: str, **more: Any) -> None:
        session = self._session
        count, lane, batch = len(session.started.order), session.lane, session.wavefront.batch
        self.thread_name = f"wavefront {session.position.wavefront:,} of {count:,}, ({batch.i[lane]}, {batch.j[lane]})"
        self._renew()
        self._channel.tell("stopped", reason=reason, threadId=_THREAD, allThreadsStopped=True, **more)

    def _renew(self) -> None:
        """Another program may run than when breakpoints were set: tell of those that are resolved now."""
        for found in self._job.breakpoints.renewed():
            self._channel.tell("breakpoint", reason="changed", breakpoint=found)

    # Looking and setting.

    def _set_exception_breakpoints(self, given: Arguments) -> _Body:
        self._stops_at_faults = _FAULT in given.required("filters", list)
        return None

    def _exception_info(self, _: Arguments) -> _Body:
        if self._exception is None:
            raise DebugError("it did not stop at a fault or a hazard")
        return self._exception

    def _set_variable(self, given: Arguments) -> _Body:
        reference, name = given.required("variablesReference", int), given.required("name", str)
        found = {"value": self._job.values.set(reference, name, given.required("value", str))}
        if name == "lane":
            # All other values are those of another lane now.
            self._then = lambda: self._stopped("goto")
        return found

    def _evaluate(self, given: Arguments) -> _Body:
        expression = given.required("expression", str)
        if given.optional("context", str) != "repl":
            return self._job.values.evaluated(expression)
        return self._console(expression)

    def _console(self, line: str) -> _Body:
        """Execute a line of the console, which may go somewhere."""
        job, console = self._job, self._job.console
        before = self._position()
        job.said.clear()
        try:
            is_last = console.execute(line)
        except Cancelled:
            is_last = True
        if console.error is not None:
            raise DebugError(console.error)
        if is_last or (before is not None and self._position() is None):
            self._then = lambda: self._channel.tell("terminated")
        elif self._position() != before:
            self._exception = None
            self._then = lambda: self._stopped("goto")
        return {"result": "\n".join(job.said), "variablesReference": 0}

    def _position(self) -> tuple[Position, int] | None:
        session = self._session
        return None if session.result is not None else (session.position, session.lane)

    def _say(self, text: str, category: str) -> None:
        self._channel.tell("output", category=category, output=f"{text}\n")
