"""The addresses of the app. None of them takes the path of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from causalcontext.app.guard import Guard
from causalcontext.app.session import LARGEST_UPLOAD, Session
from causalcontext.errors import CausalContextError, FileError, OptionError

LARGEST_QUESTION = 4 * 2**20
"""Bytes of a question; a table of ten thousand columns has shorter ones."""
PARTS = {
    "index.html": "text/html",
    "report.css": "text/css",
    "app.css": "text/css",
    "app.js": "text/javascript",
    "elements.js": "text/javascript",
    "table.js": "text/javascript",
    "question.js": "text/javascript",
    "knowledge.js": "text/javascript",
    "runs.js": "text/javascript",
}
"""The files of the page, and their types; nothing else is served."""
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
        Route("/api/example", _answer(lambda request, body: session.example(str(body))), methods=["POST"]),
        Route("/api/upload", partial(_upload, session), methods=["POST"]),
        Route("/api/runs", _answer(lambda request, body: session.runs())),
        Route("/api/runs", _answer(lambda request, body: session.start(body)), methods=["POST"]),
        Route("/api/runs/{run:int}", _answer(lambda request, body: session.remove(_run(request))), methods=["DELETE"]),
        Route("/api/runs/{run:int}/cancel", _answer(lambda request, body: session.cancel(_run(request))),
              methods=["POST"]),
        Route("/api/runs/{run:int}/stability", _answer(lambda request, body: session.look_at_stability(_run(request))),
              methods=["POST"]),
        Route("/api/runs/{run:int}/names", _answer(lambda request, body: session.names(_run(request)))),
        Route("/api/runs/{run:int}/scripts", _answer(lambda request, body: session.scripts(_run(request)))),
        Route("/api/compare/{run:int}/{other:int}",
              _answer(lambda request, body: session.compare(_run(request), request.path_params["other"]))),
        Route("/runs/{run:int}/report", partial(_report, session)),
        Route("/runs/{run:int}/download/{what}", partial(_download, session)),
        Route("/project", partial(_project, session)),
    ]  # fmt: skip
    app = Starlette(routes=routes, exception_handlers={CausalContextError: _sentence, Exception: _failure})
    return Guard(app, port)


def _run(request: Request) -> int:
    return int(request.path_params["run"])


def _answer(ask: Callable[[Request, Any], Any]) -> Handler:
    """A handler that asks the session, in another thread, and answers with JSON."""

    async def handler(request: Request) -> Response:
        body = await _body(request) if request.method in ("POST", "PUT") else None
        return JSONResponse(await run_in_threadpool(ask, request, body))

    return handler


async def _body(request: Request) -> Any:
    """The JSON of a request that is not too long."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > LARGEST_QUESTION:
            raise OptionError("the request is too long")
    try:
        return json.loads(found) if found else None
    except (ValueError, RecursionError) as error:
        raise OptionError("the request is not valid JSON") from error


async def _upload(session: Session, request: Request) -> Response:
    """A table, the body of the request, streamed into the private folder; its name is for people."""
    name = request.query_params.get("name", "")
    place = session.upload_place(name)
    size = 0
    try:
        with place.open("xb") as stream:
            async for part in request.stream():
                size += len(part)
                if size > LARGEST_UPLOAD:
                    raise FileError(f"{name} has more than {LARGEST_UPLOAD // 2**20} MB; causalcontext discover reads "
                                    "larger files in batches")  # fmt: skip
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
    return Response(text, media_type="text/html",
                    headers={"content-security-policy": f"{policy[1]}; frame-ancestors 'self'"})  # fmt: skip


async def _download(session: Session, request: Request) -> Response:
    content, kind, name = await run_in_threadpool(session.download, _run(request), request.path_params["what"])
    return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


async def _project(session: Session, request: Request) -> Response:
    text = await run_in_threadpool(session.project_text)
    return Response(text, media_type="application/json",
                    headers={"content-disposition": 'attachment; filename="project.causalcontext.json"'})  # fmt: skip


def _part(name: str) -> Handler:
    """A handler for a file of the page."""

    async def handler(request: Request) -> Response:
        owner = "causalcontext.report" if name == "report.css" else "causalcontext.app"
        text = files(owner).joinpath("page", name).read_text(encoding="utf-8")
        return Response(text, media_type=PARTS[name])

    return handler


async def _sentence(request: Request, error: Exception) -> Response:
    """What the library refuses, in its own sentence."""
    return JSONResponse({"error": str(error)}, 400)


async def _failure(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"something went wrong in the server: {type(error).__name__}"}, 500)
