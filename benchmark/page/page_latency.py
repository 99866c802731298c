"""
Time on the browser page from the pointer that drags a gizmo to the moved robot.

    make bench ARGS='page [--robot hexapod] [--drags 300] [--ros 250] [--no-browser]'

The page is served by a process of its own; with --ros it shows a node, in another one, that ticks
so often [Hz]. First a client here speaks to the page as a browser does: it moves a goal's gizmo
twenty times a second, as often as viser's own client, and takes the time until the new pose of
the goal's link comes. Then a headless Chromium, where there is one, has a mouse drag the gizmo,
and the page itself takes the times: as it is, where the processor has to fill all triangles with
colour, and with that left out, which is about what a graphics card takes for it. Then the same on
a page of viser's with nothing on it but a gizmo and a box.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, ExitStack
import json
import os
from pathlib import Path
import random
import subprocess
import sys
import tempfile
import time
from typing import Any
from urllib.parse import quote

from ik_node.description.files import description_path
from ik_node.gallery import gallery_item
from ik_node.robot import load_robot
import msgspec
from node.node_process import LINK, NodeProcess
import numpy as np
from numpy.typing import NDArray
from page import page_bare
from page.devtools import chromium, DevTools
import viser
from websockets.sync.client import ClientConnection, connect
import zstandard

Array = NDArray[np.float64]

PERIOD = 0.05  # of viser's client while something is dragged [s]
SHIFT = 0.002  # to either side [m]
WIDTH, HEIGHT = 900, 700
BARE = 'a page of one box'
PARTS = ('pointer to sent', 'sent to moved', 'moved to drawn', 'pointer to drawn')


def messages_of(data: bytes) -> list[dict[str, Any]]:
    """Return the messages of a window without their arrays."""
    size, packed = (int.from_bytes(data[at : at + 8], 'little') for at in (0, 8))
    plain = zstandard.ZstdDecompressor().decompress(data[16 : 16 + packed], max_output_size=size)
    found: list[dict[str, Any]] = msgspec.msgpack.decode(plain)['messages']
    return found


def move_on_wire(
    connection: ClientConnection, gizmo: str, link: str, home: Array, count: int
) -> Array:
    """Move a gizmo to and fro; return the times until the link's pose arrives [s]."""
    times = []
    turn = np.zeros(4)
    turn[0] = 1.0
    chance = random.Random(1)
    for number in range(count):
        begun = time.perf_counter()
        position = home + SHIFT * np.array((np.sin(0.3 * number), np.cos(0.3 * number), 0.0))
        message = {
            'type': 'TransformControlsUpdateMessage',
            'name': gizmo,
            'wxyz': turn.tolist(),
            'position': position.tolist(),
            'owner': '',
        }
        connection.send(msgspec.msgpack.encode(message))
        while True:
            window = messages_of(connection.recv(timeout=10.0))
            if any(m['type'] == 'SetPositionMessage' and m['name'] == link for m in window):
                break
        times.append(time.perf_counter() - begun)
        # Not in step with the timer of a node.
        pause = PERIOD + chance.uniform(0.0, 0.01)
        time.sleep(max(0.0, pause - (time.perf_counter() - begun)))
    return np.array(times)


def on_wire(url: str, goal: str, link: str, home: Array, count: int) -> Array:
    """Return the times from a gizmo's motion to the robot's, without a browser [s]."""
    protocol = f'viser-v{viser.__version__}'
    place = f'/gizmos/{quote(goal)}', f'/bodies/{quote(link)}'
    with connect(url.replace('http', 'ws'), subprotocols=[protocol], max_size=None) as connection:
        names: set[str] = set()
        while place[0] not in names:
            names |= {m.get('name', '') for m in messages_of(connection.recv(timeout=30.0))}
        move_on_wire(connection, *place, home, 20)
        return move_on_wire(connection, *place, home, count)


def pixel(camera: dict[str, Any], point: Array) -> tuple[float, float]:
    """Return the position of a scene point [m] in the window [px]."""
    w, x, y, z = camera['wxyz']
    turn = np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        )
    )
    across, down, away = turn.T @ (point - np.array(camera['position']))
    focal = 0.5 * camera['image_height'] / np.tan(0.5 * camera['fov'])
    middle = 0.5 * camera['image_width'], 0.5 * camera['image_height']
    return float(middle[0] + focal * across / away), float(middle[1] + focal * down / away)


