"""The player of the report in a real browser."""

import io
import shutil
from dataclasses import replace
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from redisc.report.page import cached_places, collect, render_page
from report.reports import redisc_run

selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.actions.action_builder import ActionBuilder  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium and its driver are not installed")

# WebGL on the processor, so that a machine without a graphics card will do.
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--use-angle=swiftshader")
NO_WEBGL = """
const getContext = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind.includes("webgl") ? null : getContext.call(this, kind, ...rest);
};"""


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    run = redisc_run(tmp_path_factory.mktemp("player"))
    drivers = [[(int(np.flatnonzero(run.split(run.graph()).train)[0]), -0.25)]] * 60
    content = replace(collect(run, 4), drivers=drivers)
    path = run.folder / "report.html"
    path.write_text(render_page(content, cached_places(run.folder, content.graph), []), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def driver():
    options = selenium.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, "--enable-unsafe-swiftshader", "--window-size=1280,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = selenium.Chrome(options=options, service=selenium.ChromeService(DRIVER))
    started.set_script_timeout(120)
    yield started
    started.quit()


def opened(driver, report):
    driver.get(report.as_uri())
    driver.execute_async_script("player.ready.then(arguments[0])")
    driver.execute_script("document.getElementById('player').scrollIntoView()")


@pytest.fixture(scope="module")
def loaded(driver, report):
    opened(driver, report)
    return driver


@pytest.fixture
def page(loaded):
    """The loaded page with the player at its end and no node chosen."""
    loaded.execute_script("player.pause(); player.pointAt(null); player.show(player.chain.steps)")
    return loaded


def colours(page):
    return page.execute_script("return document.getElementById('graph').data[1].marker.color")


def counter(page):
    return page.find_element(By.ID, "counter").text


def coloured(page):
    """Count the pixels of the graph that are not some grey."""
    png = page.find_element(By.ID, "graph").screenshot_as_png
    pixels = matplotlib.image.imread(io.BytesIO(png))[..., :3]
    return int((np.ptp(pixels, axis=2) > 0.25).sum())


def drag_slider(page, step):
    page.execute_script(
        "const s = document.getElementById('step'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", step
    )


def pixel_of(page, node):
    return page.execute_script(
        """const graph = document.getElementById("graph"), box = graph.getBoundingClientRect();
        const at = (axis, value) => axis._offset + axis.d2p(value);
        const { xaxis, yaxis } = graph._fullLayout, { x, y } = graph.data[1];
        return [box.left + at(xaxis, x[arguments[0]]), box.top + at(yaxis, y[arguments[0]])];""",
        node,
    )


def point_at(page, node):
    """Move the mouse to a node and wait for the panel."""
    x, y = (round(value) for value in pixel_of(page, node))
    mouse = ActionBuilder(page)
    mouse.pointer_action.move_to_location(x + 3, y + 3).move_to_location(x, y)
    mouse.perform()
    panel = page.find_element(By.ID, "panel")
    WebDriverWait(page, 20).until(lambda _: f"node {node}</b>" in panel.text)
    return panel


def test_the_page_loads_without_errors_or_requests(page):
    assert page.execute_script("return player.view.webgl")
    fetched = page.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in fetched if not name.startswith("data:")] == []
    assert page.get_log("browser") == []


def test_the_slider_masks_and_reveals(page):
    complete, area = colours(page), coloured(page)
    assert counter(page) == "t = 0, revealed 100 %"
    drag_slider(page, 0)
    assert set(colours(page)) == {"#d6d6d3"}
    assert counter(page) == "t = 10, revealed 0 %"
    assert coloured(page) == 0
    drag_slider(page, 6)
    shown = np.array(page.execute_script("return Array.from(player.chain.revealed)")) > 10 - 6
    np.testing.assert_array_equal(np.array(colours(page)) == np.array(complete), shown)
    assert 0 < coloured(page) < area
    drag_slider(page, 10)
    assert colours(page) == complete
    assert coloured(page) == pytest.approx(area, rel=0.02)


def test_keys_move_and_play(page):
    body = page.find_element(By.TAG_NAME, "body")
    for key, said in ((Keys.HOME, "t = 10"), (Keys.ARROW_RIGHT, "t = 9"), (Keys.ARROW_LEFT, "t = 10")):
        body.send_keys(key)
        assert counter(page).startswith(f"{said},")
    page.execute_script("document.getElementById('speed').value = 4")
    body.send_keys(Keys.SPACE)
    assert page.find_element(By.ID, "play").text == "Pause"
    WebDriverWait(page, 20).until(lambda _: counter(page).startswith("t = 0,"))
    WebDriverWait(page, 20).until(lambda _: page.find_element(By.ID, "play").text == "Play")
    body.send_keys(Keys.HOME)
    body.send_keys(Keys.END)
    assert counter(page).startswith("t = 0,")


def test_hovering_tells_all_about_a_node_as_text(page):
    node = page.execute_script("return player.chain.truth.findIndex((label) => label >= 0)")
    panel = point_at(page, node)
    text = panel.text
    assert f"<b>node {node}</b>" in text
    assert panel.find_elements(By.TAG_NAME, "b") == []
    label, chance = page.execute_script(
        "const row = player.chain.posterior(arguments[0])[0]; return [player.chain.classes[row.label], row.chance]",
        node,
    )
    assert label in text
    assert f"{100 * chance:.1f} %" in text
    assert f"step {page.execute_script('return player.chain.shownFrom[arguments[0]]', node)} of 10" in text
    beside = page.execute_script("return Array.from(player.chain.neighbours(arguments[0]))", node)
    assert f"Neighbours ({len(beside)})" in text
    assert "true label" in text
    assert "speaks against it, 25.0 points" in text
    rings = page.execute_script("return document.getElementById('graph').layout.shapes.length")
    assert rings == len(beside) + 2


def test_mistakes_are_black(page):
    page.execute_script("player.colourBy('mistakes')")
    truth, labels = (np.array(page.execute_script(f"return player.chain.{name}")) for name in ("truth", "labels"))
    np.testing.assert_array_equal(np.array(colours(page)) == "#000000", (truth >= 0) & (truth != labels))
    page.execute_script("player.colourBy('label')")


def test_a_phone_needs_no_sideways_scrolling_and_keeps_the_colours(page):
    drag_slider(page, 6)
    try:
        page.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True},
        )
        WebDriverWait(page, 20).until(lambda _: page.find_element(By.ID, "graph").size["width"] < 390)
        WebDriverWait(page, 20).until(
            lambda _: page.execute_script("return document.getElementById('graph')._fullLayout.width < 390")
        )
        assert page.execute_script("return document.documentElement.scrollWidth") <= 390
        page.execute_script("document.getElementById('graph').scrollIntoView()")
        assert coloured(page) > 0
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert page.get_log("browser") == []


def test_without_webgl_the_player_still_works_and_says_so(driver, report):
    script = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NO_WEBGL})
    try:
        opened(driver, report)
    finally:
        driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    assert driver.find_element(By.ID, "no-webgl").is_displayed()
    assert driver.execute_script("return document.getElementById('graph').data[1].type") == "scatter"
    assert coloured(driver) > 0
    drag_slider(driver, 0)
    assert coloured(driver) == 0
    point_at(driver, 5)
    assert driver.get_log("browser") == []
