"""A real browser that is driven over the WebDriver protocol, and the page that it shows."""

import base64
from collections.abc import Callable, Iterator
import io
import json
from pathlib import Path
import shutil
import socket
import subprocess
import time
from typing import Any
import urllib.error
import urllib.request

import numpy as np
import pytest
from support.waiting import PATIENCE, pause, wait_until

WIDTH, HEIGHT = 900, 700
# How often the mouse presses on something that does not move, and how long it may take [s].
PRESSES, NO_PRESS = 6, 20.0
# How long the page may take to notice a click [s].
NO_CLICK = 2.0
FLAGS = (
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--use-gl=angle',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--webgl-antialiasing-mode=none',
    f'--window-size={WIDTH},{HEIGHT}',
)
# The page draws without pause and the processor draws its pixels: ten times a second are enough.
SELDOM = (
    'window.requestAnimationFrame=draw=>setTimeout(()=>draw(performance.now()),100);'
    'window.cancelAnimationFrame=clearTimeout'
)


def with_text(label: str) -> str:
    """Return JavaScript that returns the button, tab, folder or input of that text, or null."""
    folder = '.mantine-Paper-root>.mantine-Paper-root'
    return (
        f'const w={json.dumps(label)};'
        f'const q="button,[role=tab],[role=option],input,label,{folder}";'
        'const is=e=>e.textContent.trim()===w||e.type==="text"&&e.value===w;'
        'const all=[...document.querySelectorAll(q)];'
        'return all.find(e=>is(e)&&e.getBoundingClientRect().width>0)'
    )


