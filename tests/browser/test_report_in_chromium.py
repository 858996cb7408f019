"""The report, opened from disk in Chromium: it works by pointer and keyboard, and asks nothing of a
network.
"""

import json

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
import hostile
from causalcontext.examples import proteins
from causalcontext_lab.simulate.linear import random_model
from pags import soil_pags

WIDTHS = (1280, 400)


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Reports by name: the soil example, 30 variables, hostile names, plain PC, PAGs, nine
    contexts, days with lags.
    """
    folder = tmp_path_factory.mktemp("reports")
    soil = cc.examples.soil_moisture(2000, seed=1)
    model = random_model(30, contexts=3, density=0.1, changes=4, seed=4)
    results = {
        "soil": cc.discover(soil, context="soil", alpha=0.01, method="pc-ac"),
        "thirty": cc.discover(
            model.sample(2000, seed=1), context=model.context_name, alpha=0.01, method="pc-ac"
        ),
        "hostile": cc.discover(hostile.table(), context=hostile.CONTEXT, method="pc-ac"),
        "plain": cc.discover(soil.drop(columns="soil"), method="pc-ac"),
        "pags": soil_pags(),
        "nine": cc.discover(proteins(0, "log", 3000), "condition", method="pc-ac"),
        "land": cc.discover(
            cc.examples.land_surface(1500, seed=1), "regime", lags=2, method="score-ac"
        ),
        "cut": cc.discover(one_sided_link(), cc.threshold("VPD", "best"), method="score-ac"),
    }
    for name, result in results.items():
        result.report(folder / f"{name}.html", diagnose=name == "cut")
    return {name: folder / f"{name}.html" for name in results}


def one_sided_link():
    """Soil moisture acts on latent heat where VPD > 0.2 alone."""
    random = np.random.default_rng(1)
    vpd, soil, wind = random.normal(size=(3, 800))
    latent = np.where(vpd > 0.2, 1.2 * soil, 0.0) + 0.5 * vpd + 0.5 * wind + random.normal(size=800)
    return pd.DataFrame({"VPD": vpd, "soil": soil, "wind": wind, "latent": latent})


class Page:
    """One open report."""

    def __init__(self, driver, path, width=1280, height=900):
        self.driver = driver
        self.resize(width, height)
        driver.get("about:blank")
        driver.get_log("browser"), driver.get_log("performance")
        driver.get(path.as_uri())

    def resize(self, width, height=900):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def count(self, selector):
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def show(self, words):
        """Click the view of that name."""
        label = next(
            one
            for one in self.driver.find_elements("css selector", "#views label")
            if one.text == words
        )
        label.click()

    def node(self, name):
        """Click the box of a variable."""
        from selenium.webdriver import ActionChains

        script = (
            "return [...document.querySelectorAll('g.node')].find(n =>"
            " n.ariaLabel.startsWith(arguments[0]))"
        )
        self.run("arguments[0].scrollIntoView({block: 'center'})", self.run(script, name))
        ActionChains(self.driver).move_to_element(self.run(script, name)).click().perform()

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that the page asked for, itself and blank pages left out."""
        events = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        asked = [
            e["params"]["request"]["url"]
            for e in events
            if e["method"] == "Network.requestWillBeSent"
        ]
        return [
            url for url in asked if url not in (self.driver.current_url, "about:blank", "data:,")
        ]


def test_contexts_switch_by_click_and_slider(driver, pages):
    page = Page(driver, pages["soil"])
    assert page.text("#view-title") == "Labeled union: 10 edges"
    positions = (
        "return [...document.querySelectorAll('g.node rect')].map(r => [r.getAttribute('x'),"
        " r.getAttribute('y')])"
    )
    before = page.run(positions)
    page.show("wet")
    assert page.text("#view-title").startswith("soil = wet: 1014 rows")
    assert page.run(positions) == before
    page.find("#slider").send_keys("\ue012")
    assert page.text("#view-title").startswith("soil = dry")
    assert page.run(positions) == before
    assert page.complaints() == []


