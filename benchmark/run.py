"""
Measure speed; `python -m ik_node bench [GROUP ...] [options]`, `make bench ARGS='...'`.

Without a name, or with names of groups and tasks: our solver beside every peer that is installed,
see the options below. Other measurements, each with options of its own:

    batch       a hundred thousand goals, on one core and on all
    micro       pose and Jacobian, a step, a call with nothing to do, beside the limit
    solve       time of one solve from Python on the neutral scenarios, where they are
    nearest     answers to goals out of reach beside many searches by SciPy
    starts      reachable goals from random starts, scissor lifts among them: solved, and steps
    size        robots scaled from 1e-4 to 1000 of their size: solved, and in how many steps
    rounding    mechanisms with geometry of 3 to 6 decimals beside the exact ones
    structure   time to rearrange a robot while it is in use
    load        time to load a robot of 50 joints, and of 150 links, beyond the XML parser
    start       time to import, and to the first solve of a process
    page        pointer to picture in the browser page (needs viser)
    beside      a node in motion with the page beside it, and without (needs viser)
    node        goal message to joint state, load and starts of the node, real ROS 2 processes
    goals       processor time of the node's ticks beside the number of goals
"""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys

import compete

MODULES = {
    'batch': 'batch',
    'micro': 'micro',
    'solve': 'solve_pose',
    'nearest': 'nearest',
    'starts': 'random_starts',
    'size': 'size',
    'rounding': 'rounding',
    'structure': 'update_structure',
    'load': 'load',
    'start': 'start_up',
    'page': 'page.page_latency',
    'beside': 'page.page_beside',
    'node': 'node.node_latency',
    'goals': 'node.node_goals',
}


def main(words: list[str]) -> int:
    """Run one of the scripts with its options, or the comparison."""
    if words and words[0] in MODULES:
        folders = [str(Path(__file__).parent), os.environ.get('PYTHONPATH', '')]
        done = subprocess.run(
            [sys.executable, '-m', MODULES[words[0]], *words[1:]],
            env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, folders))},
            check=False,
        )
        return done.returncode
    if words and words[0] in ('-h', '--help'):
        print(f'{__doc__.strip()}\n')
    return compete.main(words)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
