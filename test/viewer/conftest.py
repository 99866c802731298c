"""A page of its own, and a real browser that is driven over the WebDriver protocol."""

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

PATIENCE = 60.0  # [s]; pixels are drawn by the processor
WIDTH, HEIGHT = 900, 700
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
    f'--window-size={WIDTH},{HEIGHT}',
)


def wait_for(look: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """Look again and again until there is something to see; return it."""
    end = time.monotonic() + patience
    while True:
        found = look()
        if found is not None and found is not False:
            return found
        assert time.monotonic() < end, f'waited {patience:.0f} s in vain for {what}'
        time.sleep(0.05)


class Browser:
    """One window of a browser."""

    def __init__(self, driver: str, binary: str, folder: Path) -> None:
        self._driver = driver
        options = {'binary': binary, 'args': [*FLAGS, f'--user-data-dir={folder}']}
        wanted = {'alwaysMatch': {'goog:chromeOptions': options}}
        self._at = ''
        made = self._call('POST', '/session', {'capabilities': wanted})
        self._at = f'/session/{made["sessionId"]}'

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._driver + self._at + path, data, method=method)
        request.add_header('Content-Type', 'application/json')
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()[:500]) from None

    def load(self, url: str) -> None:
        """Load a page."""
        self._call('POST', '/url', {'url': url})

    def clipboard(self) -> str:
        """Return the text on the clipboard."""
        allowed = {'permissions': ['clipboardReadWrite', 'clipboardSanitizedWrite']}
        words = {'cmd': 'Browser.grantPermissions', 'params': allowed}
        self._call('POST', '/goog/cdp/execute', words)
        script = 'navigator.clipboard.readText().then(arguments[0],arguments[0])'
        return str(self._call('POST', '/execute/async', {'script': script, 'args': []}))

    def run(self, script: str) -> Any:
        """Run JavaScript on the page; return what it returns."""
        return self._call('POST', '/execute/sync', {'script': script, 'args': []})

    def text(self) -> str:
        """Return all text on the page."""
        return str(self.run('return document.body.innerText'))

    def place_of(self, label: str) -> tuple[float, float] | None:
        """Return the middle [px] of the button, tab, option or input of that text."""
        found = self.run(
            f'const w={json.dumps(label)};'
            'const q="button,[role=tab],[role=option],input,label";'
            'const is=e=>e.textContent.trim()===w||e.type==="text"&&e.value===w;'
            'const all=[...document.querySelectorAll(q)];'
            'const b=all.find(e=>is(e)&&e.getBoundingClientRect().width>0);'
            'if(!b)return null;b.scrollIntoView({block:"nearest"});'
            'const r=b.getBoundingClientRect();return [r.x+r.width/2,r.y+r.height/2]'
        )
        return None if found is None else (float(found[0]), float(found[1]))

    def press(self, label: str) -> None:
        """Click the button, tab or option of that label, or the input with that text."""
        x, y = wait_for(lambda: self.place_of(label), f'{label!r} on the page')
        self.click(x, y)

    def drag(self, *places: tuple[float, float], pause: int = 120) -> None:
        """Press the mouse at the first place [px], move it to the others, let go at the last."""
        steps: list[dict[str, Any]] = []
        for number, (x, y) in enumerate(places):
            move = {'type': 'pointerMove', 'duration': pause, 'x': round(x), 'y': round(y)}
            steps += [move, {'type': 'pause', 'duration': pause}]
            if number == 0:
                steps.append({'type': 'pointerDown', 'button': 0})
        steps.append({'type': 'pointerUp', 'button': 0})
        mouse = {'type': 'pointer', 'id': 'mouse', 'actions': steps}
        self._call('POST', '/actions', {'actions': [mouse]})

    def hit_key(self, key: str, *, control: bool = False) -> None:
        """Press a key for a moment, longer than a picture takes; with the control key, or not."""
        steps = [{'type': 'keyDown', 'value': key}, {'type': 'pause', 'duration': 120}]
        steps += [{'type': 'keyUp', 'value': key}]
        if control:
            both = {'value': '\ue009'}
            steps = [{'type': 'keyDown', **both}, *steps, {'type': 'keyUp', **both}]
        actions = [{'type': 'key', 'id': 'keys', 'actions': steps}]
        self._call('POST', '/actions', {'actions': actions})

    def click(self, x: float, y: float) -> None:
        """Click at a place [px]."""
        self.drag((x, y))

    def picture(self, path: Path | None = None) -> np.ndarray:
        """Return a screenshot, (height, width, 3), and save it."""
        data = base64.b64decode(self._call('GET', '/screenshot'))
        if path is not None:
            path.write_bytes(data)
        image = pytest.importorskip('matplotlib.image')
        return np.asarray(image.imread(io.BytesIO(data), format='png'))[:, :, :3]

    def close(self) -> None:
        """Close the window; may be called again."""
        if self._at:
            self._call('DELETE', '')
            self._at = ''


@pytest.fixture(scope='session')
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Browser]]:
    """Return a function that opens a browser; skip where there is none."""
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

        wait_for(listens, 'chromedriver')

        def open_one() -> Browser:
            folder = tmp_path_factory.mktemp('browser')
            return Browser(f'http://127.0.0.1:{port}', binary, folder)

        yield open_one
        process.terminate()


