"""The server responds only to its own page on this computer; it starts and ends as other commands do."""

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from ctm.sim.explore.limits import members
from ctm.sim.explore.security import Guard
from ctm.tb.cli.invocation import error_line, process
from ctm.tb.cli.processes import PATIENCE, running
from ctm.tb.explore.browser import CANNED, server

PORT = 8700
OWN = f"127.0.0.1:{PORT}"
FOREIGN_HEADERS = {
    "another host": [("host", f"kernels.example:{PORT}")],
    "a host that begins alike": [("host", f"127.0.0.1.example:{PORT}")],
    "another port": [("host", "127.0.0.1:80")],
    "no port": [("host", "127.0.0.1")],
    "no host": [],
    "two hosts": [("host", OWN), ("host", OWN)],
    "another origin": [("host", OWN), ("origin", "http://kernels.example")],
    "an origin of another port": [("host", OWN), ("origin", "http://127.0.0.1:8000")],
    "an origin of another scheme": [("host", OWN), ("origin", f"https://{OWN}")],
    "an origin without a name": [("host", OWN), ("origin", "null")],
    "two origins": [("host", OWN), ("origin", f"http://{OWN}"), ("origin", "http://kernels.example")],
    "a frame or picture of another site": [("host", OWN), ("sec-fetch-site", "cross-site")],
    "one of another port": [("host", OWN), ("sec-fetch-site", "same-site")],
}


def passes(kind: str, headers: list[tuple[str, str]]) -> bool:
    reached, sent = [], []

    async def application(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        reached.append(scope)

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        return {}

    encoded = [(name.encode(), value.encode()) for name, value in headers]
    scope = {"type": kind, "path": "/", "method": "GET", "headers": encoded}
    asyncio.run(Guard(application, PORT)(scope, receive, send))
    rejection = "websocket.close" if kind == "websocket" else "http.response.start"
    assert reached or sent[0]["type"] == rejection
    return bool(reached)


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("name", FOREIGN_HEADERS)
def test_what_is_foreign_is_rejected(name: str, kind: str) -> None:
    assert not passes(kind, FOREIGN_HEADERS[name])
    if FOREIGN_HEADERS[name] and kind == "websocket":
        assert not passes(kind, [*FOREIGN_HEADERS[name], ("origin", "http://kernels.example")])


def test_the_own_page_passes() -> None:
    for host in (OWN, f"localhost:{PORT}"):
        own = [("host", host), ("origin", f"http://{host}"), ("sec-fetch-site", "same-origin")]
        assert passes("http", own) and passes("websocket", own)
        assert passes("http", [("host", host), ("sec-fetch-site", "none")])


def test_a_websocket_needs_an_origin() -> None:
    assert not passes("websocket", [("host", OWN)])


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with server() as (number, running):
        yield number
        assert len(members(running.pid)) == 1, "jobs are sessions of their own"


@pytest.mark.slow
def test_it_listens_on_this_computer_only(port: int) -> None:
    listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines() if f":{port:04X} " in line]
    assert f"0100007F:{port:04X}" in listening and f"00000000:{port:04X}" not in listening


def test_http_is_guarded(port: int) -> None:
    page = httpx.get(f"http://127.0.0.1:{port}/")
    assert page.status_code == 200 and "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert httpx.get(f"http://localhost:{port}/").status_code == 200
    for headers in ({"Host": f"kernels.example:{port}"}, {"Origin": "http://kernels.example"}):
        rejected = httpx.get(f"http://127.0.0.1:{port}/", headers=headers)
        assert (rejected.status_code, rejected.text) == (403, "This is not for other sites.\n")


def test_polling_is_guarded(port: int) -> None:
    """What carries events where there are no websockets."""
    address = f"http://127.0.0.1:{port}/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    assert httpx.post(address, headers={"Origin": "http://kernels.example"}).status_code == 403


def test_websockets_are_guarded(port: int) -> None:
    address = f"ws://127.0.0.1:{port}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    with connect(address, origin=Origin(f"http://127.0.0.1:{port}")) as own:
        assert str(own.recv()).startswith("0{")
    for origin in (None, Origin("http://kernels.example"), Origin("null")):
        with pytest.raises(InvalidStatus), connect(address, origin=origin):
            pass


def test_there_is_no_other_page(port: int) -> None:
    for path in ("docs", "openapi.json", "redoc", "etc/passwd", "..%2f..%2fetc/passwd"):
        found = httpx.get(f"http://127.0.0.1:{port}/{path}")
        assert (found.status_code, found.text) == (404, "There is nothing here; the page is /.\n")
        assert "frame-ancestors 'none'" in found.headers["content-security-policy"]
    assert httpx.post(f"http://127.0.0.1:{port}/").status_code == 405
    assert httpx.head(f"http://127.0.0.1:{port}/").status_code == 200


def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        number = other.getsockname()[1]
        said = error_line("explore", "--no-browser", "--port", number)
    assert said == f"error: --port {number}: another program uses it; 0 selects a free one\n"


def test_a_file_that_is_no_kernel_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_bytes(b"\xff")
    assert "a kernel's name ends in .c, .py, .s" in error_line("explore", tmp_path / "k.txt")
    assert "No such file" in error_line("explore", tmp_path / "none.c")
    assert "is not UTF-8 text" in error_line("explore", tmp_path / "k.c")


def test_without_the_extra_it_says_which() -> None:
    hidden = "import importlib.util as u; real = u.find_spec\n"
    hidden += "u.find_spec = lambda name, *more: None if name == 'nicegui' else real(name, *more)\n"
    program = f"{hidden}import sys; sys.argv[1:] = ['explore']\nfrom ctm.sim.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    advice = "error: the package nicegui is not installed: pip install 'ctm-machine[explore]'\n"
    assert (result.returncode, result.stderr) == (2, advice)


def test_help_names_the_options() -> None:
    assert "--no-browser" in process("explore", "--help").stdout


@pytest.mark.slow
def test_a_terminal_that_hangs_up_ends_it() -> None:
    with running(CANNED) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGHUP)
        _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (129, "error: interrupted by SIGHUP; no file is half written\n")
