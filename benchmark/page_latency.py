# flake8: noqa: E203
"""
The browser page: from a gizmo's move to the message that moves the robot in the browser.

    make bench ARGS='page [--robot hexapod] [--drags 300]'

The page is served by a process of its own; a client here speaks to it as a browser does: it
moves a goal's gizmo twenty times a second, as often as viser's own client, and takes the time
until the new pose of the goal's link comes. What a browser needs to draw is not in it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import Any
from urllib.parse import quote

from ik_node.gallery import gallery_item
from ik_node.gallery.description_path import description_path
from ik_node.robot import load_robot
import msgspec
import numpy as np
import viser
from websockets.sync.client import ClientConnection, connect
import zstandard

PERIOD = 0.05  # of viser's client while something is dragged [s]
SHIFT = 0.002  # to either side [m]


def messages_of(data: bytes) -> list[dict[str, Any]]:
    """Return the messages of a window; their arrays are left out."""
    size, packed = (int.from_bytes(data[at : at + 8], 'little') for at in (0, 8))
    plain = zstandard.ZstdDecompressor().decompress(data[16 : 16 + packed], max_output_size=size)
    found: list[dict[str, Any]] = msgspec.msgpack.decode(plain)['messages']
    return found


def drag(connection: ClientConnection, gizmo: str, link: str, home: Any, count: int) -> Any:
    """Move a gizmo to and fro; return the times until the link's pose came [s]."""
    times = []
    turn = np.zeros(4)
    turn[0] = 1.0
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
        time.sleep(max(0.0, PERIOD - (time.perf_counter() - begun)))
    return np.array(times)


def main() -> int:
    """Print the percentiles."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--robot', default='hexapod')
    parser.add_argument('--drags', type=int, default=300)
    args = parser.parse_args()
    item = gallery_item(args.robot)
    goal, link = next(iter(item.goals.items()))
    robot = load_robot(description_path(item.description))
    home = robot.forward(robot.q, link)[:3, 3]
    words = [sys.executable, '-m', 'ik_node', 'view', '--demo', args.robot, '--port', '18700']
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as page:
        url = next(line for line in page.stdout or () if line.startswith('open ')).split()[1]
        protocol = f'viser-v{viser.__version__}'
        address = url.replace('http', 'ws')
        with connect(address, subprotocols=[protocol], max_size=None) as connection:
            names: set[str] = set()
            while f'/gizmos/{quote(goal)}' not in names:
                names |= {m.get('name', '') for m in messages_of(connection.recv(timeout=10.0))}
            place = f'/bodies/{quote(link)}', f'/gizmos/{quote(goal)}'
            drag(connection, place[1], place[0], home, 20)
            times = 1e3 * drag(connection, place[1], place[0], home, args.drags)
        page.terminate()
    print(f'{args.robot}: {args.drags} moves of {goal}, gizmo to robot, server and wire [ms]')
    for share in (50, 90, 99):
        print(f'  p{share} {np.percentile(times, share):6.1f}')
    print(f'  max {times.max():5.1f}; load of the machine {os.getloadavg()[0]:.1f}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
