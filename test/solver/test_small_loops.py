"""Mechanisms of metres and of millimetres have equal answers."""

from math import cos, sin

import ik_node as ik
import numpy as np
import pytest

HINGE = (
    '<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
    '<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/><limit lower="-3.1" upper="3.1" velocity="1"/>'
    '</joint>'
)


def fourbar(scale):
    """Return a four-bar (0.4, 1.1, 0.9, base 1 [m]) with a goal for its coupler angle."""
    links = ''.join(f'<link name="{name}"/>' for name in ('base', 'crank', 'coupler', 'rocker'))
    hinges = (
        HINGE.format(name='a', parent='base', child='crank', x=0.0)
        + HINGE.format(name='b', parent='crank', child='coupler', x=0.4 * scale)
        + HINGE.format(name='d', parent='base', child='rocker', x=1.0 * scale)
    )
    pin = {
        'name': 'pin',
        'type': 'point',
        'frame_a': {'link': 'coupler', 'xyz': [1.1 * scale, 0, 0]},
        'frame_b': {'link': 'rocker', 'xyz': [0.9 * scale, 0, 0]},
    }
    text = f'<robot name="fourbar">{links}{hinges}</robot>'
    robot = ik.load_robot(text, closures={'closures': [pin]})
    robot.add_goal('coupler', name='angle', dof='EZ')
    return robot


def nearest(angle):
    """Return the least distance of the coupler to an angle [rad] over all crank angles."""
    crank = np.linspace(-3.1, 3.1, 60001)
    away = np.column_stack((1.0 - 0.4 * np.cos(crank), -0.4 * np.sin(crank)))
    length = np.hypot(*away.T)
    cosine = (1.1**2 + length**2 - 0.9**2) / (2 * 1.1 * length)
    bend = np.arccos(cosine[np.abs(cosine) <= 1.0])
    middle = np.arctan2(away[:, 1], away[:, 0])[np.abs(cosine) <= 1.0]
    every = np.concatenate((middle + bend, middle - bend))
    return float(np.abs((every - angle + np.pi) % (2 * np.pi) - np.pi).min())


@pytest.mark.parametrize('angle', [1.6, 2.0])
@pytest.mark.parametrize('scale', [1.0, 0.001])
def test_error_of_unreachable_angle_does_not_depend_on_size(scale, angle):
    """No crank angle gives this coupler angle; the solver uses one start."""
    solver = ik.Solver(fourbar(scale), ik.SolverOptions(restarts=0))
    closed = solver.solve_pose({}, q0=np.array((1.2, -0.8, 1.6)))
    turn = (0.0, 0.0, sin(0.5 * angle), cos(0.5 * angle))
    found = solver.solve_pose({'angle': ((0, 0, 0), turn)}, q0=closed.q)
    assert found.status is ik.Status.STALLED
    assert found.closure_errors['pin'].position < 1e-8
    assert found.goal_errors['angle'].orientation == pytest.approx(nearest(angle), abs=1e-5)
