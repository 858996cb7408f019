"""Let every test file import the naive twins, and know the option of the browser tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_addoption(parser):
    parser.addoption("--browser", action="store_true", help="run the tests that need Chromium, chromedriver, selenium")
