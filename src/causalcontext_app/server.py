"""The addresses of the app, none of which takes the path of a file, and who may ask for them.

The server runs on this machine, for this user, until Ctrl-C. It listens on 127.0.0.1 alone, where
any page in the browser can still send requests. So every request must name this server as its host
(no name that was pointed here afterwards), carry a cookie that the one-time token of the first
address was exchanged for, and, if it changes something, come from a page of this server.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import signal
import socket
import webbrowser
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from causalcontext.errors import CausalContextError, FileError, OptionError
from causalcontext.report.advice import in_the_app
from causalcontext_app.session import LARGEST_UPLOAD, Session

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'"
    " data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
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
    """Lets through what comes from the browser that the first address was opened in, and from pages
    of this server.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie = f"causalcontext-{port}"
        self._secret = secrets.token_urlsafe(32)
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
        if request.headers.get("host") not in self._hosts:
            return PlainTextResponse("This server answers to 127.0.0.1 alone.", 421)
        here = request.headers.get("origin") in {f"http://{host}" for host in self._hosts}
        if request.method not in ("GET", "HEAD") and not here:
            return PlainTextResponse("This request comes from another page.", 403)
        if request.url.path == "/" and "token" in request.query_params:
            return self._exchanged(request)
        if not self._known(request):
            return PlainTextResponse(
                "This address works in the browser where the app was opened first. To use another "
                "one, end the app with Ctrl-C and start it again.",
                403,
            )
        return None

    def _known(self, request: Request) -> bool:
        return hmac.compare_digest(
            request.cookies.get(self._cookie, "").encode(), self._secret.encode()
        )

    def _exchanged(self, request: Request) -> Response | None:
        """The cookie for the token, which is used up; a browser that has the cookie needs none."""
        given = request.query_params["token"].encode()
        fits = self.token is not None and hmac.compare_digest(given, self.token.encode())
        if not fits and not self._known(request):
            return PlainTextResponse(
                "This address was used before, or is not complete. End the app with Ctrl-C and "
                "start it again.",
                403,
            )
        answer = RedirectResponse("/", 303)
        if fits:
            self.token = None
            answer.set_cookie(
                self._cookie, self._secret, path="/", httponly=True, samesite="strict"
            )
        return answer


LARGEST_QUESTION = 4 * 2**20
"""Bytes of a question; a table of ten thousand columns has shorter ones."""
PARTS = (
    "index.html",
    "report.css",
    "app.css",
    "app.js",
    "elements.js",
    "table.js",
    "question.js",
    "knowledge.js",
    "runs.js",
)
"""The files of the page; nothing else is served."""
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_REPORT_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')

Handler = Callable[[Request], Awaitable[Response]]


def application(session: Session, port: int) -> Guard:
    """The server of a session, to be called by uvicorn or by a test."""
    routes = [
        Route("/", _part("index.html")),
        *(Route(f"/page/{name}", _part(name)) for name in PARTS if name != "index.html"),
        Route("/api/state", _answer(lambda request, body: session.state())),
        Route("/api/columns", _answer(lambda request, body: session.columns())),
        Route("/api/question", _answer(lambda request, body: session.ask(body)), methods=["PUT"]),
        Route("/api/check", _answer(lambda request, body: session.check(body)), methods=["POST"]),
        Route(
            "/api/example",
            _answer(lambda request, body: session.example(str(body))),
            methods=["POST"],
        ),
        Route("/api/upload", partial(_upload, session), methods=["POST"]),
        Route("/api/runs", _answer(lambda request, body: session.runs())),
        Route("/api/runs", _answer(lambda request, body: session.start(body)), methods=["POST"]),
        Route(
            "/api/runs/{run:int}",
            _answer(lambda request, body: session.remove(_run(request))),
            methods=["DELETE"],
        ),
        Route(
            "/api/runs/{run:int}/cancel",
            _answer(lambda request, body: session.cancel(_run(request))),
            methods=["POST"],
        ),
        Route(
            "/api/runs/{run:int}/stability",
            _answer(lambda request, body: session.look_at_stability(_run(request))),
            methods=["POST"],
        ),
        Route(
            "/api/runs/{run:int}/names", _answer(lambda request, body: session.names(_run(request)))
        ),
        Route(
            "/api/runs/{run:int}/scripts",
            _answer(lambda request, body: session.scripts(_run(request))),
        ),
        Route(
            "/api/compare/{run:int}/{other:int}",
            _answer(
                lambda request, body: session.compare(_run(request), request.path_params["other"])
            ),
        ),
        Route("/runs/{run:int}/report", partial(_report, session)),
        Route("/runs/{run:int}/download/{what}", partial(_download, session)),
        Route("/project", partial(_project, session)),
    ]
    app = Starlette(
        routes=routes, exception_handlers={CausalContextError: _sentence, Exception: _failure}
    )
    return Guard(app, port)


