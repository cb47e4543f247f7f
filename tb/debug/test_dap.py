"""Editors: the Debug Adapter Protocol, with a client of another project, checked by the specification's classes."""

import io
import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ctm.examples.catalogue import FOLDER
from ctm.sim.debug.dap.adapter import Adapter, Opened
from ctm.sim.debug.dap.arguments import Arguments
from ctm.sim.debug.dap.channel import Channel, ProtocolError
from ctm.sim.debug.dap.server import Server
from ctm.tb.cli.invocation import error_line
from ctm.tb.cli.processes import running
from ctm.tb.debug.editor import Editor, editor
from ctm.tb.debug.jobs import DIVERGENT, LOOP_BY_COLUMN, program, race
from ctm.tb.draws.recorded import make_job

FAULT = DIVERGENT.replace("MAD(r0.r, r0.g, 0.0)", "MAD(r0.r, r0.g, 0.0) {rgba_inst.rgb_op=15}")
LONG = "REP i0\n" * 4 + "ALU r1.r = ADD(r1.r, c0.b)\n" + "ENDREP\n" * 4 + "OUT o0 = MOV(r1)\n"
CALL = """.start main
.end done
twice:
    ALU r1.r = ADD(r1.r, r1.r)
    RET
main:
    ALU r1.r = MOV(r0.r)
    CALL twice
done:
    OUT o0 = MOV(r1)
"""


def message(content: object) -> bytes:
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(text), text)


def test_a_session_as_an_editor_has_it(tmp_path: Path) -> None:
    program(DIVERGENT, tmp_path)
    source = {"path": str(tmp_path / "p.s")}
    with editor() as seen:
        capabilities = seen.request(1).body
        assert capabilities.supportsStepBack and capabilities.supportsConditionalBreakpoints
        assert "no job was launched" in seen.rejected("scopes", frameId=1)
        seen.ask("launch", job=str(tmp_path / "job.toml"), preset="tiny")
        seen.event("initialized")
        wanted = [{"line": 1}, {"line": 6, "condition": "i == 5"}, {"line": 99}, {"line": 6, "condition": "nothing"}]
        found = seen.ask("setBreakpoints", source=source, breakpoints=wanted)["breakpoints"]
        assert [each["verified"] for each in found] == [True, True, False, False]
        # A line without code is moved to the next one with code.
        assert [each.get("line") for each in found[:2]] == [3, 6] and "has no code" in found[2]["message"]
        assert "nothing" in found[3]["message"] and found[0]["source"]["path"] == source["path"]
        seen.ask("setBreakpoints", source=source, breakpoints=wanted[1:2])
        labels = [{"name": "wrong", "condition": "i > 6"}]
        (label,) = seen.ask("setFunctionBreakpoints", breakpoints=labels)["breakpoints"]
        assert label["verified"] and label["line"] == 10
        seen.ask("setExceptionBreakpoints", filters=["fault"])
        seen.ask("configurationDone")
        stop = seen.stopped()
        assert stop["reason"] == "breakpoint" and stop["hitBreakpointIds"] and stop["frame"]["line"] == 6
        assert stop["frame"]["source"]["path"] == source["path"]
        assert seen.ask("threads")["threads"] == [{"id": 1, "name": "wavefront 2 of 8, (5, 0)"}]
        registers = seen.variables("Registers")
        assert registers["r0"]["value"] == "(5, 0, 0, 1)"
        assert seen.children(registers["r0"]["variablesReference"])["r"]["value"] == "5 (0x40a00000)"
        assert seen.variables("Masks")["active"]["value"] == ".1.1"
        assert seen.variables("Constants")["c0"]["value"] == "(0.5, 2, 1, 0)"
        assert seen.variables("Domain")["lane"]["value"] == "1"
        seen.ask("continue", threadId=1)
        stop = seen.stopped()
        assert stop["reason"] == "function breakpoint" and stop["hitBreakpointIds"] == [label["id"]]
        seen.ask("setFunctionBreakpoints", breakpoints=[])
        seen.ask("setBreakpoints", source=source)
        seen.ask("continue", threadId=1)
        assert seen.event("exited") == {"exitCode": 0}
        seen.event("terminated")
        assert "the job has ended" in seen.rejected("stackTrace", threadId=1)
        # A breakpoint that is set now is located when the job begins again.
        (later,) = seen.ask("setBreakpoints", source=source, breakpoints=[{"line": 8}])["breakpoints"]
        assert not later["verified"]
        seen.ask("restart")
        changed = seen.event("breakpoint")
        assert changed["reason"] == "changed" and changed["breakpoint"]["id"] == later["id"]
        assert seen.stopped()["hitBreakpointIds"] == [later["id"]]