def test_a_slider_shows_the_graphs_of_other_cuts(driver, pages):
    page = Page(driver, pages["cut"])
    cut = cc.discover(one_sided_link(), cc.threshold("VPD", "best"), method="score-ac").cut
    assert page.count("#cut-profiles svg rect") == 1  # the interval
    assert page.text("#cut-value").endswith("(found)")
    slider = page.find("#cut-slider")
    link = "#cut-stage g.edge[data-pair='1,3']"
    colour = "return document.querySelector(arguments[0] + ' .line').style.stroke"
    assert page.run(colour, link) == "var(--c1)"
    assert f"> {cut.value:g}" in page.text("#cut-stage")
    marker = "return document.querySelector('#cut-profiles .here').getAttribute('d')"
    before = page.run(marker)
    boxes = (
        "return [...document.querySelectorAll('#cut-stage rect')].map(r =>"
        " r.getAttribute('x')).join()"
    )
    places = page.run(boxes)
    page.run("arguments[0].focus()", slider)
    slider.send_keys("\ue010")  # to the end: far above the cut the link is on both sides
    assert page.run("return arguments[0].value === arguments[0].max", slider)
    assert page.run(marker) != before
    assert page.run(boxes) == places
    assert page.run(colour, link) == "var(--ink)"
    assert (
        "soil --> latent on both sides (with the cut found: soil --> latent above the cut alone)"
        in page.text("#cut-story")
    )
    assert page.run("return arguments[0].getAttribute('aria-valuetext')", slider) == page.text(
        "#cut-value"
    )
    page.find("#cut-back").click()
    assert page.run(marker) == before
    assert page.run(colour, link) == "var(--c1)"
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    assert page.complaints() == []


def test_an_edge_tells_its_story(driver, pages):
    page = Page(driver, pages["soil"])
    place = page.run("""const route = document.querySelector('g.edge[data-pair="0,2"] .hit');
        document.querySelector('#stage').scrollIntoView({block: 'center'});
        const point = route.getPointAtLength(route.getTotalLength() / 2);
        const at = point.matrixTransform(route.getScreenCTM());
        return [at.x, at.y]""")
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.actions.action_builder import ActionBuilder

    actions = ActionBuilder(page.driver)
    actions.pointer_action.move_to_location(*map(round, place))
    actions.perform()
    assert "precipitation --> soil" in page.text("#tip")
    result = cc.discover(
        cc.examples.soil_moisture(2000, seed=1), context="soil", alpha=0.01, method="pc-ac"
    )
    edge = result.edges().query("source == 'precipitation' and target == 'soil'")
    assert f"strength {edge['strength'].item():.3g}" in page.text("#tip")
    actions.pointer_action.click()
    actions.perform()
    assert page.text("#story-heading") == "precipitation and soil"
    assert "present in dry (precipitation --> soil)" in page.text("#story")
    assert "p < 1e-16" in page.text("#story")
    assert "this test would remove the edge" not in page.text(
        "#story"
    )  # at no alpha that anybody asks for
    ActionChains(page.driver).send_keys("\ue00c").perform()
    assert page.text("#story") == ""


def test_every_end_of_a_pag_is_drawn_and_in_the_legend(driver, pages):
    page = Page(driver, pages["pags"])
    page.show("wet")
    shapes = (
        "return [...document.querySelectorAll('g.edge[data-pair=\"' + arguments[0] + '\"]"
        " .end')].map(e => e.tagName)"
    )
    assert page.run(shapes, "0,2") == ["polygon", "polygon"]  # precipitation <-> soil
    assert page.run(shapes, "0,6") == ["circle", "polygon"]  # precipitation o-> runoff
    assert page.run(shapes, "3,5") == ["path", "path"]  # evapotranspiration x-x humidity
    dashes = (
        'return document.querySelector(\'g.edge[data-pair="0,2"]'
        " .line').getAttribute('stroke-dasharray')"
    )
    assert page.run(dashes) == "18 6"
    legend = page.text("#legend")
    for words in (
        "o->: cause, or hidden common cause",
        "<->: hidden common cause",
        "x-x: hidden common cause, or",
    ):
        assert words in legend
    assert "o-o" not in legend
    page.find("#compare").send_keys("dry")
    assert "evapotransp… o-> | o-o radiation" in page.text("#stage")
    tip = "return document.querySelector('g.edge[data-pair=\"1,3\"]').getAttribute('aria-label')"
    assert page.run(tip).startswith(
        "evapotranspiration o-> radiation in wet\nradiation o-o evapotranspiration in dry"
    )
    assert page.complaints() == []


def test_a_missing_edge_tells_its_story(driver, pages):
    page = Page(driver, pages["soil"])
    page.node("precipitation")
    page.node("radiation")
    story = page.text("#story")
    assert "absent in dry: precipitation and radiation are independent on all 2000 rows" in story
    assert "would no longer separate the two" in story
    assert page.count("g.edge.absent") == 1
    page.show("dry")
    assert page.count("g.edge.ghost") == 1
    page.find("#first").send_keys("temperature")
    page.find("#second").send_keys("runoff")
    assert page.text("#story-heading") == "temperature and runoff"


