"""
Measure speed; `python -m ik_node bench [GROUP ...] [options]`, `make bench ARGS='...'`.

Without a name, or with names of groups and tasks: compare our solver with every installed
peer, see the options below. Other measurements, each with its own options:

    batch       a hundred thousand goals, on one core and on all cores
    engines     a million poses on threads, processes and Dask, with kills: the same file
    micro       pose and Jacobian, a step, an idle call, with lower bounds
    solve       time of one solve from Python on the neutral scenarios, if they exist
    motion      people's motions on a humanoid with loops, beside mink and SLSQP (needs mujoco)
    reach       maps of what links reach: time, size, completeness and queries
    collisions  goals among obstacles, and robots that avoid themselves: success and time
    distance    distances of bodies, compared with coal: exactness and time
    nearest     answers to unreachable goals, compared with many searches by SciPy
    tolerance   goals that arms meet within a tolerance only: success and time
    starts      reachable goals from random starts, with scissor lifts: success and steps
    solutions   all solutions of arms and platforms: time, and how often some are missed
    size        robots scaled from 1e-4 to 1000 of their size: success and steps
    rounding    mechanisms with geometry of 3 to 6 decimals, compared with exact ones
    structure   time to change the structure of a robot between solves
    load        time to load a robot of 50 joints, and of 150 links, without the XML parser
    start       time to import, and to the first solve of a process
    control     time of a call in a loop at 1 kHz, in C++ and in Python
    user        a goal that is written in Python, beside the same goal built in
    ankle       a humanoid's ankle: transmission of position, velocity and effort, by hand
    statics     efforts that hold mechanisms with loops still, compared with MuJoCo (needs mujoco)
    page        time from pointer to picture on the browser page (needs viser)
    beside      a moving node with and without the page (needs viser)
    node        goal message to joint state, load and starts of the node, real ROS 2 processes
    goals       processor time of the node's ticks against the number of goals
    track       this checkout against an earlier wheel or folder; fails if slower by 10 %
"""

from __future__ import annotations

import os
from pathlib import Path
import subprocess
import sys

import compete

MODULES = {
    'batch': 'batch',
    'engines': 'engines',
    'micro': 'micro',
    'solve': 'solve_pose',
    'motion': 'motion',
    'reach': 'reach_map',
    'collisions': 'collisions',
    'distance': 'distance',
    'nearest': 'nearest',
    'tolerance': 'tolerance',
    'starts': 'random_starts',
    'solutions': 'solutions',
    'size': 'size',
    'rounding': 'rounding',
    'structure': 'update_structure',
    'load': 'load',
    'start': 'start_up',
    'control': 'control_loop',
    'ankle': 'ankle',
    'user': 'user_goals',
    'statics': 'statics',
    'page': 'page.page_latency',
    'beside': 'page.page_beside',
    'node': 'node.node_latency',
    'goals': 'node.node_goals',
    'track': 'track',
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
