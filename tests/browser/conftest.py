"""The browser tests run with `--browser` (`make test-browser`), and then must run: nothing is
skipped.
"""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest


def pytest_collection_modifyitems(config, items):
    if config.getoption("--browser"):
        return
    here = Path(__file__).parent
    chosen = [item for item in items if here in item.path.parents]
    for item in chosen:
        items.remove(item)
    config.hook.pytest_deselected(items=chosen)


@pytest.fixture(scope="session")
def driver():
    with chromium() as chrome:
        yield chrome


@contextmanager
def chromium():
    """Chromium without a window, and its driver."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    browser, helper = shutil.which("chromium"), shutil.which("chromedriver")
    assert browser, "Chromium is not installed: apt-get install chromium"
    assert helper, "chromedriver is not installed: apt-get install chromium-driver"
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--force-prefers-no-reduced-motion",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(helper))
    try:
        yield chrome
    finally:
        chrome.quit()
