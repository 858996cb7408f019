"""Is everything said alike for a release? Run by `make release`, which uploads nothing.

The version stands in `src/causalcontext/version.py`; the changelog needs a section for it with a
date, the citation the same version, and git nothing that is not committed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from causalcontext.version import __version__

ROOT = Path(__file__).parents[2]


def citation_version() -> str:
    """The version that CITATION.cff gives."""
    return re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE).group(1)


def obstacles(changelog: str, uncommitted: str) -> list[str]:
    """What stands in the way of a release, in sentences."""
    found, number = [], __version__
    if citation_version() != number:
        found.append(f"CITATION.cff is for {citation_version()}, the library is {number}")
    newest = re.search(r"^## (\S+?),? (.+)$", changelog, re.MULTILINE)
    if newest is None or newest.group(1) != number:
        found.append(f"the first section of CHANGELOG.md is not for {number}")
    elif not re.fullmatch(r"\d{4}-\d{2}-\d{2}", newest.group(2)):
        found.append(
            f"the section for {number} in CHANGELOG.md has no date, but {newest.group(2)!r}"
        )
    if uncommitted:
        found.append("some changes are not committed")
    return found


def main() -> None:
    """Say what stands in the way, or what to do next."""
    git = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = obstacles((ROOT / "CHANGELOG.md").read_text(), git.stdout)
    if found:
        sys.exit("not ready: " + "; ".join(found))
    print(f"ready: git tag v{__version__}, push the tag, then upload out/dist with twine")


if __name__ == "__main__":
    main()
