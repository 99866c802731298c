"""Transmissions of the C interface find what those of Python find, to the bit."""

import ctypes

from ik_node import load_robot, Solver
from ik_node.description.files import description_path
from ik_node.export import export_robot
import numpy as np
import pytest
from support.c_programs import (
    ACTUATORS,
    ARGUMENT,
    compile_c,
    CONVERGED,
    CTransmission,
    INPUT,
    interface,
    load,
    ROWS,
    run,
    STALLED,
)

PARTS = (
    'velocity',
    'actuator_position',
    'actuator_velocity',
    'actuator_effort',
    'joint_position',
    'joint_velocity',
    'joint_effort',
)


def robot_and_transmission(name, joints):
    """Return a robot of the gallery, its transmission, and the file of both."""
    robot = load_robot(description_path(f'{name}.urdf'))
    transmission = robot.transmission(None, joints)
    content = export_robot(
        Solver(robot), (), robot.name, robot.actuated, transmission=transmission
    )
    return robot, transmission, content


@pytest.mark.parametrize(
    ('name', 'joints'),
    [
        ('ankle', ['ankle_pitch', 'ankle_roll']),
        ('hexapod', ['platform_link']),
        ('gripper', None),
        ('delta', None),
    ],
)
def test_c_program_and_python_find_the_same_bits(name, joints):
    """Both ways along a path, with velocities and efforts."""
    robot, transmission, content = robot_and_transmission(name, joints)
    made = CTransmission(content)
    assert made.names(ACTUATORS) == transmission.actuators
    assert made.names(ROWS) == transmission.joints
    ways = transmission.prepare_to_joints(), transmission.prepare_to_actuators()
    own = [robot.joint_names.index(each) for each in transmission.actuators]
    random = np.random.default_rng(3)
    start = np.clip(robot.q, robot.lower + 0.02, robot.upper - 0.02)[own]
    for _ in range(10):
        position = start + random.uniform(-0.01, 0.01, len(own))
        given = (position, *random.uniform(-1.0, 1.0, (2, len(own))))
        for inverse in (0, 1):
            ways[inverse].start(made.q)  # one transmission in C goes on from either way
            state = ways[inverse](*given)
            assert made.carry(inverse, *given) == state.status
            assert made.q.tobytes() == state.q.tobytes()
            for part, what in enumerate(PARTS):
                assert made.part(part).tobytes() == getattr(state, what).tobytes(), what
            given = (state.joint_position, state.joint_velocity, state.joint_effort)


def test_way_that_ends_is_reported():
    """The results are those where it ends."""
    robot, _, content = robot_and_transmission('ankle', ['ankle_pitch', 'ankle_roll'])
    made = CTransmission(content)
    assert made.carry(1, (2.0, 0.0)) == STALLED
    upper = robot.upper[robot.joint_names.index('ankle_pitch')]
    assert made.part(4)[0] == pytest.approx(upper, abs=1e-5)


def test_wrong_arguments_are_errors():
    """Nothing is calculated, and the next call works."""
    robot, _, content = robot_and_transmission('ankle', ['ankle_pitch', 'ankle_roll'])
    made = CTransmission(content)
    assert made.part_pointer(0) is None
    assert made.carry(0, (np.nan, 0.0)) == INPUT
    assert made.part_pointer(0) is None
    assert made.c.ik_node_to_joints(made.transmission, None, None, None) == ARGUMENT
    assert made.c.ik_node_to_joints(None, None, None, None) == ARGUMENT
    assert made.start(np.full(len(robot.q), np.inf)) == INPUT
    assert made.start(robot.q) == 0
    assert made.carry(0, (0.0, 0.0)) == CONVERGED
    assert made.part_pointer(10) is None


def test_robot_without_transmission_has_none():
    """Its file has no actuators of one."""
    robot = load_robot(description_path('ankle.urdf'))
    c, loaded, made = interface(), ctypes.c_void_p(), ctypes.c_void_p()
    assert load(c, export_robot(Solver(robot), ()), loaded) == 0
    assert c.ik_node_count(loaded, ACTUATORS) == 0
    assert c.ik_node_transmission_new(loaded, ctypes.byref(made)) == ARGUMENT
    assert not made
    c.ik_node_free(loaded)


def test_calls_of_transmission_allocate_nothing(tmp_path):
    """Making one returns an error if memory ends, and leaks nothing."""
    (tmp_path / 'robot.ikr').write_bytes(
        robot_and_transmission('ankle', ['ankle_pitch', 'ankle_roll'])[2]
    )
    said = run(compile_c('no_allocation', tmp_path), tmp_path / 'robot.ikr')
    assert 'transmission: 0 allocations' in said
