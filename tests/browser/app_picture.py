"""The picture of the app in its page: `python tests/browser/app_picture.py docs/app.png`, with
Chromium.
"""

import sys
import tempfile
import time
from pathlib import Path

from app_page import AppPage, serving
from matplotlib import image

import causalcontext as cc
from conftest import chromium


def main(path: Path) -> None:
    """The file shows the answer to a search of the soil moisture example, and what can be said
    about a pair.
    """
    with tempfile.TemporaryDirectory() as folder, chromium() as driver:
        cc.examples.soil_moisture(2000, seed=1).to_csv(Path(folder) / "soil.csv", index=False)
        with serving("soil.csv", folder=folder) as (address, _):
            page = AppPage(driver, address, 1180, 1300)
            page.tab("question")
            page.choose("#add-context", "soil")
            page.says("#panel-question", "Rows by context")
            page.search(1)
            page.pick("precipitation", "runoff")
            page.run("document.documentElement.style.scrollbarWidth = 'none'; scrollTo(0, 0)")
            time.sleep(0.5)
            page.driver.save_screenshot(str(path))
    # Fewer shades make the file half as large.
    picture = image.imread(path)[:, :, :3]
    image.imsave(
        path, (picture * 20).round() / 20, pil_kwargs={"optimize": True, "compress_level": 9}
    )
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