def test_keyboard_reaches_edges(driver, pages):
    page = Page(driver, pages["soil"])
    edge = page.find('g.edge[data-pair="0,2"]')
    page.run("arguments[0].focus()", edge)
    edge.send_keys("\n")
    assert page.text("#story-heading") == "precipitation and soil"
    assert page.run("return document.activeElement.dataset.pair") == "0,2"


def test_effects_are_drawn_and_their_paths_lit(driver, pages):
    from selenium.webdriver.support.ui import Select

    page = Page(driver, pages["soil"])
    assert page.count(".edge.lit") == 0
    Select(page.find("#cause")).select_by_visible_text("precipitation")
    assert page.text("#effects-story") == ""
    Select(page.find("#effect")).select_by_visible_text("humidity")
    assert page.count("#effects-story .bars .bar") == 2
    assert page.count(".edge.lit") == 2
    assert "wet minus dry" in page.text("#effects-story")
    assert "on a path from precipitation to humidity" in page.text("#legend")
    page.show("wet")
    assert page.count(".edge.lit") == 0
    Select(page.find("#cause")).select_by_visible_text("radiation")
    Select(page.find("#effect")).select_by_visible_text("humidity")
    assert page.count("#effects-story .bars .span") == 2
    assert page.count(".edge.lit") == 4
    page.run(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))"
    )
    assert page.count(".edge.lit") == 0
    assert page.text("#effects-story") == ""
    assert page.complaints() == []


def test_one_lag_is_looked_at_by_itself(driver, pages):
    page = Page(driver, pages["land"])
    names = "return [...document.querySelectorAll('g.node')].map(n => n.ariaLabel)"
    assert "3 differences may be claimed" in page.text("#answer")
    assert page.text("#view-title") == "Labeled union: 17 edges"
    assert len(page.run(names)) == 14, "lag 2 has no link and is left out"
    assert page.count("g.node.context") == 2
    assert page.count("input[name=lag]") == 3
    page.run("document.querySelector('input[name=lag][value=\"1\"]').click()")
    assert page.text("#view-title") == "Labeled union: 8 edges at lag 1"
    assert page.count("g.edge") == 8
    assert len(page.run(names)) == 14
    assert not any("(t-2)" in name for name in page.run(names))
    page.show("water-limited")
    assert page.text("#view-title") == "regime = water-limited: 555 windows, 8 edges at lag 1"
    page.run("document.querySelector('input[name=lag][value=\"0\"]').click()")
    assert page.count("g.edge:not(.ghost)") == 8
    assert len(page.run(names)) == 7
    page.run(
        "document.querySelector('#edges button').click()"
    )  # rain(t-1) --> rain is at another lag
    assert page.text("#view-title").endswith("windows, 16 edges")
    assert "rain(t-1) and rain" in page.text("#story-heading")
    assert page.complaints() == []


def test_paths_over_time_are_lit_on_the_links_that_repeat(driver, pages):
    page = Page(driver, pages["land"])
    for field, name in (("cause", "radiation(t-1)"), ("effect", "moisture")):
        page.run(
            """const field = document.getElementById(arguments[0]);
            field.value = [...field.options].find(o => o.text === arguments[1]).value;
            field.dispatchEvent(new Event('change'))""",
            field,
            name,
        )
    lit = page.run(
        "return [...document.querySelectorAll('g.edge.lit')].map(e => e.ariaLabel.split('\\n')[0])"
    )
    assert sorted(line.split(" in ")[0] for line in lit) == [
        "latent(t-1) --> moisture",
        "radiation --> latent",
    ]
    assert "moisture, per unit of radiation(t-1)" in page.text("#effects-story")
    assert "regime is held at its value" in page.text("#effects-story")


def test_a_page_without_a_script_has_the_graph_as_text(pages):
    text = pages["land"].read_text()
    assert "latent --&gt; moisture (lag 1)" in text
    assert "latent(t-1) --&gt; moisture" in text