def test_a_line_of_a_later_program_stops_and_is_verified_then() -> None:
    path = FOLDER / "r700" / "compaction"
    with editor(path / "compaction.toml") as seen:
        seen.launched()
        source = {"path": str(path / "scatter.s")}
        (later,) = seen.ask("setBreakpoints", source=source, breakpoints=[{"line": 1}])["breakpoints"]
        assert not later["verified"] and later["message"] == "its program has not run yet"
        seen.ask("continue", threadId=1)
        changed = seen.event("breakpoint")["breakpoint"]
        assert changed["id"] == later["id"] and changed["verified"] and changed["source"]["name"] == "scatter.s"
        stopped = seen.stopped()
        assert stopped["hitBreakpointIds"] == [later["id"]] and stopped["frame"]["line"] == changed["line"]


def test_steps_forward_and_back(tmp_path: Path) -> None:
    program(DIVERGENT, tmp_path)
    with editor(tmp_path / "job.toml") as seen:
        assert seen.launched()["reason"] == "entry"
        for command, more, line in (
            ("next", {}, 4), ("stepIn", {"granularity": "instruction"}, 5), ("next", {}, 6), ("stepBack", {}, 5),
            ("stepBack", {"granularity": "instruction"}, 4), ("reverseContinue", {}, 3),
        ):  # fmt: skip
            seen.ask(command, threadId=1, **more)
            assert seen.stopped()["frame"]["line"] == line, command
        seen.ask("stepOut", threadId=1)
        stop = seen.stopped()
        assert "has ended" in stop["description"] and stop["frame"]["name"] == "p.s, ended"
        seen.ask("next", threadId=1)
        seen.stopped()
        assert seen.variables("Domain")["wavefront"]["value"] == "1 of 8"
        wanted = [{"instructionReference": "0x2", "offset": 1}]
        (one,) = seen.ask("setInstructionBreakpoints", breakpoints=wanted)["breakpoints"]
        assert one["verified"] and one["line"] == 6 and one["instructionReference"] == "0x3"
        seen.ask("continue", threadId=1)
        assert seen.stopped()["reason"] == "instruction breakpoint"
        rows = seen.ask("disassemble", memoryReference="0x0", instructionOffset=-1, instructionCount=12)["instructions"]
        assert len(rows) == 12 and rows[0]["presentationHint"] == rows[11]["presentationHint"] == "invalid"
        assert rows[1]["instruction"] == "ALU r1.r = MUL(r0.r, c0.r)" and rows[1]["line"] == 3


def test_values_are_looked_at_and_set(tmp_path: Path) -> None:
    program(DIVERGENT, tmp_path)
    with editor(tmp_path / "job.toml") as seen:
        seen.launched()
        r2 = seen.variables("Registers")["r2"]["variablesReference"]
        assert seen.ask("setVariable", variablesReference=r2, name="g", value="1.5")["value"] == "1.5 (0x3fc00000)"
        assert seen.ask("evaluate", expression="r2.g + 1", context="hover")["result"] == "2.5"
        assert seen.ask("evaluate", expression="r2", context="watch")["variablesReference"] == r2
        assert "no register r99" in seen.rejected("evaluate", expression="r99", context="hover")
        assert "is no value" in seen.rejected("setVariable", variablesReference=r2, name="g", value="x")
        domain = 4
        assert "only `lane`" in seen.rejected("setVariable", variablesReference=domain, name="i", value="3")
        seen.ask("setVariable", variablesReference=domain, name="lane", value="3")
        assert seen.stopped()["reason"] == "goto"
        assert seen.variables("Registers")["r0"]["value"] == "(1, 1, 0, 1)"
        assert seen.ask("evaluate", expression="info breakpoints", context="repl")["result"] == "there is no breakpoint"
        assert "there is no command frob" in seen.rejected("evaluate", expression="frob", context="repl")
        said = seen.ask("evaluate", expression="pixel 4 2", context="repl")["result"]
        assert "(4, 2)" in said and seen.stopped()["reason"] == "goto"
        assert seen.ask("threads")["threads"][0]["name"] == "wavefront 6 of 8, (4, 2)"
        seen.ask("evaluate", expression="watch r2.r", context="repl")
        seen.ask("continue", threadId=1)
        assert seen.stopped()["reason"] == "data breakpoint"
        seen.ask("evaluate", expression="quit", context="repl")
        seen.event("terminated")


