"""
Measure speed; `python -m ik_node bench [NAME] [options of NAME]`.

    solve       time of one solve from Python: arms, four-bar, hexapods
    structure   time to rearrange a robot while it is in use
    start       time to import, and to the first solve of a process
    node        goal message to joint state, load and starts of the node, real ROS 2 processes

Without a name: all.
"""

from __future__ import annotations

from pathlib import Path
import subprocess
import sys

SCRIPTS = {
    'solve': 'solve_pose.py',
    'structure': 'update_structure.py',
    'start': 'start_up.py',
    'node': 'node_latency.py',
}


def main(words: list[str]) -> int:
    """Run one benchmark with its options, or all."""
    if words and words[0] in ('-h', '--help'):
        print(__doc__)
        return 0
    if words and words[0] not in SCRIPTS:
        print(f'no benchmark {words[0]!r}; there are: {", ".join(SCRIPTS)}', file=sys.stderr)
        return 2
    names, options = (words[:1], words[1:]) if words else (list(SCRIPTS), [])
    worst = 0
    for name in names:
        print(f'== {name}', flush=True)
        script = Path(__file__).with_name(SCRIPTS[name])
        done = subprocess.run([sys.executable, str(script), *options], check=False)
        worst = max(worst, done.returncode)
    return worst


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
