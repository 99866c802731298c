"""What tests of transmissions share: rates of change along motions with closed loops."""

from ik_node.description.files import description_path
from ik_node.robot import load_robot
from ik_node.solver.status import Status
import numpy as np


def places_of(transmission):
    return [transmission.solver.joint_names.index(name) for name in transmission.actuators]


def rate_of_change(transmission, q, speeds, what='q'):
    """Return the rate of change of something while actuators move, to the sixth order."""
    own = places_of(transmission)
    moved = transmission.motion(q) @ speeds
    step = 2e-4 / max(np.abs(moved).max(), 1e-9)
    total = 0.0
    for times, factor in ((1, 45.0), (2, -9.0), (3, 1.0)):
        there, back = (
            transmission.to_joints(q[own] + sign * times * step * speeds, speeds, q0=q)
            for sign in (1.0, -1.0)
        )
        assert there.status is Status.CONVERGED
        assert back.status is Status.CONVERGED
        total = total + factor * (getattr(there, what) - getattr(back, what))
    return total / (60.0 * step)


def gallery_robot(name):
    return load_robot(description_path(f'{name}.urdf'))