@pytest.mark.long
def test_a_draw_is_stepped_through_its_programs(tmp_path: Path) -> None:
    with editor(make_job("gs_pass", "sfn", tmp_path)) as seen:
        assert seen.launched()["reason"] == "entry"
        domain = seen.variables("Domain")
        assert domain["stage"]["value"] == "launch 0 (ES of draw 0)" and domain["thread"]["value"] == "vertex 0"
        assert seen.variables("Registers")["R0"]["value"].startswith("(0, ")
        # Wavefronts of each program, one after the other.
        stages = [domain["stage"]["value"]]
        while not stages[-1].startswith("launch 3"):
            for command in ("stepOut", "next"):
                seen.ask(command, threadId=1)
                seen.stopped()
            stages.append(seen.variables("Domain")["stage"]["value"])
        assert [stage.split("(")[1][:2] for stage in dict.fromkeys(stages)] == ["ES", "GS", "DC", "PS"]
        pixels = [{"name": "(25, 12)"}, {"name": "(0, 0)"}]
        one, none = seen.ask("setFunctionBreakpoints", breakpoints=pixels)["breakpoints"]
        assert one["verified"] and not none["verified"] and "covers the pixel (0, 0)" in none["message"]
        seen.ask("continue", threadId=1)
        assert seen.stopped()["reason"] == "function breakpoint"
        assert seen.variables("Domain")["thread"]["value"].startswith("(25, 12) of emitted primitive 0 (vertex 0 that")
        found = seen.ask("evaluate", expression="CB1[0].x", frameId=1, context="watch")
        assert found["result"].startswith("1 ")
        why = seen.ask("evaluate", expression="why o0[25,12].x", frameId=1, context="repl")["result"]
        assert "(GS of draw 0), primitive 0: ring dword" in why and "vertex buffer 0 (element 0, byte 0)" in why
        seen.ask("reverseContinue", threadId=1)
        assert seen.stopped()["frame"]
        rows = seen.ask("disassemble", memoryReference="0x0", instructionOffset=0, instructionCount=4)["instructions"]
        assert any(row["instruction"] for row in rows)
        seen.ask("setFunctionBreakpoints", breakpoints=[])
        seen.ask("continue", threadId=1)
        assert seen.event("exited") == {"exitCode": 0}


def test_calls_are_frames(tmp_path: Path) -> None:
    program(CALL, tmp_path)
    with editor(tmp_path / "job.toml") as seen:
        seen.launched()
        seen.ask("evaluate", expression="break twice", context="repl")
        seen.ask("continue", threadId=1)
        seen.event("stopped")
        frames = seen.ask("stackTrace", threadId=1)
        assert [each["line"] for each in frames["stackFrames"]] == [4, 10] and frames["totalFrames"] == 2
        assert len(seen.ask("stackTrace", threadId=1, startFrame=1, levels=1)["stackFrames"]) == 1


@pytest.mark.parametrize("kind", ["fault", pytest.param("hang", marks=pytest.mark.long), "race"])
def test_faults_and_hazards_are_exceptions(tmp_path: Path, kind: str) -> None:
    race(tmp_path) if kind == "race" else program(FAULT if kind == "fault" else LOOP_BY_COLUMN, tmp_path)
    name, line, launch = dict[str, tuple[str, int, dict[str, Any]]]({
        "fault": ("ILLEGAL_INSTRUCTION", 10, {}), "hang": ("WATCHDOG", 5, {"watchdog": 20}),
        "race": ("HAZARD", 13, {"hazards": True}),
    })[kind]  # fmt: skip
    with editor(tmp_path / "job.toml") as seen:
        seen.launched(**launch)
        seen.ask("continue", threadId=1)
        stop = seen.stopped()
        assert (stop["reason"], stop["description"], stop["frame"]["line"]) == ("exception", name, line)
        found = seen.ask("exceptionInfo", threadId=1)
        assert found["exceptionId"] == name and found["description"] == stop["text"]
        assert any(getattr(each, "event", "") == "output" and stop["text"] in each.body.output for each in seen.log)
        if kind == "fault":
            seen.ask("next", threadId=1)
            assert "the wavefront failed" in seen.event("output")["output"]
            assert seen.stopped()["frame"]["line"] == line
            seen.ask("setExceptionBreakpoints", filters=[])
            seen.ask("restart")
            seen.stopped()
            seen.ask("continue", threadId=1)
            assert seen.event("exited") == {"exitCode": 1}
        seen.ask("stepBack", threadId=1)
        seen.event("stopped")
        assert "did not stop at a fault" in seen.rejected("exceptionInfo", threadId=1)


