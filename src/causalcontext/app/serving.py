"""The server runs on this machine, for this user, until Ctrl-C."""

from __future__ import annotations

import signal
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from causalcontext.app.server import application
from causalcontext.app.session import Session
from causalcontext.errors import OptionError


def serve(file: Path | None, project: Path | None, port: int, browser: bool, say: Callable[[str], None]) -> None:
    """Serve the app on the loopback address and open it in the browser; return after Ctrl-C.

    Parameters
    ----------
    file : Path or None
        A table, or the file of a project.
    project : Path or None
        Where the project is kept.
    port : int
        0 for any that is free.
    browser : bool
        Whether to open the address in the browser.
    say : function
        Told where the app is.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does, and leaves nothing behind
    session = Session(file, project)
    try:
        with listening(port) as listener:
            guard = application(session, listener.getsockname()[1])
            address = f"http://127.0.0.1:{listener.getsockname()[1]}/?token={guard.token}"
            if session.kept is not None:
                say(f"what you do is kept in {session.kept}")
            say(f"the app is at {address} (once; Ctrl-C ends it)")
            config = uvicorn.Config(guard, log_level="error", access_log=False, lifespan="off", ws="none",
                                    server_header=False, timeout_graceful_shutdown=1)  # fmt: skip
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
