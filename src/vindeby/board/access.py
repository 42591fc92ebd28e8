"""Access to the board: hosts, tokens, and the headers that limit what a browser may do.

Bound to this machine alone, the board asks for no token, but answers only to names of this machine, so that no web
page can reach it through a name of its own (DNS rebinding). Bound to anything else, it asks for a token.
"""

import ipaddress
import re
import secrets
from urllib.parse import urlencode

from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request, cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp

COOKIE = "vindeby-board"
_HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9.-]+))(?::[0-9]*)?", re.ASCII)

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach this address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Access(BaseHTTPMiddleware):
    """The gate before the board, and the headers of every answer."""

    def __init__(self, app: ASGIApp, *, token: str | None) -> None:
        super().__init__(app)
        self._token = token

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        """Answer a request, or refuse or redirect it."""
        answer = self._refusal(request) or await call_next(request)
        answer.headers.update(HEADERS)
        return answer

    def _refusal(self, asking: Request) -> Response | None:
        if asking.method not in {"GET", "HEAD"}:
            return PlainTextResponse("the board is read-only\n", 405)
        if self._token is None:
            hosts = asking.headers.getlist("host")
            if len(hosts) != 1 or _host_name(hosts[0]) not in {"localhost", "127.0.0.1", "::1"}:
                return PlainTextResponse("the board answers only to names of this machine\n", 421)
            return None
        given = asking.query_params.get("token")
        if given is not None and self._is_token(given):
            rest = urlencode([pair for pair in asking.query_params.multi_items() if pair[0] != "token"])
            # Two slashes at the beginning would be another machine's address.
            path = "/" + asking.scope["path"].lstrip("/\\")
            answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
            answer.set_cookie(COOKIE, given, httponly=True, samesite="strict", path="/")
            return answer
        cookies = map(cookie_parser, asking.headers.get("cookie", "").split(";"))
        header = asking.headers.get("authorization", "").removeprefix("Bearer ")
        if any(self._is_token(given) for given in (header, *(one.get(COOKIE, "") for one in cookies))):
            return None
        return PlainTextResponse("open the address that `vindeby board` printed: it holds the token\n", 401)

    def _is_token(self, given: str) -> bool:
        return self._token is not None and secrets.compare_digest(given.encode(), self._token.encode())


def _host_name(header: str) -> str:
    """Return the name in a Host header, without port and brackets; empty if the header is malformed."""
    match = _HOST.fullmatch(header)
    return (match["address"] or match["name"]).lower() if match else ""