def test_an_interrupt_ends_what_runs_and_other_requests_get_responses(tmp_path: Path) -> None:
    program(LONG, tmp_path, width=512, height=512)
    job = tmp_path / "job.toml"
    job.write_text(job.read_text().replace("[5, 0, 1]", "[99, 0, 1]"))
    with editor(job) as seen:
        seen.launched()
        seen.ask("evaluate", expression="stepi 3", context="repl")
        seen.event("stopped")
        # One that comes while nothing runs ends nothing.
        seen.ask("pause", threadId=1)
        seen.ask("evaluate", expression="lane 2", context="repl")
        seen.event("stopped")
        for delay in (0.3, 0.0):
            seen.ask("continue", threadId=1)
            time.sleep(delay)
            assert seen.ask("threads")["threads"]
            seen.ask("pause", threadId=1)
            assert seen.stopped()["reason"] == "pause"
            domain = seen.variables("Domain")
            assert (domain["step"]["value"], domain["lane"]["value"]) == ("3", "2")
        # The end waits for nothing.
        seen.ask("continue", threadId=1)


@pytest.mark.slow
def test_an_editor_s_end_ends_all(tmp_path: Path) -> None:
    program(LONG, tmp_path, width=512, height=512)
    command = [sys.executable, "-m", "ctm", "debug", "--dap", str(tmp_path / "job.toml")]
    commands = ("initialize", "launch", "configurationDone", "terminate")
    requests = [{"type": "request", "seq": number, "command": each} for number, each in enumerate(commands, 1)]
    given = b"".join(map(message, requests))
    result = subprocess.run(command, input=given, capture_output=True, timeout=120, check=False)
    assert (result.returncode, result.stderr) == (0, b"") and b'"terminated"' in result.stdout


@pytest.mark.parametrize(
    ("given", "problem"),
    [(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "begins with its Content-Length"),
     (b"\r\n\r\n", "begins with its Content-Length"), (b"Content-Length: x\r\n\r\n", "bytes"),
     (b"Content-Length: 99999999999\r\n\r\n", "16,777,216 bytes"), (message(b"nothing"), "no JSON"),
     (message([1]), "no request"), (message({"type": "event"}), "no request"), (message(b"[" * 100_000), "no JSON")],
)  # fmt: skip
def test_what_is_no_message_is_said(given: bytes, problem: str) -> None:
    with pytest.raises(ProtocolError, match=problem):
        list(Channel(io.BytesIO(given), io.BytesIO()).requests())


def test_a_stream_that_ends_within_a_message_has_ended() -> None:
    whole = message({"type": "request", "seq": 1, "command": "initialize"})
    for end in (0, 5, 18, len(whole) - 3):
        assert len(list(Channel(io.BytesIO(whole + whole[:end]), io.BytesIO()).requests())) == 1


def test_what_is_no_message_is_one_line() -> None:
    command = [sys.executable, "-m", "ctm", "debug", "--dap"]
    result = subprocess.run(command, input=b"Hello\n", capture_output=True, timeout=120, check=False)
    assert result.returncode == 2 and result.stdout == b"" and result.stderr.count(b"\n") == 1
    assert result.stderr.startswith(b"error: --dap: standard input: a message begins with its Content-Length")


def test_bad_requests_and_launches_are_errors_of_one_line(tmp_path: Path) -> None:
    program(DIVERGENT, tmp_path)
    with editor() as seen:
        seen.request(1)
        for arguments, problem in (
            ({}, "argument job is missing"), ({"job": 3}, "argument job: a text is wanted, not 3"),
            ({"job": str(tmp_path / "none.toml")}, "none.toml"), ({"job": str(tmp_path)}, str(tmp_path)),
            ({"job": str(tmp_path / "job.toml"), "preset": "odd"}, "there is no preset 'odd'"),
            ({"job": str(tmp_path / "job.toml"), "set": ["array.lanes=3"]}, "array.lanes"),
            ({"job": str(tmp_path / "job.toml"), "watchdog": True}, "a number is wanted"),
            ({"job": "a\0b"}, "has the character '\\x00'"), ({"job": "\ud800"}, "has the character"),
        ):  # fmt: skip
            assert problem in seen.rejected("launch", **arguments)
        seen.ask("launch", job=str(tmp_path / "job.toml"), stopOnEntry=True)
        assert "launched already" in seen.rejected("launch", job=str(tmp_path / "job.toml"))
        seen.ask("configurationDone")
        assert "done already" in seen.rejected("configurationDone")
        assert "request readMemory is not known" in seen.rejected("readMemory", memoryReference="0x0", count=4)
        assert "argument variablesReference is missing" in seen.rejected("variables")
        assert "there are no variables 77" in seen.rejected("variables", variablesReference=77)
        assert "'x' is no memory reference" in seen.rejected("disassemble", memoryReference="x", instructionCount=1)
        (found,) = seen.ask("setBreakpoints", source={"path": "/etc/hosts"}, breakpoints=[{"line": 3}])["breakpoints"]
        assert not found["verified"] and "has no code of /etc/hosts" in found["message"]


