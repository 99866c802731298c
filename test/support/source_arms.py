"""The arms in the sources of the methods."""

from math import cos, pi, radians, sin

from ik_node.solver.methods import trace
from ik_node.solver.options import SolverOptions
import numpy as np
from support.building import Mechanism

UNIT = (0, 0, 0, 1)

# Rows d, a, alpha, theta [degrees]; each says Rx(alpha) Tx(a) Rz(theta) Tz(d).
DH_ROWS = (
    (5, 0, -90, 0),
    (0, 2, 90, 125),
    (0, 15, 0, -35),
    (15, 2, 90, 0),
    (0, 0, -90, 90),
    (2, 0, -90, 0),
)


def dh_arm():
    """Build the 6R arm of the Jacobian transpose's source, about 35 units long."""
    m = Mechanism('dh_arm')
    m.root('base')
    parent = 'base'
    for at, (d, a, alpha, theta) in enumerate(DH_ROWS):
        twist = radians(alpha)
        place = (a, -sin(twist) * d, cos(twist) * d)
        m.joint(f'j{at}', parent, 'EZ', place, (twist, 0, 0))
        m.home[f'j{at}'] = radians(theta)
        parent = f'j{at}_link'
    m.goal('hand_goal', parent, 'X Y Z')
    return m.go_home()


def pygame_arm(limit=2.2):
    """Build the planar arm of the source of CCD: sections with limits, in one plane."""
    m = Mechanism('pygame_arm')
    m.root('base')
    parent, ahead = 'base', 0.0
    for at, length in enumerate((1.0, 0.8, 0.6, 0.4)):
        m.joint(f'section{at}', parent, 'EZ', (ahead, 0, 0), limits=(-limit, limit))
        m.home[f'section{at}'] = 0.3
        parent, ahead = f'section{at}_link', length
    m.tip('hand', parent, (ahead, 0, 0))
    m.goal('pointer', 'hand', 'X Y')
    return m.go_home()


def desk_arm():
    """Build the arm of the source of gradient descent: a turntable and three hinges, limited."""
    m = Mechanism('desk_arm')
    m.root('base')
    m.joint('turntable', 'base', 'EZ', (0, 0, 0.2), limits=(-pi, pi))
    parent, up = 'turntable_link', 0.2
    for at, length in enumerate((0.8, 0.6, 0.4)):
        m.joint(f'hinge{at}', parent, 'EY', (0, 0, up), limits=(-2.0, 2.0))
        m.home[f'hinge{at}'] = 0.4
        parent, up = f'hinge{at}_link', length
    m.tip('hand', parent, (0, 0, up))
    m.goal('target', 'hand', 'X Y Z')
    return m.go_home()


def path_of_a_pointer(count, centre=(1.2, 0.9), radius=0.6):
    """Return positions of a pointer that moves along a closed path in the plane."""
    angles = np.linspace(0, 2 * pi, count)
    return [(centre[0] + radius * cos(a), centre[1] + radius * sin(a), 0) for a in angles]


def traced(mechanism, goals, q0=None, **options):
    """Solve for poses of goals by name, from the mechanism's values or q0; return the trace."""
    solver = mechanism.solver()
    q = solver.q if q0 is None else q0
    return trace(solver.tree, q, SolverOptions(**options), goals)


def planar_rows(q, goal):
    """Return the error of `planar`'s hand and its Jacobian from sines and cosines."""
    angles = np.cumsum(q)
    x, y = np.cos(angles), np.sin(angles)
    jacobian = [[-y[k:].sum() for k in range(3)], [x[k:].sum() for k in range(3)]]
    return np.array(goal[:2]) - (x.sum(), y.sum()), np.array(jacobian)
