"""A page of its own, a real browser, and a scene that remembers what is drawn in it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.ports import own_port
from support.web_browser import Browser, browsers, Window


@pytest.fixture(scope='session')
def open_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Browser]]:
    yield from browsers(tmp_path_factory)


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
        self.clicks.append(work)

    def on_drag(self, work: Any) -> None:
        self.drags.append(work)

    def remove_drag_callback(self) -> None:
        self.drags.clear()

    def on_update(self, work: Any) -> None:
        self.clicks.append(work)

    def remove(self) -> None:
        for name in [*self.scene.nodes]:
            if name == self.name or name.startswith(f'{self.name}/'):
                del self.scene.nodes[name]


# What a scene can add: the kind of node, and the arguments that come by position after the name.
ADDED = {
    'add_mesh_simple': ('mesh', 'vertices', 'faces'),
    'add_mesh_trimesh': ('trimesh', 'mesh'),
    'add_batched_meshes_simple': ('batch', 'vertices', 'faces'),
    'add_frame': ('frame',),
    'add_label': ('label', 'text'),
    'add_box': ('box',),
    'add_cylinder': ('cylinder', 'radius', 'height'),
    'add_icosphere': ('ball', 'radius'),
    'add_transform_controls': ('gizmo',),
}


class Scene:
    """A scene without a browser."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.made = 0

    def __getattr__(self, method: str) -> Callable[..., Node]:
        kind, *names = ADDED[method]

        def add(name: str, *given: Any, **about: Any) -> Node:
            assert name not in self.nodes
            self.made += 1
            about.update(zip(names, given, strict=False))
            self.nodes[name] = Node(self, name, kind, **about)
            return self.nodes[name]

        return add


@pytest.fixture
def scene() -> Scene:
    return Scene()


@pytest.fixture
def open_page() -> Iterator[Callable[..., Any]]:
    """Return a function that serves a page of a gallery robot; skip where viser is missing."""
    pytest.importorskip('viser')
    from ik_node.viewer.page import Page
    from ik_node.viewer.sessions.library_session import gallery_session

    opened: list[Any] = []

    def open_one(name: str = 'hexapod', **how: Any) -> Any:
        opened.append(Page(gallery_session(name), port=own_port(50), **how))
        opened[-1].ask(lambda session: None)
        return opened[-1]

    yield open_one
    for page in opened:
        page.close()
        page.wait()


@pytest.fixture
def open_window(open_browser: Callable[[], Browser]) -> Iterator[Callable[..., Window]]:
    """Return a function that opens a page in a window of its own, closed after the test."""
    opened: list[Browser] = []

    def open_one(page: Any, size: tuple[int, int] | None = None, scheme: str = 'light') -> Window:
        opened.append(open_browser())
        opened[-1].prefer(scheme)
        return Window(opened[-1], page, size)

    yield open_one
    for browser in opened:
        browser.close()
