"""The property of every input: an IkError, or a robot with valid numbers, within a time limit."""

from pathlib import Path
import resource
import time

from ik_node.errors import IkError
from ik_node.robot import load_robot
import numpy as np

SEEDS = Path(__file__).parent / 'seeds'
FAILURES = Path(__file__).parent / 'failures'
LONGEST = 1.0  # [s] an input may take
LARGEST = 200 * 2**10  # [KiB] that an input may make the process grow by
# What the files of loops are read beside.
ROBOT = (
    '<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>'
    '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 1"/>'
    '</joint><joint name="k" type="continuous"><parent link="b"/><child link="c"/>'
    '<origin xyz="1 2 3" rpy="0 1 0"/><axis xyz="0 1 1"/></joint>'
    '<joint name="f" type="fixed"><parent link="a"/><child link="d"/></joint></robot>'
)


def read(dialect, text):
    if dialect.endswith('.yaml'):
        return load_robot(ROBOT, closures=text + '\n', assemble=False)
    return load_robot('<' + text.lstrip('<\ufeff \t\r\n'), assemble=False)


def look_at(robot):
    q = robot.q
    assert np.isfinite(q).all()
    assert (robot.lower <= q).all()
    assert (q <= robot.upper).all()
    for name, link in robot.links.items():
        assert np.isfinite(link.matrix_world).all(), name
    for name, closure in robot.closures.items():
        assert np.isfinite(closure.get_residual()).all(), name
    assert all(isinstance(note, str) for note in robot.notes)


def judge(dialect, data):
    """
    Read bytes as a dialect, and raise unless the result is an IkError or a valid robot.

    Returns
    -------
    bool
        True if the result is a robot.

    """
    text = data.decode('utf-8', 'replace')
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    try:
        robot, message = read(dialect, text), 'read'
    except IkError as error:
        robot, message = None, str(error)
    assert 0 < len(message) < 4000
    taken = time.process_time() - begun
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert taken < LONGEST, f'{taken:.2f} s'
    assert grown < LARGEST, f'{grown / 2**10:.0f} MiB more'
    if robot is None:
        return False
    look_at(robot)
    return True
