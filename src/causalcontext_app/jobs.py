"""Searches in processes of their own: started, listened to, cancelled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any


class Job:
    """A process that does a task of `worker.run`.

    `ended` is called once, in another thread, with the last message: `{"done": ...}` or `{"error":
    ...}`.
    """

    def __init__(self, task: dict[str, Any], ended: Callable[[dict[str, Any]], None]) -> None:
        self.progress: dict[str, Any] = {"words": "starting", "share": 0.0, "left": ""}
        self.cancelled = False
        self._begin = time.monotonic()
        self._ended = ended
        # In a session of its own: Ctrl-C in the terminal is for the server, which ends its jobs
        # itself.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "causalcontext_app.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def seconds(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self._begin

    def cancel(self) -> None:
        """The search ends soon, and keeps what it knows; a second time at once."""
        if self.cancelled or os.name == "nt":
            # on Windows no process can send Ctrl-C to another one
            self._process.kill()
        else:
            self._process.send_signal(signal.SIGINT)
        self.cancelled = True

    def kill(self) -> None:
        """The process is gone, without a message."""
        self._ended = lambda message: None
        self._process.kill()
        self._process.wait()

    def wait(self, seconds: float | None = None) -> None:
        """Return when it has ended and that was told, or after some seconds."""
        self._listener.join(seconds)

    def _listen(self) -> None:
        last: dict[str, Any] = {}
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if "words" in message:
                self.progress = message
            else:
                last = message
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        lost = (
            "cancelled before anything was known"
            if self.cancelled
            else "the search ended without a result"
        )
        self._ended(last or {"error": lost})
