"""
The fault drill for long: one fault after another while the platform moves; `tools/drill.sh soak`.

Not collected by itself; SOAK_SECONDS says how long.
"""

import math
import os
from pathlib import Path
import random
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState
from support.drill import Drill

SECONDS = float(os.environ.get('SOAK_SECONDS', '60'))
GROWTH = 8.0  # of the node's memory after the first fifth of the time [MB]
LINE = 10.0  # between two lines of output [s]


def faults(drill, urdf, chance):
    other = urdf('fivebar').replace('tool_link', 'platform_link')
    drill.knows(other)
    describe, set_parameters = drill.graph.describe, drill.graph.set_parameters

    def change_and_back():
        describe(other)
        drill.flows(chance.randrange(60))
        describe(urdf('hexapod'))

    def measured():
        names, values = list(drill.last.name), list(drill.last.position)
        values[chance.randrange(len(values))] = chance.choice((math.nan, 1e300, 0.3, 0.0))
        assert set_parameters(state_source='measured') == ''
        message = JointState(name=names[::-1], position=values[::-1])
        drill.graph.publish(JointState, 'measured', message)
        drill.flows(chance.randrange(20))
        assert set_parameters(state_source='solution') == ''

    def parameters():
        assert set_parameters(rate=0.0) != ''
        assert set_parameters(rate=chance.uniform(25.0, 60.0)) == ''
        assert set_parameters(goals__platform__weight=chance.uniform(0.1, 9.0)) == ''

    return {
        'nan': lambda: drill.send((math.nan, 0.0, 0.0)),
        'frame': lambda: drill.send((0.0, 0.0, 0.0), frame='mars'),
        'far': lambda: drill.send((1e6, 0.0, 0.0)),
        'again': lambda: describe(urdf('hexapod')),
        'broken': lambda: describe(urdf('hexapod')[: chance.randrange(1, 9000)]),
        'other robot': change_and_back,
        'measured': measured,
        'parameters': parameters,
    }


def memory(process):
    pages = int(Path(f'/proc/{process.pid}/statm').read_text().split()[1])
    return 1e-6 * pages * os.sysconf('SC_PAGE_SIZE')


def test_node_works_under_random_faults(graph, urdf):
    """No joint state is ever bad or late, every goal is reached in the end, memory stays."""
    drill, chance = Drill(graph), random.Random(1)
    hexapod = drill.knows(urdf('hexapod'))
    process = drill.start('-r', 'joint_states:=measured')
    graph.describe(urdf('hexapod'))
    drill.go()
    table = faults(drill, urdf, chance)
    begin = told = time.monotonic()
    used = []
    while time.monotonic() - begin < SECONDS:
        name = chance.choice(list(table))
        table[name]()
        drill.wait(lambda: drill.robot is hexapod, 'the hexapod')
        drill.circle(chance.randrange(5, 60))
        used.append((time.monotonic() - begin, memory(process)))
        if time.monotonic() - told > LINE:
            told = time.monotonic()
            print(
                f'{told - begin:6.0f} s  {drill.count} joint states, {used[-1][1]:.1f} MB; '
                f'last fault: {name}',
                flush=True,
            )
    drill.go()
    assert process.poll() is None
    at_first = np.median([mb for at, mb in used if 0.1 * SECONDS < at < 0.3 * SECONDS])
    at_last = np.median([mb for at, mb in used if at > 0.8 * SECONDS])
    assert at_last - at_first < GROWTH
