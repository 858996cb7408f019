"""The picture of the report in README: `python tests/browser/report_picture.py docs/report.png`,
with Chromium.
"""

import sys
import tempfile
from pathlib import Path

from PIL import Image

import causalcontext as cc
from conftest import chromium

WIDTH, HEIGHT, COLOURS = 1200, 1030, 64


def main(path: Path) -> None:
    """The file shows the top of the report on the wages that ship with the library."""
    earlier = [
        ["education", "experience", "black"],
        ["small_child"],
        ["union"],
        ["hours"],
        ["log_wage"],
    ]
    wages = cc.examples.path("wages")
    result = cc.discover(wages, context="union", knowledge=cc.Knowledge(tiers=earlier))
    with tempfile.TemporaryDirectory() as folder, chromium() as driver:
        page = Path(folder) / "wages.html"
        result.report(page, title="What do unions do to wages?")
        metrics = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.get(page.as_uri())
        driver.execute_script("document.documentElement.style.scrollbarWidth = 'none'")
        driver.save_screenshot(str(path))
    Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
