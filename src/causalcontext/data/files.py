"""Paths, and files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import tomllib
from pathlib import Path
from typing import Any

from causalcontext.errors import FileError, shortly


def as_path(path: object) -> Path:
    """The path that is meant; anything but text or a path is refused, and so is what no file can be
    called.
    """
    if not isinstance(path, str | os.PathLike) or not str(path):
        raise FileError(f"the file is {shortly(path)}, expected a path, as text or as a Path")
    return Path(path)


def read_toml(path: str | os.PathLike[str], what: str) -> dict[str, Any]:
    """The content of a TOML file; `what` it is meant to be stands in the error."""
    try:
        return tomllib.loads(as_path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{what} file {str(path)!r} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{what} file {str(path)!r} is not valid TOML: {error}") from error


def check_writable(path: str | os.PathLike[str]) -> None:
    """Return if `write_whole` can be expected to succeed; to be called before long work."""
    file = as_path(path)
    try:
        if _is_device(file):  # such as a pipe, which lies in no folder
            if not os.access(file, os.W_OK):
                raise FileError(f"cannot write {file}: permission denied")
            return
        is_folder = file.is_dir()
        folder = file.resolve().parent
        writable = (
            os.access(file, os.W_OK) if file.exists() else os.access(folder, os.W_OK | os.X_OK)
        )
    except (OSError, ValueError) as error:
        raise FileError(f"cannot write {file}: {error}") from error
    if is_folder:
        raise FileError(f"cannot write {file}: it is a folder")
    if not folder.is_dir():
        raise FileError(f"cannot write {file}: there is no folder {file.parent}")
    if not writable:
        raise FileError(f"cannot write {file}: permission denied")


def _is_device(file: Path) -> bool:
    """True if a path is a device, a pipe or the like."""
    return (
        file.exists() and not stat.S_ISREG(mode := file.stat().st_mode) and not stat.S_ISDIR(mode)
    )


def write_whole(path: str | os.PathLike[str], text: str | bytes) -> None:
    """The file holds `text`, all of it; or it is as it was before, and an error says why."""
    # It goes to a new file in the same folder, which then takes the place of the old one.
    check_writable(path)
    file = Path(path) if _is_device(Path(path)) else Path(path).resolve()
    content = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    try:
        if _is_device(file):
            file.write_bytes(content)  # replacing it would destroy it
            return
        draft = file.with_name(f".{file.name[:40]}.{secrets.token_hex(6)}.tmp")
        try:
            with draft.open("xb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            if file.exists():
                draft.chmod(stat.S_IMODE(file.stat().st_mode))
            draft.replace(file)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from error


def harmless(cell: object) -> object:
    """A cell of a CSV file that no spreadsheet takes for a formula: text that begins like one gets
    an apostrophe.
    """
    return (
        f"'{cell}"
        if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r"))
        else cell
    )