def test_a_mistake_of_the_adapter_leaves_no_editor_waiting() -> None:
    def mistake(_: Arguments) -> Opened:
        raise ZeroDivisionError("planted")

    requests = [
        {"type": "request", "seq": number, "command": each} for number, each in enumerate(("launch", "threads"), 1)
    ]
    sent = io.BytesIO()
    channel = Channel(io.BytesIO(b"".join(map(message, requests))), sent)
    Server(channel, Adapter(channel, mistake)).serve()
    assert b"request launch failed: ZeroDivisionError: planted" in sent.getvalue() and b'"threads"' in sent.getvalue()


@pytest.mark.slow
def test_a_closed_stream_is_one_line() -> None:
    for closed in ("<&-", ">&-"):
        command = f"exec {sys.executable} -m ctm debug --dap {closed}"
        result = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=120, check=False)
        assert result.returncode == 2 and "one of them is closed" in result.stderr and result.stderr.count("\n") == 1


def test_options_that_do_not_go_together() -> None:
    assert "a job is missing" in error_line("debug")
    assert "--port: only an editor connects" in error_line("debug", "--port", "0")
    assert "--screen: with --dap" in error_line("debug", "--dap", "--screen")


def test_on_a_port_one_editor_comes_after_the_other(tmp_path: Path) -> None:
    program(DIVERGENT, tmp_path)
    command = [sys.executable, "-m", "ctm", "debug", "--dap", "--port", "0", str(tmp_path / "job.toml")]
    with running(command) as process:
        assert process.stdout is not None and process.stderr is not None
        said = process.stdout.readline()
        assert said.startswith("an editor may connect to 127.0.0.1:")
        port = int(said.partition(":")[2].partition(";")[0])
        with socket.create_connection(("127.0.0.1", port)) as page:
            page.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert page.recv(100) == b""
        assert "begins with its Content-Length" in process.stderr.readline()
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                seen = Editor(connection.fileno(), connection.fileno())
                assert seen.launched()["frame"]["line"] == 3
                seen.ask("disconnect")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 128 + signal.SIGINT
        taken = socket.create_server(("127.0.0.1", 0))
        with taken:
            assert "0 takes a free one" in error_line("debug", "--dap", "--port", taken.getsockname()[1])


@pytest.mark.slow
def test_arguments_that_a_launch_does_not_have_are_named(tmp_path: Path) -> None:
    program(DIVERGENT, tmp_path)
    own = {"type": "ctm", "request": "launch", "name": "x", "__sessionId": "1", "presentation": {}, "noDebug": False}
    known = {"preset": "tiny", "watchdog": 5000, "hazards": False, "engine": "golden", "set": ["array.rate=1"]}
    with editor() as seen:
        seen.launched(job=str(tmp_path / "job.toml"), **known, **own)
        assert not [each for each in seen.log if getattr(each, "event", None) == "output"]
    with editor() as seen:
        seen.request(1)
        wrong = {"stopOnEnty": True, "pixel": [1, 2], "watch": None, "watchdogs": 3}
        assert "argument job is missing" in seen.rejected("launch", **wrong)
        said = [each.body.output for each in seen.log if getattr(each, "event", None) == "output"]
    assert said == [
        "warning: ignored: there is no argument of launch stopOnEnty; did you mean stopOnEntry?\n",
        "warning: ignored: there is no argument of launch pixel; there is: job, preset, set, engine, watchdog, "
        "hazards, stopOnEntry; the console has a command of this name\n",
        "warning: ignored: there is no argument of launch watchdogs; did you mean watchdog?\n",
    ]
