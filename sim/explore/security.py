"""Access to the server: only from a browser of this computer, and only from the server's own page."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

ADDRESS = "127.0.0.1"
"""What the server listens at: no other computer reaches it."""
_NAMES = (ADDRESS, "localhost")
_OWN_SITES = (b"same-origin", b"none")
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'self'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""The framework's page has scripts in itself, and templates that become code; nothing comes from elsewhere."""
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_FRAMEWORK = ("/_nicegui/", "/_nicegui_ws/")
"""Where the framework has the page's scripts, styles and events."""
_POLICY_VIOLATION = 1008
_REJECTIONS = {
    403: b"This is not for other sites.\n",
    404: b"There is nothing here; the page is /.\n",
    405: b"The page can be read only.\n",
}
"""Texts by HTTP status."""


class Guard:
    """An ASGI application before another one; it rejects what does not come from the other one's page, or go to it.

    Host has to be this computer with the server's port: a name of a stranger's that leads here is another one. Origin,
    and Sec-Fetch-Site, which browsers send, have to be the server's own; a websocket needs an Origin.
    """

    def __init__(self, app: Application, port: int) -> None:
        self.app = app
        self._hosts = {f"{name}:{port}".encode() for name in _NAMES}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        kind = scope["type"]
        if kind not in ("http", "websocket"):
            await self.app(scope, receive, send)
        elif not self._may_pass(scope["headers"], is_websocket=kind == "websocket"):
            await _reject(kind, send, 403)
        elif kind == "http" and (status := _missing(scope)):
            await _reject(kind, send, status)
        else:
            await self.app(scope, receive, _with_headers(send))

    def _may_pass(self, headers: list[tuple[bytes, bytes]], *, is_websocket: bool) -> bool:
        def values(name: bytes) -> list[bytes]:
            return [value.strip().lower() for key, value in headers if key.lower() == name]

        hosts, origins, sites = values(b"host"), values(b"origin"), values(b"sec-fetch-site")
        return (
            len(hosts) == 1
            and hosts[0] in self._hosts
            and all(origin in self._origins for origin in origins)
            and all(site in _OWN_SITES for site in sites)
            and (bool(origins) or not is_websocket)
        )


def _missing(scope: Scope) -> int | None:
    """The status of a request for what is not there; the framework would respond with the page."""
    if scope["path"].startswith(_FRAMEWORK):
        return None
    if scope["path"] != "/":
        return 404
    return None if scope["method"] in ("GET", "HEAD") else 405


async def _reject(kind: str, send: Send, status: int) -> None:
    if kind == "websocket":
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        return
    headers = [(b"content-type", b"text/plain"), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": _REJECTIONS[status]})


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_HEADERS]
        await send(message)

    return send_with_headers
