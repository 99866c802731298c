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
    structure   time to rearrange a robot while it is in use
    load        time to load a robot of 50 joints, and of 150 links, beyond the XML parser
    start       time to import, and to the first solve of a process
    page        pointer to picture in the browser page (needs viser)
    beside      a node in motion with the page beside it, and without (needs viser)
    node        goal message to joint state, load and starts of the node, real ROS 2 processes
    goals       processor time of the node's ticks beside the number of goals
"""

from __future__ import annotations

from pathlib import Path
import subprocess
import sys

import compete

SCRIPTS = {
    'batch': 'batch.py',
    'micro': 'micro.py',
    'solve': 'solve_pose.py',
    'nearest': 'nearest.py',
    'starts': 'random_starts.py',
    'size': 'size.py',
    'structure': 'update_structure.py',
    'load': 'load.py',
    'start': 'start_up.py',
    'page': 'page_latency.py',
    'beside': 'page_beside.py',
    'node': 'node_latency.py',
    'goals': 'node_goals.py',
}


def main(words: list[str]) -> int:
    """Run one of the scripts with its options, or the comparison."""
    if words and words[0] in SCRIPTS:
        script = Path(__file__).with_name(SCRIPTS[words[0]])
        return subprocess.run([sys.executable, str(script), *words[1:]], check=False).returncode
    if words and words[0] in ('-h', '--help'):
        print(f'{__doc__.strip()}\n')
    return compete.main(words)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
