"""An editor as others wrote it: dap-python sends, and dap-types judges by the specification whatever comes back."""

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dap_types
from dap.client import Client
from dap.handler import Handler
from pydantic import BaseModel

from ctm.tb.cli.processes import running

_PATIENCE = 60.0


class _Judge(Handler):
    """Reads messages with the classes of the specification: those of dap-python take some bodies for messages."""

    def _parse_message(self, data: dict[str, Any]) -> Any:
        name = data["event"] + "Event" if data["type"] == "event" else data["command"] + "Response"
        if data["type"] == "response":
            request = self.client._pending_requests.pop(data["request_seq"])
            assert request.command == data["command"]
            if not data["success"]:
                name = "ErrorResponse"
        message = getattr(dap_types, name[0].upper() + name[1:]).model_validate(data)
        _check_fields(message)
        return message

    def handle_event(self, event: Any) -> Any:
        return event

    def handle_response(self, response: Any) -> Any:
        return response


def _check_fields(value: Any) -> None:
    """No field that the specification does not have."""
    if isinstance(value, BaseModel):
        assert not value.model_extra, (type(value).__name__, value.model_extra)
        for name in type(value).model_fields:
            _check_fields(getattr(value, name))
    elif isinstance(value, list):
        for each in value:
            _check_fields(each)


class Editor:
    """Sends requests and waits for what they bring. `log` has all messages in their order."""

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive = send, receive
        self.client = Client("ctm")
        self.client.handler = _Judge(self.client)
        self.log: list[Any] = []
        self._read = 0

    def request(self, sent: int) -> Any:
        """The response to a request, which `client` makes."""
        os.write(self._send, self.client.send())
        return self._wait(lambda each: getattr(each, "request_seq", None) == sent, keep=True)

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The body of the response to a request that succeeds."""
        response = self.request(self.client.send_request(command, arguments))
        assert response.success, response.message
        body = getattr(response, "body", None)
        return body.model_dump(exclude_none=True) if isinstance(body, BaseModel) else body or {}

    def rejected(self, command: str, **arguments: Any) -> str:
        """What is said of a request that fails: one line."""
        response = self.request(self.client.send_request(command, arguments))
        assert not response.success and response.message == response.body.error.variables["problem"]
        assert "\n" not in response.message
        return str(response.message)

    def event(self, name: str) -> dict[str, Any]:
        """The body of the next event of a name; those before it are passed."""
        found = self._wait(lambda each: getattr(each, "event", None) == name)
        return found.body.model_dump(exclude_none=True) if isinstance(found.body, BaseModel) else found.body or {}

    def stopped(self) -> dict[str, Any]:
        """Where it stopped: the event, and the innermost frame."""
        event = self.event("stopped")
        return {**event, "frame": self.ask("stackTrace", threadId=1)["stackFrames"][0]}

    def launched(self, **arguments: Any) -> dict[str, Any]:
        """Launch with all the ceremony, without breakpoints, to where it stops first."""
        self.request(1)
        self.ask("launch", **{"stopOnEntry": True, **arguments})
        self.event("initialized")
        self.ask("configurationDone")
        return self.stopped()

    def variables(self, scope: str) -> dict[str, dict[str, Any]]:
        """Of a scope, by their names."""
        scopes = {each["name"]: each["variablesReference"] for each in self.ask("scopes", frameId=1)["scopes"]}
        return self.children(scopes[scope])

    def children(self, reference: int) -> dict[str, dict[str, Any]]:
        found = self.ask("variables", variablesReference=reference)["variables"]
        return {each["name"]: each for each in found}

    def _wait(self, wanted: Any, *, keep: bool = False) -> Any:
        """The first message that is wanted; with `keep` those before it are still to come."""
        end, at = time.monotonic() + _PATIENCE, self._read
        while True:
            for number in range(at, len(self.log)):
                if wanted(self.log[number]):
                    if not keep:
                        self._read = number + 1
                    return self.log[number]
            at = len(self.log)
            assert time.monotonic() < end, self.log
            if select.select([self._receive], [], [], 1)[0]:
                data = os.read(self._receive, 65536)
                assert data, self.log
                self.log += self.client.receive(data)


@contextmanager
def editor(*arguments: object, folder: Path | None = None) -> Iterator[Editor]:
    """One that starts ``ctm debug --dap``, and disconnects at the end: the process says nothing else, and is gone."""
    command = [sys.executable, "-m", "ctm", "debug", "--dap", *map(str, arguments)]
    with running(command, stdin=subprocess.PIPE, text=False, cwd=folder) as process:
        assert process.stdin is not None and process.stdout is not None
        found = Editor(process.stdin.fileno(), process.stdout.fileno())
        yield found
        found.ask("disconnect")
        printed, errors = process.communicate(timeout=_PATIENCE)
        assert process.returncode == 0 and not printed and not errors