def test_compare_search_alpha_and_theme(driver, pages):
    page = Page(driver, pages["soil"])
    page.show("dry")
    page.find("#compare").send_keys("wet")
    assert page.text("#view-title") == "soil = dry against wet"
    page.find("#edges-search").send_keys("runoff")
    assert page.text("#edges-count") == "2 of 10 edges"
    page.find("#tests-search").send_keys("runoff wet present")
    assert page.text("#tests-count").endswith("of 42 tests")
    assert 0 < page.count("#tests tbody tr") < 42
    page.run(
        "const a = document.querySelector('#alpha'); a.value = -5; a.dispatchEvent(new"
        " Event('input'))"
    )
    assert "radiation and evapotranspiration" in page.text("#alpha-story")
    light = page.run("return getComputedStyle(document.documentElement).backgroundColor")
    page.find("#theme").click()
    assert page.run("return getComputedStyle(document.documentElement).backgroundColor") != light
    assert page.complaints() == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["soil", "thirty", "hostile", "plain", "pags", "land"])
def test_nothing_is_cut_off_and_nothing_complains(driver, pages, name, width):
    page = Page(driver, pages[name], width)
    for _ in range(2):
        assert page.run("return document.documentElement.scrollWidth <= window.innerWidth")
        outside = page.run(
            """
            const scrolls = (e) => e && (getComputedStyle(e).overflowX === 'auto' || scrolls(e.parentElement));
            const left_out = '.skip, [hidden], script, noscript, fieldset label';
            return [...document.body.querySelectorAll('*')]
              .filter(e => !scrolls(e.parentElement) && !e.closest(left_out))
              .filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"""
        )
        assert outside == []
        squeezed = page.run(
            """return [...document.querySelectorAll('g.node')].filter(n =>
            n.querySelector('text').getBBox().width > n.querySelector('rect').getBBox().width + 1).length"""
        )
        assert squeezed == 0
        page.find("#theme").click()
    assert page.complaints() == []
    assert page.requests() == []


def test_fit_shows_the_whole_graph(driver, pages):
    page = Page(driver, pages["thirty"], 420)
    fits = (
        "const stage = document.getElementById('stage'); return stage.scrollWidth <="
        " stage.clientWidth"
    )
    assert page.run(fits)
    page.find("#zoom-in").click()
    assert not page.run(fits)
    page.find("#zoom-fit").click()
    assert page.run(fits)


def test_thirty_variables_stay_below_one_megabyte(pages):
    assert pages["thirty"].stat().st_size < 1_000_000


def test_names_are_shown_as_themselves(driver, pages):
    page = Page(driver, pages["hostile"])
    assert page.run("return window.hacked") is None
    options = page.run(
        "return [...document.querySelectorAll('#first option')].map(o => o.textContent)"
    )
    assert hostile.NAMES[0] in options
    assert hostile.NAMES[1] in options
    assert "X" in options
    assert "X␣" in options
    assert any("😀 & 日本語 </style>" in text for text in options)
    page.show(hostile.LEVELS[1])
    assert hostile.LEVELS[1] in page.text("#view-title")
    page.run(
        "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", page.find("g.edge")
    )
    assert page.text("#story") != ""
    assert page.count("main script, main b, main style") == 0


def test_prints_without_controls(driver, pages):
    page = Page(driver, pages["soil"])
    pdf = page.driver.print_page()
    assert len(pdf) > 10_000
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert page.run("return getComputedStyle(document.querySelector('.toolbar')).display") == "none"
    for empty in (
        "aside",
        "#alpha-card",
        "label:has(#edges-search)",
    ):  # no heading without a text, no word for a control
        assert (
            page.run("return getComputedStyle(document.querySelector(arguments[0])).display", empty)
            == "none"
        )
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["soil", "nine", "land"])
def test_labels_are_not_crossed(driver, pages, name, width):
    """They lie above all lines, and hide neither variables nor each other."""
    page = Page(driver, pages[name], width)
    assert page.count("#stage .label") > 0
    assert page.run(
        "return [...document.querySelector('#stage svg').children].slice(-arguments[0])"
        ".every((one) => one.matches('.label'))",
        page.count("#stage .label"),
    )
    boxes = """return [...document.querySelectorAll(arguments[0])].map((one) => one.getBoundingClientRect())
               .map((box) => [box.left, box.top, box.right, box.bottom])"""
    labels, nodes = (
        page.run(boxes, selector) for selector in ("#stage .label", "#stage .node rect")
    )
    for place, label in enumerate(labels):
        for other in (*labels[:place], *nodes):
            apart = [min(label[i + 2], other[i + 2]) - max(label[i], other[i]) for i in (0, 1)]
            assert min(apart) < 3, (label, other)
