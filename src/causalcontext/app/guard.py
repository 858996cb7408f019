"""Who may ask the server, and what its pages may do.

It listens on 127.0.0.1 alone, where any page in the browser can still send requests. So every request must name this
server as its host (no name that was pointed here afterwards), carry a cookie that the one-time token of the first
address was exchanged for, and, if it changes something, come from a page of this server.
"""

from __future__ import annotations

import hmac
import secrets

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
               "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")  # fmt: skip
HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""What every answer says, unless it says otherwise itself."""


class Guard:
    """Lets through what comes from the browser that the first address was opened in, and from pages of this server.

    Parameters
    ----------
    app : ASGI application
    port : int
        Where the server listens.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie, self._secret = f"causalcontext-{port}", secrets.token_urlsafe(32)
        self.token: str | None = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on; nothing but HTTP is spoken here."""
        if scope["type"] != "http":
            return
        answer = self._refused(Request(scope))

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name for name, _ in message["headers"]}
                common = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                more = [header for header in common if header[0] not in known]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        await (self._app if answer is None else answer)(scope, receive, guarded)

    def _refused(self, request: Request) -> Response | None:
        """What to say to a request that is not handed on."""
        if request.headers.get("host") not in self._hosts:
            return PlainTextResponse("This server answers to 127.0.0.1 alone.", 421)
        here = request.headers.get("origin") in {f"http://{host}" for host in self._hosts}
        if request.method not in ("GET", "HEAD") and not here:
            return PlainTextResponse("This request comes from another page.", 403)
        if request.url.path == "/" and "token" in request.query_params:
            return self._exchanged(request)
        if not self._known(request):
            return PlainTextResponse("This address works in the browser where the app was opened first. To use another "
                                     "one, end the app with Ctrl-C and start it again.", 403)  # fmt: skip
        return None

    def _known(self, request: Request) -> bool:
        return hmac.compare_digest(request.cookies.get(self._cookie, "").encode(), self._secret.encode())

    def _exchanged(self, request: Request) -> Response | None:
        """The cookie for the token, which is used up; a browser that has the cookie needs none."""
        given = request.query_params["token"].encode()
        fits = self.token is not None and hmac.compare_digest(given, self.token.encode())
        if not fits and not self._known(request):
            return PlainTextResponse("This address was used before, or is not complete. End the app with Ctrl-C and "
                                     "start it again.", 403)  # fmt: skip
        answer = RedirectResponse("/", 303)
        if fits:
            self.token = None
            answer.set_cookie(self._cookie, self._secret, path="/", httponly=True, samesite="strict")
        return answer
