"""
The page next to a moving node: its load, and its effect on the node.

    make bench ARGS='beside [--seconds 60] [--rate 250]'

A client in this process leads the hexapod's platform, a hundred goals a second: of a node by
itself, of one that a page shows, and of one whose page a headless Chromium looks at as well,
without a graphics card and with the processor spared of filling triangles.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
import os
from pathlib import Path
import sys
import time

from ik_node.description.files import description_path
from ik_node.robot import load_robot
from machine import machine
from node.node_client import Client, Run
from node.node_process import LINK, NodeProcess
import numpy as np
from page.devtools import chromium, DevTools
import rclpy

CASES = ('no page', 'page', 'page and browser')
PORT = 18750


def watch(stack: ExitStack, case: str) -> NodeProcess | None:
    """Open the page or browser of a case."""
    if case == CASES[0]:
        return None
    words = ('-m', 'ik_node', 'view', '--ros', '--port', str(PORT))
    page = stack.enter_context(NodeProcess(*words))
    while 'open ' not in page.output():
        if not page.runs:
            raise SystemExit(page.output())
        time.sleep(0.1)
    if case == CASES[2]:
        script = Path(__file__).with_name('page_in_browser.js').read_text(encoding='utf-8')
        script = script.replace('%LINK%', LINK).replace('%DRAWS%', 'false')
        browser = stack.enter_context(DevTools(900, 700))
        browser.call('Page.enable')
        browser.call('Page.addScriptToEvaluateOnNewDocument', source=script)
        browser.call('Page.navigate', url=f'http://127.0.0.1:{PORT}')
    return page


def row(case: str, run: Run, page: tuple[float, list[float]] | None) -> str:
    """Return a line of the table."""
    seen = np.array([at for at, _ in run.joint_states])
    rate = (len(seen) - 1) / (seen[-1] - seen[0])
    lost = 100.0 * run.missed / max(run.ticks, 1)
    cells = [case, f'{rate:.1f} Hz', f'{lost:.3f} %', f'{100.0 * run.cpu:.0f} %']
    if page is None:
        cells += ['-', '-']
    else:
        cpu, memory = page
        cells += [f'{100.0 * cpu:.0f} %', ', '.join(f'{each:.1f}' for each in memory) + ' MB']
    return '| ' + ' | '.join(cells) + ' |'


def measure(case: str, rate: float, seconds: float) -> str:
    """Run one case; return its line."""
    path = description_path('hexapod.urdf')
    robot = load_robot(path)
    home = robot.forward(robot.q, LINK)[:3, 3]
    with ExitStack() as stack:
        node = stack.enter_context(NodeProcess.ik_node(rate))
        client = Client(Path(path).read_text(encoding='utf-8'))
        stack.callback(client.close)
        page = watch(stack, case)
        client.run(node, home, rate, 8.0)
        if page is None:
            return row(case, client.run(node, home, rate, seconds), None)
        before, begin = page.cpu(), time.perf_counter()
        memory = [page.memory()]
        runs = []
        for _ in range(3):
            runs.append(client.run(node, home, rate, seconds / 3.0))
            memory.append(page.memory())
        cpu = (page.cpu() - before) / (time.perf_counter() - begin)
        whole = runs[-1]
        whole.cpu = float(np.mean([run.cpu for run in runs]))
        whole.ticks = sum(run.ticks for run in runs)
        whole.missed = sum(run.missed for run in runs)
        return row(case, whole, (cpu, memory))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').split('\n\n')[0])
    parser.add_argument('--seconds', type=float, default=60.0)
    parser.add_argument('--rate', type=float, default=250.0)
    args = parser.parse_args()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    print(machine())
    rclpy.init()
    print(f'hexapod, ticks of {args.rate:g} Hz, {args.seconds:g} s of goals\n')
    print('| beside the node | joint states | overrun | CPU of the node | of the page | its RSS |')
    print('|---|---|---|---|---|---|', flush=True)
    for case in CASES if chromium() else CASES[:2]:
        print(measure(case, args.rate, args.seconds), flush=True)
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