def in_browser(url: str, link: str, home: Array, count: int, *, draws: bool) -> Array:
    """
    Return times of `PARTS` measured by the browser's page, (count, 4) [s].

    Without `draws` all is done but filling triangles with colour, which takes a graphics card
    next to nothing, and a processor most of the time.
    """
    script = Path(__file__).with_name('page_in_browser.js').read_text(encoding='utf-8')
    script = script.replace('%LINK%', quote(link)).replace('%DRAWS%', str(draws).lower())
    chance = random.Random(1)
    with DevTools(WIDTH, HEIGHT) as browser:
        browser.call('Page.enable')
        browser.call('Page.addScriptToEvaluateOnNewDocument', source=script)
        browser.call('Page.navigate', url=url)
        browser.wait('!!(bench.scale && bench.camera && bench.gl)', 'the page')
        time.sleep(3.0)
        camera, size = browser.run('bench.camera'), browser.run('bench.scale')
        grip = home + np.array((0.0, 0.0, 0.9 * size))
        browser.mouse('Moved', *pixel(camera, grip), down=False)
        time.sleep(0.5)
        browser.mouse('Pressed', *pixel(camera, grip))
        for number in range(20 + count):
            up = np.array((0.0, 0.0, SHIFT * (number % 2)))
            browser.mouse('Moved', *pixel(camera, grip + up))
            if number == 0:
                # The first may only begin the drag.
                time.sleep(0.3)
                browser.run('bench.drags.length = 0; bench.open = null')
                continue
            browser.wait(f'bench.drags.length >= {number}', 'the robot to be drawn')
            time.sleep(PERIOD + chance.uniform(0.02, 0.05))
        browser.mouse('Released', *pixel(camera, grip))
        stamps = 1e-3 * np.array(browser.run('bench.drags'))[19:]
    steps = np.diff(stamps, axis=1)
    return np.column_stack((steps, stamps[:, 3] - stamps[:, 0]))


def table(rows: dict[str, Array]) -> str:
    """Return percentiles of times, one row each [ms]."""
    lines = [f'{"[ms]":54}{"p50":>8}{"p90":>8}{"p99":>8}{"max":>8}']
    for name, times in rows.items():
        values = 1e3 * np.percentile(times, (50, 90, 99, 100))
        lines.append(f'{name:54}' + ''.join(f'{value:8.1f}' for value in values))
    return '\n'.join(lines)


def start_node(stack: ExitStack, text: str, rate: float) -> None:
    """Start a node with a robot and its goal."""
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    file = Path(folder) / 'robot.yaml'
    values = {'/**': {'ros__parameters': {'robot_description': text}}}
    file.write_text(json.dumps(values), encoding='utf-8')
    stack.enter_context(NodeProcess.ik_node(rate, '--params-file', str(file)))


@contextmanager
def served(*words: str) -> Iterator[str]:
    """Start a page with this interpreter; the context value is its address."""
    command = [sys.executable, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as page:
        try:
            yield next(line for line in page.stdout or () if line.startswith('open ')).split()[1]
        finally:
            page.terminate()


def browser_rows(url: str, link: str, home: Array, count: int) -> dict[str, Array]:
    """Return the times of all parts with filled and unfilled triangles."""
    rows = {}
    for draws, title in ((False, 'no filling'), (True, 'processor fills')):
        parts = in_browser(url, link, home, count, draws=draws)
        rows |= {f'{name} ({title})': parts[:, at] for at, name in enumerate(PARTS)}
    return rows


def main() -> int:
    """Print the percentiles."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').splitlines()[1])
    parser.add_argument('--robot', default='hexapod')
    parser.add_argument('--drags', type=int, default=300)
    parser.add_argument('--ros', type=float, metavar='HZ', help='the hexapod of a node')
    parser.add_argument('--no-browser', action='store_true')
    args = parser.parse_args()
    item = gallery_item('hexapod' if args.ros else args.robot)
    goal, link = ('platform', LINK) if args.ros else next(iter(item.goals.items()))
    path = description_path(item.description)
    robot = load_robot(path)
    home = robot.forward(robot.q, link)[:3, 3]
    shown = ['--ros'] if args.ros else ['--demo', args.robot]
    load = os.getloadavg()[0]
    looks = bool(chromium()) and not args.no_browser
    with ExitStack() as stack:
        if args.ros:
            os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
            start_node(stack, Path(path).read_text(encoding='utf-8'), args.ros)
        url = stack.enter_context(served('-m', 'ik_node', 'view', *shown, '--port', '18700'))
        rows = {'gizmo to robot, no browser': on_wire(url, goal, link, home, args.drags)}
        if looks:
            rows |= browser_rows(url, link, home, args.drags)
    if looks:
        with served(page_bare.__file__, '18720') as url:
            bare = browser_rows(url, page_bare.LINK, np.array(page_bare.HOME), args.drags)
        rows |= {f'{BARE}: {name}': times for name, times in bare.items()}
    where = f'a node that ticks at {args.ros:g} Hz' if args.ros else 'solved by the page'
    print(f'{item.name}, {where}: {args.drags} drags of {goal}, load at the start {load:.1f}')
    print(table(rows))
    return 0


if __name__ == '__main__':
    sys.exit(main())
