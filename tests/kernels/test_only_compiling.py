"""A process that only compiles leaves the outermost kernels on disk, and they do what others do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from causalcontext.kernels.first_calls import PARTS

COMPILE = "from causalcontext.kernels.first_calls import compile_parts; compile_parts('moments')"
SUM = """
import json
import numpy as np
from numba.core import event
from causalcontext.data.tally import add_batch, no_tally, settle
class Compiled(event.Listener):
    count = 0
    def on_start(self, happened):
        self.count += 1
    def on_end(self, happened):
        pass
numbers = np.random.default_rng(0).normal(-3.0, 2.0, (7, 500))
numbers[3, 40] = np.nan
tally = no_tally(2, 7)
with event.install_listener("numba:compile", Compiled()) as compiled:
    add_batch(tally, numbers, (np.arange(500) % 2).astype(np.int32), 0)
    settle(tally)
print(json.dumps([compiled.count, tally.mean.tolist(), tally.scatter.tolist(), tally.digests.tolist()]))
"""


def test_only_the_outermost_kernels_are_on_disk_and_they_are_enough(tmp_path: Path) -> None:
    apart = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    _run(COMPILE, apart)
    names = {file.name.split("-")[0].split(".")[1] for file in tmp_path.rglob("*.nbi")}
    assert names == {kernel.py_func.__name__ for kernel in PARTS["moments"].kernels}
    compiled, *found = json.loads(_run(SUM, apart))
    _, *expected = json.loads(_run(SUM, dict(os.environ)))
    assert compiled == 0
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def _run(code: str, environment: dict[str, str]) -> str:
    return subprocess.run([sys.executable, "-c", code], env=environment, check=True, stdout=subprocess.PIPE,
                          text=True).stdout  # fmt: skip
