"""One job at a time; what is newer ends what is older; nothing is left when the server ends."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Timer

import pytest

from ctm.sim.explore import explorer as module
from ctm.sim.explore import models
from ctm.sim.explore.explorer import Explorer, explored
from ctm.sim.explore.limits import GIVEN_UP, Limits, Worker, members
from ctm.sim.explore.request import Explored, Request

REQUEST = Request(text="    OUT o0 = MOV(r0)\n", name="k.s")
SLOW = "import sys, time; sys.stdin.read(); time.sleep({seconds}); print('{{}}')"


def slow(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(module, "_COMMAND", (sys.executable, "-c", SLOW.format(seconds=seconds)))


def test_a_response_comes_from_another_process() -> None:
    (program,) = explored(REQUEST).programs
    assert [each.text for each in program.instructions] == ["OUT o0 = MOV(r0) sem_wait"]


def test_one_job_runs_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    slow(monkeypatch, 0.2)
    inner = Worker.ask
    running, most = [0], [0]

    def counted(self: Worker, *arguments: object) -> bytes:
        running[0] += 1
        most[0] = max(most[0], running[0])
        try:
            return inner(self, *arguments)  # type: ignore[arg-type]
        finally:
            running[0] -= 1

    monkeypatch.setattr(Worker, "ask", counted)
    one = Explorer()
    with ThreadPoolExecutor() as threads:
        found = list(threads.map(lambda _: one.explored(REQUEST, Event()), range(3)))
    one.close()
    assert found == [Explored()] * 3 and most == [1]


def test_what_is_newer_ends_what_is_older(monkeypatch: pytest.MonkeyPatch) -> None:
    slow(monkeypatch, 9)
    one, stop = Explorer(), Event()
    Timer(0.2, stop.set).start()
    begin = time.monotonic()
    assert one.explored(REQUEST, stop).failure == GIVEN_UP
    one.close()
    assert time.monotonic() - begin < 4


def test_nothing_is_left_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    slow(monkeypatch, 9)
    one = Explorer()
    one.prepare()
    assert one._next is not None
    session = one._next._process.pid
    with ThreadPoolExecutor() as threads:
        response = threads.submit(one.explored, REQUEST, Event())
        time.sleep(0.2)
        one.close()
        assert response.result().failure == GIVEN_UP
    assert members(session) == []
    assert one.explored(REQUEST, Event()).failure


def test_a_malformed_response_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_COMMAND", (sys.executable, "-c", "import sys; sys.stdin.read(); print('[1')"))
    assert explored(REQUEST, Limits()).failure == "the response could not be read"


def test_a_machine_is_compiled_once_and_ends_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_COMMAND", (sys.executable, "-c", "import time; time.sleep(9)"))
    there = models.Models()
    assert not there.is_there("r5xx") and not there.is_there("r700") and there.is_looked_for("r5xx")
    assert there._running is not None
    session = there._running[1].pid
    there.close()
    assert members(session) == []


def test_a_machine_that_cannot_be_compiled_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_COMMAND", (sys.executable, "-c", "import sys; sys.exit('a package is missing')"))
    there = models.Models()
    assert not there.is_there("r5xx")
    while there.is_looked_for("r5xx"):
        time.sleep(0.01)
    assert there.problem("r5xx") == "a package is missing" and not there.is_there("r5xx")
