"""Serves an editor: one thread reads requests, another carries them out, so that a command can be interrupted."""

from queue import Queue
from threading import Thread
from typing import Any

from ctm.sim.debug.dap.adapter import Adapter
from ctm.sim.debug.dap.channel import Channel

_MOVING = frozenset(
    {"configurationDone", "continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "restart"}
)
"""Requests that execute instructions; of `evaluate`, those of the console."""


class Server:
    """Serves one editor until it disconnects or its stream ends."""

    def __init__(self, channel: Channel, adapter: Adapter) -> None:
        self._channel, self._adapter = channel, adapter
        self._queue: Queue[dict[str, Any] | None] = Queue()
        self._moves_requested = self._moves_done = 0
        """Of requests that execute: those that were read, counted by one thread, and those that ended, by the other."""

    def serve(self) -> None:
        """Serve; ProtocolError: what came is not of the protocol."""
        worker = Thread(target=self._work, name="ctm-dap", daemon=True)
        worker.start()
        try:
            for request in self._channel.requests():
                if request["command"] == "disconnect":
                    self._adapter.end()
                    self._queue.put(None)
                    worker.join()
                    self._channel.respond(request)
                    return
                self._take(request)
        finally:
            self._adapter.end()
            self._queue.put(None)
            worker.join()
            self._adapter.close()

    def _take(self, request: dict[str, Any]) -> None:
        """Respond to a request at once, or leave it to the thread that carries requests out."""
        command = request["command"]
        if command == "threads":
            self._channel.respond(request, {"threads": [{"id": 1, "name": self._adapter.thread_name}]})
        elif command == "pause":
            self._channel.respond(request)
            if self._moves_requested > self._moves_done:
                self._adapter.cancel()
        else:
            if _moves(request):
                if self._moves_requested == self._moves_done:
                    # An interrupt after the end of the command.
                    self._adapter.clear()
                self._moves_requested += 1
            if command == "terminate":
                self._adapter.end()
            self._queue.put(request)

    def _work(self) -> None:
        while (request := self._queue.get()) is not None:
            try:
                self._adapter.handle(request)
            except OSError:
                # The editor is gone, which the other thread reads, too.
                return
            except Exception as error:
                self._adapter.fail(request, error)
            if _moves(request):
                self._moves_done += 1


def _moves(request: dict[str, Any]) -> bool:
    arguments = request.get("arguments")
    context = arguments.get("context") if isinstance(arguments, dict) else None
    return request["command"] in _MOVING or (request["command"] == "evaluate" and context == "repl")
