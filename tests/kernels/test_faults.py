"""An index that is out of range is found by both builds that look for it: the checked one raises,
the sanitized one ends the process.

The suite runs on these builds with `make checked` and `make sanitized`, which say so in
`CC_BUILD`; on the build that users have nothing looks, and there is nothing to test.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from causalcontext._kernels import digest_codes

BUILD = os.environ.get("CC_BUILD", "")


def digest_a_level_without_a_word() -> None:
    """Words for two levels, and one code of a third: a read behind the end of the words."""
    codes = np.zeros(64, np.int32)
    codes[-1] = 2
    digest_codes(codes, np.zeros(2, np.uint64), 0)


@pytest.mark.skipif(BUILD != "checked", reason="needs the build of `make checked`")
def test_the_checked_build_names_the_index() -> None:
    with pytest.raises(IndexError, match="index 2 of an axis of length 2"):
        digest_a_level_without_a_word()


@pytest.mark.skipif(BUILD != "sanitized", reason="needs the build of `make sanitized`")
def test_the_sanitized_build_ends_the_process() -> None:
    run = subprocess.run([sys.executable, __file__], capture_output=True, text=True)
    assert run.returncode != 0
    assert "heap-buffer-overflow" in run.stderr
    assert "digest_codes" in run.stderr


if __name__ == "__main__":
    digest_a_level_without_a_word()