class Node:
    """What a scene hands out: remembers what it was told."""

    def __init__(self, scene: 'Scene', name: str, kind: str, **about: Any) -> None:
        self.scene, self.name, self.kind = scene, name, kind
        self.visible = True
        self.scale: Any = 1.0
        self.clicks: list[Any] = []
        self.drags: list[Any] = []
        self.position, self.wxyz = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
        self.__dict__.update(about)

    def on_click(self, work: Any) -> None:
        """Note who wants to know of clicks."""
        self.clicks.append(work)

    def on_drag(self, work: Any) -> None:
        """Note who wants to know of drags."""
        self.drags.append(work)

    def remove_drag_callback(self) -> None:
        """Nobody wants to know of drags any more."""
        self.drags.clear()

    def on_update(self, work: Any) -> None:
        """Note who wants to know of drags."""
        self.clicks.append(work)

    def remove(self) -> None:
        """Go, with all below."""
        for name in [*self.scene.nodes]:
            if name == self.name or name.startswith(f'{self.name}/'):
                del self.scene.nodes[name]


class Scene:
    """A scene without a browser."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.made = 0

    def _add(self, name: str, kind: str, **about: Any) -> Node:
        assert name not in self.nodes
        self.made += 1
        self.nodes[name] = Node(self, name, kind, **about)
        return self.nodes[name]

    def add_mesh_simple(self, name: str, vertices: Any, faces: Any, **about: Any) -> Node:
        """Add triangles."""
        return self._add(name, 'mesh', vertices=vertices, faces=faces, **about)

    def add_mesh_trimesh(self, name: str, mesh: Any, **about: Any) -> Node:
        """Add a mesh as it was read."""
        return self._add(name, 'trimesh', mesh=mesh, **about)

    def add_batched_meshes_simple(
        self, name: str, vertices: Any, faces: Any, **about: Any
    ) -> Node:
        """Add many alike meshes."""
        return self._add(name, 'batch', vertices=vertices, faces=faces, **about)

    def add_frame(self, name: str, **about: Any) -> Node:
        """Add a frame."""
        return self._add(name, 'frame', **about)

    def add_label(self, name: str, text: str, **about: Any) -> Node:
        """Add a text."""
        return self._add(name, 'label', text=text, **about)

    def add_box(self, name: str, **about: Any) -> Node:
        """Add a box."""
        return self._add(name, 'box', **about)

    def add_cylinder(self, name: str, radius: float, height: float, **about: Any) -> Node:
        """Add a cylinder."""
        return self._add(name, 'cylinder', radius=radius, height=height, **about)

    def add_icosphere(self, name: str, radius: float, **about: Any) -> Node:
        """Add a ball."""
        return self._add(name, 'ball', radius=radius, **about)

    def add_transform_controls(self, name: str, **about: Any) -> Node:
        """Add a gizmo."""
        return self._add(name, 'gizmo', **about)


@pytest.fixture
def scene() -> Scene:
    """Return an empty scene."""
    return Scene()


@pytest.fixture
def open_page() -> Iterator[Callable[..., Any]]:
    """Return a function that serves a page of a gallery robot; skip where viser is missing."""
    pytest.importorskip('viser')
    from ik_node.viewer.gallery_session import gallery_session
    from ik_node.viewer.page import Page

    opened: list[Any] = []

    def open_one(name: str = 'hexapod', **how: Any) -> Any:
        opened.append(Page(gallery_session(name), port=18080, **how))
        opened[-1].ask(lambda session: None)
        return opened[-1]

    yield open_one
    for page in opened:
        page.close()
        page.wait()


@pytest.fixture
def patient() -> Callable[..., Any]:
    """Return `wait_for`."""
    return wait_for


class Window:
    """A browser that shows a page, and where things are in it."""

    def __init__(self, browser: Browser, page: Any) -> None:
        self.browser = browser
        self._page = page
        known = set(page.server.get_clients())
        browser.load(page.url)
        self.client = wait_for(
            lambda: next(
                (c for n, c in page.server.get_clients().items() if n not in known), None
            ),
            'the browser to connect',
        )
        self.ready()

    def ready(self) -> None:
        """Wait until it is drawn."""
        wait_for(lambda: 'Goals' in self.browser.text(), 'the panel')
        # The scene fades in.
        wait_for(lambda: self.colours() > 200, 'a scene that is not blank')

    def colours(self) -> int:
        """Return how many colours there are left of the panel."""
        picture = self.browser.picture()[:, : WIDTH - 360]
        return len(np.unique((255 * picture).astype(np.uint8).reshape(-1, 3), axis=0))

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
        """Drag a gizmo's upper arrow up by a height [m]; return where the goal was."""
        start = self._page.ask(lambda s: s.robot.goals[goal].matrix_world.copy())
        hold = start[:3, 3] + (0.0, 0.0, 0.9 * self._page.gizmo_size)
        self.pull(hold, (0.0, 0.0, height))
        return np.asarray(start)


@pytest.fixture
def open_window(open_browser: Callable[[], Browser]) -> Iterator[Callable[[Any], Window]]:
    """Return a function that opens a page in a browser of its own, which ends with the test."""
    opened: list[Browser] = []

    def open_one(page: Any) -> Window:
        opened.append(open_browser())
        return Window(opened[-1], page)

    yield open_one
    for browser in opened:
        browser.close()
