"""Let every test file import the naive twins, and know the option of the browser tests."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
# Tests run side by side: threads of OpenBLAS that wait for a busy core make small matrices many
# times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_addoption(parser):
    parser.addoption(
        "--browser",
        action="store_true",
        help="run the tests that need Chromium, chromedriver, selenium",
    )