def _run(request: Request) -> int:
    return int(request.path_params["run"])


def _answer(ask: Callable[[Request, Any], Any]) -> Handler:
    """A handler that asks the session, in another thread, and answers with JSON."""

    async def handler(request: Request) -> Response:
        found = bytearray()
        if request.method in ("POST", "PUT"):
            async for part in request.stream():
                found += part
                if len(found) > LARGEST_QUESTION:
                    raise OptionError("the request is too long")
        try:
            body = json.loads(found) if found else None
        except (ValueError, RecursionError) as error:
            raise OptionError("the request is not valid JSON") from error
        return JSONResponse(await run_in_threadpool(ask, request, body))

    return handler


async def _upload(session: Session, request: Request) -> Response:
    """A table, the body of the request, streamed into the private folder; its name is for
    people.
    """
    name = request.query_params.get("name", "")
    place = session.upload_place(name)
    size = 0
    try:
        with place.open("xb") as stream:
            async for part in request.stream():
                size += len(part)
                if size > LARGEST_UPLOAD:
                    raise FileError(
                        f"{name} has more than {LARGEST_UPLOAD // 2**20} MB; causalcontext discover"
                        " reads larger files in batches"
                    )
                stream.write(part)
        return JSONResponse(await run_in_threadpool(session.uploaded, place, name))
    except CausalContextError:
        place.unlink(missing_ok=True)
        raise


async def _report(session: Session, request: Request) -> Response:
    """The report about a run, under its own policy, in a frame of the page alone."""
    text = await run_in_threadpool(session.report, _run(request))
    policy = _REPORT_POLICY.search(text)
    assert policy is not None
    return Response(
        text,
        media_type="text/html",
        headers={"content-security-policy": f"{policy[1]}; frame-ancestors 'self'"},
    )


async def _download(session: Session, request: Request) -> Response:
    content, kind, name = await run_in_threadpool(
        session.download, _run(request), request.path_params["what"]
    )
    return Response(
        content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'}
    )


async def _project(session: Session, request: Request) -> Response:
    text = await run_in_threadpool(session.project_text)
    return Response(
        text,
        media_type="application/json",
        headers={"content-disposition": 'attachment; filename="project.causalcontext.json"'},
    )


def _part(name: str) -> Handler:
    async def handler(request: Request) -> Response:
        owner = "causalcontext.report" if name == "report.css" else "causalcontext_app"
        text = files(owner).joinpath("page", name).read_text(encoding="utf-8")
        return Response(text, media_type=TYPES[Path(name).suffix])

    return handler


async def _sentence(request: Request, error: Exception) -> Response:
    """What the library refuses, in its own sentence."""
    return JSONResponse({"error": in_the_app(str(error))}, 400)


async def _failure(request: Request, error: Exception) -> Response:
    return JSONResponse(
        {"error": f"something went wrong in the server: {type(error).__name__}"}, 500
    )


def serve(
    file: Path | None, project: Path | None, port: int, browser: bool, say: Callable[[str], None]
) -> None:
    """Serve the app on the loopback address and open it in the browser; return after Ctrl-C.

    `file` is a table, or the file of a project, which is kept in `project`; a `port` of 0 is any
    that is free.
    """
    # ends as Ctrl-C does, and leaves nothing behind
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    session = Session(file, project)
    try:
        with listening(port) as listener:
            guard = application(session, listener.getsockname()[1])
            address = f"http://127.0.0.1:{listener.getsockname()[1]}/?token={guard.token}"
            if session.kept is not None:
                say(f"your work is saved in {session.kept}")
            say(f"the app is at {address} (this address works once; Ctrl-C ends the app)")
            config = uvicorn.Config(
                guard,
                log_level="error",
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
                timeout_graceful_shutdown=1,
            )
            if browser:
                webbrowser.open(address)
            uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        say("the app has ended")
    finally:
        session.close()


def listening(port: int) -> socket.socket:
    """A socket on the loopback address."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)  # from now on: a browser that is quicker than the server waits
    except (OSError, OverflowError) as error:
        listener.close()
        said = f"port is {port}, which cannot be used: {error}; leave it out for one that is free"
        raise OptionError(said) from error
    return listener