class Browser:
    """One window of a browser, whose process remains when it is closed: it takes long to start."""

    def __init__(self, driver: str, binary: str, folder: Path) -> None:
        self._driver = driver
        options = {'binary': binary, 'args': [*FLAGS, f'--user-data-dir={folder}']}
        # What a script or a page may take [ms]: pixels are drawn by the processor.
        patience = dict.fromkeys(('script', 'pageLoad'), int(1e3 * PATIENCE))
        wanted = {'alwaysMatch': {'goog:chromeOptions': options, 'timeouts': patience}}
        self._at = ''
        made = self._call('POST', '/session', {'capabilities': wanted})
        self._at = f'/session/{made["sessionId"]}'
        self.is_open = True

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._driver + self._at + path, data, method=method)
        request.add_header('Content-Type', 'application/json')
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()[:500]) from None

    def _devtools(self, command: str, **parameters: Any) -> None:
        words = {'cmd': command, 'params': parameters}
        self._call('POST', '/goog/cdp/execute', words)

    def _act(self, kind: str, steps: list[dict[str, Any]]) -> None:
        device = {'type': kind, 'id': kind, 'actions': steps}
        self._call('POST', '/actions', {'actions': [device]})

    def _middle(self, find: str) -> tuple[float, float] | None:
        """Return the middle [px] of what JavaScript returns, scrolled into view."""
        found = self.run(
            f'const e=(()=>{{{find}}})();if(!e)return null;e.scrollIntoView({{block:"nearest"}});'
            'const r=e.getBoundingClientRect();return [r.x+r.width/2,r.y+r.height/2]'
        )
        return None if found is None else (float(found[0]), float(found[1]))

    def _press(self, find: str, what: str) -> None:
        """Click what is found until the page has noticed it: on a busy machine it may yet move."""
        self.run(
            f'window.sought=()=>{{{find}}};window.noticed=false;if(!window.listens){{'
            'window.listens=true;document.addEventListener("click",c=>{const e=window.sought();'
            'if(e&&e.contains(c.target))window.noticed=true},true)}'
        )

        def pressed() -> bool:
            self.click(*wait_until(lambda: self._middle(find), f'{what} on the page'))
            end = time.monotonic() + NO_CLICK
            while not self.run('return window.noticed'):
                if time.monotonic() > end:
                    return False
                pause()
            return True

        wait_until(pressed, f'a click on {what}')

    def load(self, url: str) -> None:
        self.before_each_page(SELDOM)
        self._call('POST', '/url', {'url': url})

    def run(self, script: str) -> Any:
        return self._call('POST', '/execute/sync', {'script': script, 'args': []})

    def text(self) -> str:
        return str(self.run('return document.body.innerText'))

    def place_of(self, label: str) -> tuple[float, float] | None:
        """Return the middle [px] of the button, tab, option or input of that text."""
        return self._middle(with_text(label))

    def press(self, label: str) -> None:
        """Click the button, tab or option of that label, or the input with that text."""
        self._press(with_text(label), repr(label))

    def drag(self, *places: tuple[float, float], pause: int = 120) -> None:
        """Press the mouse at the first place [px], move it to the others, let go at the last."""
        steps: list[dict[str, Any]] = []
        for number, (x, y) in enumerate(places):
            move = {'type': 'pointerMove', 'duration': pause, 'x': round(x), 'y': round(y)}
            steps += [move, {'type': 'pause', 'duration': pause}]
            if number == 0:
                steps.append({'type': 'pointerDown', 'button': 0})
        steps.append({'type': 'pointerUp', 'button': 0})
        self._act('pointer', steps)

    def hit_key(self, key: str, *, control: bool = False) -> None:
        """Press a key for a moment, longer than a picture takes; with the control key, or not."""
        steps = [{'type': 'keyDown', 'value': key}, {'type': 'pause', 'duration': 120}]
        steps += [{'type': 'keyUp', 'value': key}]
        if control:
            both = {'value': '\ue009'}
            steps = [{'type': 'keyDown', **both}, *steps, {'type': 'keyUp', **both}]
        self._act('key', steps)

    def click(self, x: float, y: float) -> None:
        """Click at a place [px]."""
        self.drag((x, y))

    def before_each_page(self, script: str) -> None:
        self._devtools('Page.addScriptToEvaluateOnNewDocument', source=script)

    def picture(self, path: Path | None = None) -> np.ndarray:
        data = base64.b64decode(self._call('GET', '/screenshot'))
        if path is not None:
            path.write_bytes(data)
        image = pytest.importorskip('matplotlib.image')
        return np.asarray(image.imread(io.BytesIO(data), format='png'))[:, :, :3]

    def resize(self, width: int, height: int) -> None:
        """Set the size of the page [px], which may be smaller than a window can be."""
        how = {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False}
        self._devtools('Emulation.setDeviceMetricsOverride', **how)

    def be_phone(self, width: int, height: int) -> None:
        """Have a page of a phone [px], which a finger touches and whose layout can grow."""
        how = {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': True}
        self._devtools('Emulation.setDeviceMetricsOverride', **how)
        self._devtools('Emulation.setTouchEmulationEnabled', enabled=True)

    def tap(self, x: float, y: float) -> None:
        """Touch a place [px] with a finger."""
        finger = {'x': round(x), 'y': round(y)}
        self._devtools('Input.dispatchTouchEvent', type='touchStart', touchPoints=[finger])
        self._devtools('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])

    def prefer(self, scheme: str) -> None:
        wish = {'name': 'prefers-color-scheme', 'value': scheme}
        self._devtools('Emulation.setEmulatedMedia', features=[wish])

    def close(self) -> None:
        """Close the window, with all that its page has kept; may be called again."""
        if self.is_open:
            self.run('if(location.protocol.startsWith("http"))localStorage.clear()')
            # The browser ends with its last window.
            empty = self._call('POST', '/window/new', {'type': 'window'})
            self._call('DELETE', '/window')
            self._call('POST', '/window', {'handle': empty['handle']})
            self.is_open = False

    def end(self) -> None:
        self._call('DELETE', '')


class Window:
    """A browser that shows a page, and where things are in it."""

    def __init__(self, browser: Browser, page: Any, size: tuple[int, int] | None = None) -> None:
        self.browser = browser
        self._page = page
        if size is not None:
            browser.resize(*size)
        known = set(page.server.get_clients())
        browser.load(page.url)
        self.client = wait_until(
            lambda: next(
                (c for n, c in page.server.get_clients().items() if n not in known), None
            ),
            'the browser to connect',
        )
        self.ready()

    def ready(self) -> None:
        # On a phone, the sheet with the panels is closed.
        wait_until(lambda: self.browser.text().strip(), 'the panel')
        # The scene fades in.
        wait_until(lambda: self.colours() > 200, 'a scene that is not blank')

    def colours(self) -> int:
        picture = self.browser.picture()[:, : WIDTH - 360]
        return len(np.unique((255 * picture).astype(int) @ (1 << 16, 1 << 8, 1)))

    def free_view(self) -> tuple[float, float]:
        """Return width and height [px] of the view that no docked panel or sheet covers."""
        right, bottom, sheet = self.browser.run(
            'const r=document.querySelector("canvas[data-engine]").getBoundingClientRect();'
            'const p=[...document.querySelectorAll(".mantine-Paper-root")].map('
            'e=>e.getBoundingClientRect()).find('
            'r=>r.bottom>=innerHeight-1&&r.width>=innerWidth-1);'
            'return [r.right,r.bottom,p?p.top:innerHeight]'
        )
        return float(right), float(min(bottom, sheet))

    def robot_pixels(self) -> np.ndarray:
        """Return where points of the robot are in the window [px], as soon as it is fitted."""

        def places() -> np.ndarray:
            stage = self._page._stage
            fit = stage.cameras._sent[self.client.client_id][0][-1]
            if not np.allclose(self.client.camera.position, fit.eye, atol=1e-6):
                return np.zeros((0, 2))
            return np.array([self.pixel(point) for point in stage.cameras._points[::7]])

        return np.asarray(wait_until(places, 'the fitted camera', ready=len))

    def pixel(self, point: Any) -> tuple[float, float]:
        """Return where a point of the scene [m] is in the window [px]."""
        camera = self.client.camera
        w, x, y, z = camera.wxyz
        turn = np.array(
            (
                (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
                (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
                (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
            )
        )
        across, down, away = turn.T @ (np.asarray(point) - camera.position)
        focal = 0.5 * camera.image_height / np.tan(0.5 * camera.fov)
        return (
            0.5 * camera.image_width + focal * across / away,
            0.5 * camera.image_height + focal * down / away,
        )

    def pull(self, grip: Any, way: Any) -> None:
        """Drag whatever is seen at a place [m] along a way [m]."""
        grip, way = np.asarray(grip, dtype=float), np.asarray(way, dtype=float)
        self.browser.drag(*[self.pixel(grip + share * way) for share in (0.0, 0.4, 1.0, 1.0)])

    def lift(self, goal: str, height: float) -> np.ndarray:
        """
        Drag a gizmo's upper arrow up by a height [m]; return where the goal was.

        A browser on a busy computer may miss the press: it is made again if nothing moves.
        """

        def place() -> np.ndarray:
            return np.asarray(self._page.ask(lambda s: s.robot.goals[goal].matrix_world.copy()))

        start = place()
        hold = start[:3, 3] + (0.0, 0.0, 0.9 * self._page._stage.gizmo_size)
        for _ in range(PRESSES):
            self.pull(hold, (0.0, 0.0, height))
            end = time.monotonic() + NO_PRESS
            while time.monotonic() < end:
                if (place()[2, 3] - start[2, 3]) / height > 0.25:
                    return start
                time.sleep(0.1)
        pytest.fail(f'{PRESSES} drags of the goal {goal} have not moved it')


def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Browser]]:
    driver = shutil.which('chromedriver')
    binary = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'chrome'))), '')
    if not (driver and binary):
        pytest.skip('needs a browser: apt install chromium chromium-driver')
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp('chromedriver') / 'log'
    with subprocess.Popen([driver, f'--port={port}', f'--log-path={log}']) as process:

        def listens() -> bool:
            with socket.socket() as client:
                return client.connect_ex(('127.0.0.1', port)) == 0

        wait_until(listens, 'chromedriver')
        started: list[Browser] = []

        def open_one() -> Browser:
            for browser in started:
                if not browser.is_open:
                    browser.is_open = True
                    return browser
            folder = tmp_path_factory.mktemp('browser')
            started.append(Browser(f'http://127.0.0.1:{port}', binary, folder))
            return started[-1]

        try:
            yield open_one
            for browser in started:
                browser.end()
        finally:
            process.terminate()
