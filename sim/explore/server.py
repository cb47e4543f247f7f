"""The server of the page: uvicorn at an address of this computer only."""

import signal
import socket
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI
from nicegui import core, ui

from ctm.sim.explore.explorer import Explorer
from ctm.sim.explore.models import Models
from ctm.sim.explore.page.page import Page
from ctm.sim.explore.security import ADDRESS, Guard
from ctm.sim.explore.start import Start

_TITLE = "ctm explore"
_MOST_BYTES = 1 << 22
"""Of a message of the page's."""
_SOON = 0.5


def listening(port: int) -> socket.socket:
    """A socket at a port, at any one if it is 0; OSError: it is taken."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((ADDRESS, port))
        found.listen()
    except OSError:
        found.close()
        raise
    return found


def serve(at: socket.socket, start: Start, explorer: Explorer, models: Models, *, show: bool) -> None:
    """Serve the page until a signal comes, which closes explorer and models; with `show` a browser is opened."""
    port = at.getsockname()[1]
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    def page() -> None:
        Page(start, explorer, models).build()

    ui.run_with(app, root=page, title=_TITLE, dark=None, show_welcome_message=False)
    core.sio.eio.max_http_buffer_size = _MOST_BYTES
    config = uvicorn.Config(
        Guard(app, port), log_level="error", access_log=False, server_header=False, ws_max_size=_MOST_BYTES,
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    threading.Thread(target=explorer.prepare, daemon=True).start()
    if show:
        threading.Timer(_SOON, webbrowser.open, [f"http://{ADDRESS}:{port}/"]).start()
    server = uvicorn.Server(config)
    try:
        with _hanging_up(server):
            server.run(sockets=[at])
    finally:
        explorer.close()
        models.close()


@contextmanager
def _hanging_up(server: uvicorn.Server) -> Iterator[None]:
    """End the server by SIGHUP as it ends by other signals: the event loop would drop what a handler raises."""
    before = signal.getsignal(signal.SIGHUP)
    heard: list[int] = []

    def hear(number: int, _: object) -> None:
        heard.append(number)
        server.should_exit = True

    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
    if heard:
        signal.raise_signal(signal.SIGHUP)
