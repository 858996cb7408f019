"""The app as a user has it: a server of its own, and a page in Chromium that is clicked and typed
into.
"""

import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

PATIENCE = 240
FOCUSED = (
    "return (document.activeElement.getAttribute('aria-label') ??"
    " document.activeElement.textContent).trim()"
)


@contextmanager
def serving(*arguments, folder):
    """The address of a server that is started by the command, and its process; Ctrl-C ends it."""
    command = [sys.executable, "-m", "causalcontext", "app", "--no-browser", *map(str, arguments)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder)
    try:
        lines = []
        while not (found := re.search(r"http://\S+", lines[-1] if lines else "")):
            lines.append(server.stderr.readline())
            assert lines[-1], lines
        yield found[0], server
    finally:
        if server.poll() is None:
            server.send_signal(signal.SIGINT)
            server.wait(20)
        server.stderr.close()


class AppPage:
    """One open page."""

    def __init__(self, driver, address, width=1280, height=900, dark=False):
        self.driver = driver
        self.resize(width, height)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        driver.get("about:blank")
        driver.get_log("browser")
        driver.get(address)
        self.wait(
            "return !document.getElementById('panel-open').hidden ||"
            " !document.getElementById('tabs').hidden"
        )

    def resize(self, width, height=900):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, *arguments):
        """What a script returns, once that is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if found := self.run(script, *arguments):
                return found
            time.sleep(0.05)
        raise AssertionError(f"{script} is not true after {PATIENCE} s: {self.text('body')[:2000]}")

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def text(self, selector):
        return self.run(
            "return (document.querySelector(arguments[0]) ?? {textContent: ''}).textContent",
            selector,
        )

    def says(self, selector, words):
        """Wait until an element says something."""
        script = (
            "return (document.querySelector(arguments[0]) ?? {textContent:"
            " ''}).textContent.includes(arguments[1])"
        )
        self.wait(script, selector, words)

    def tab(self, name):
        self.find(f"#tab-{name}").click()

    def press(self, words, within="body"):
        """Click the button of this name."""
        script = """return [...document.querySelectorAll(`${arguments[1]} button`)].find((one) =>
            one.getClientRects().length &&
            (one.getAttribute("aria-label") ?? one.textContent).trim() === arguments[0])"""
        self.run("arguments[0].scrollIntoView({block: 'center'})", self.wait(script, words, within))
        self.wait(script, words, within).click()

    def choose(self, selector, words):
        """Choose from a menu, and wait until the page is drawn anew."""
        self.run(
            """const menu = document.querySelector(arguments[0]);
            menu.value = [...menu.options].find((one) => one.text === arguments[1]).value;
            menu.dispatchEvent(new Event("change"))""",
            selector,
            words,
        )

    def search(self, number):
        """Press Run, and wait for the report of this run."""
        self.press("Run", "header")
        self.answered(number)

    def answered(self, number):
        self.wait(
            """const frame = document.querySelector("iframe");
            return frame && frame.title === `Report of run ${arguments[0]}` && frame.contentDocument &&
              frame.contentDocument.querySelector("#stage svg") !== null && frame.clientHeight > 700""",
            number,
        )

    def report(self, selector):
        """What an element of the report says."""
        return self.run(
            """return document.querySelector("iframe").contentDocument.querySelector(arguments[0])
            .textContent""",
            selector,
        )

    def pick(self, first, second):
        """Choose two variables in the report."""
        self.run(
            """const inner = document.querySelector("iframe").contentDocument;
            for (const [id, name] of [["first", arguments[0]], ["second", arguments[1]]]) {
              const menu = inner.getElementById(id);
              menu.value = [...menu.options].find((one) => one.text === name).value;
              menu.dispatchEvent(new Event("change"));
            }""",
            first,
            second,
        )
        self.wait("return document.getElementById('pair') !== null")

    def key(self, *keys):
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self):
        """What has the focus, by its name."""
        return self.run(FOCUSED)

    def walk_to(self, name, most=80):
        """Press Tab until what is called so has the focus."""
        for _ in range(most):
            if self.focused().startswith(name):
                return
            self.key("\ue004")
        raise AssertionError(f"Tab does not lead to {name}; it is at {self.focused()}")

    def cut_off(self):
        """Whether the page is wider than the window, and what sticks out of it."""
        wide = self.run("return document.documentElement.scrollWidth > window.innerWidth")
        return wide, self.run(
            """
            const scrolls = (e) => e && (getComputedStyle(e).overflowX === 'auto' || scrolls(e.parentElement));
            return [...document.body.querySelectorAll('*')].filter(e => e.getClientRects().length)
              .filter(e => !scrolls(e.parentElement))
              .filter(e => !e.closest('.skip, .out-of-sight') && e.getBoundingClientRect().right > innerWidth + 1)
              .map(e => e.outerHTML.slice(0, 80))"""
        )

    def unlabelled(self):
        """Controls that a screen reader has no name for."""
        return self.run(
            """return [...document.querySelectorAll('button, input, select, a, iframe, summary, progress')]
            .filter((one) => one.getClientRects().length)
            .filter((one) => !(one.getAttribute('aria-label') || one.title || one.textContent.trim() ||
                               [...(one.labels ?? [])].some((label) => label.textContent.trim())))
            .map((one) => one.outerHTML.slice(0, 100))"""
        )

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]
