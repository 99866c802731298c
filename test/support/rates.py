"""
An oracle of velocities: derivatives of the naive kinematics by differences, optima by SciPy.

Nothing of `ik_node.kernels` is used here.
"""

from ik_node.model.constraint import Goal
from ik_node.model.dof import DOF
import numpy as np
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation
from support.naive import Naive

# Five points: the error of a difference is of fourth order in the step.
STEP = 1e-3
STENCIL = ((-2, 1.0), (-1, -8.0), (1, 8.0), (2, -1.0))


def derivative(function, step=STEP):
    return sum(weight * function(at * step) for at, weight in STENCIL) / (12.0 * step)


class Rates:
    """
    A mechanism at q, and what its goals and closures do when q moves.

    `free` has the places in q of the values that follow no other value, `couplings` (nq, n) the
    velocities of all values per velocity of each free value.
    """

    def __init__(self, mechanism, solver, q):
        self.names, self.q, self.owner = solver.joint_names, np.array(q), solver.tree.owner
        self.roots = mechanism.roots
        self.here = self.naive(self.q)
        self.closures = [c for c in self.here.closers.values() if not isinstance(c, Goal)]
        self.free = [at for at, (j, dof) in enumerate(self.owner) if dof not in j.couplings]
        columns = np.eye(len(q))[self.free]
        self.couplings = np.column_stack([self.along(c, self.values) for c in columns])

    def naive(self, q, follow=True):
        return Naive(self.roots, dict(zip(self.names, q, strict=True)), follow)

    def values(self, naive):
        return np.array([naive.values[joint][dof] for joint, dof in self.owner])

    def along(self, velocity, function, follow=True):
        size = max(1.0, float(np.abs(velocity).max()))
        way = velocity / size
        return size * derivative(lambda s: function(self.naive(self.q + s * way, follow)))

    def loops(self, velocity):
        """Return the derivatives of the residuals of all closures [m/s, rad/s]."""

        def residuals(naive):
            parts = [part for closer in self.closures for part in naive.residual(closer)]
            return np.concatenate([np.zeros(0), *parts])

        return self.along(velocity, residuals, follow=False)

    def twist(self, goal, velocity):
        """Return the velocity (6,) of a goal's frame A relative to the parent of frame B."""
        return self.along(velocity, lambda n: self._seen(n, goal), follow=False)

    def _seen(self, naive, goal):
        """Return position and rotation vector of A, as if the parent of B stood still."""
        there, before = naive.ends(goal)[0], self.here.ends(goal)[0]
        if goal.parent is not None:
            moved = np.linalg.inv(naive.world(goal.parent))
            there = self.here.world(goal.parent) @ moved @ there
        turn = Rotation.from_matrix(there[:3, :3] @ before[:3, :3].T).as_rotvec()
        return np.concatenate((there[:3, 3], turn))

    def rows(self, goal):
        """Return the matrix (rows, 6) from a twist to its components on the constrained axes."""
        a, b = self.here.ends(goal)
        if goal.kind == 'distance':
            gap = a[:3, 3] - b[:3, 3]
            return np.concatenate((gap / np.linalg.norm(gap), np.zeros(3)))[None]
        axes = {'world': np.eye(3), 'goal': b[:3, :3], 'link': a[:3, :3]}[goal.axes]
        return np.kron(np.eye(2), axes.T)[goal.dof_flags]

    def matrix(self, function):
        """Return the matrix of a linear function of a velocity, for the free values."""
        return np.column_stack([function(column) for column in self.couplings.T])

    def metric(self, length):
        """Return the matrix of the squared norm of the free velocities, with lengths in [L]."""
        units = np.array([1.0 if dof.is_rotation else length for _, dof in self.owner])
        metric = np.diag(units[self.free] ** -2.0)
        for at, (joint, dof) in enumerate(self.owner):
            bounds = (joint.min_dof_limit, joint.max_dof_limit, joint.max_velocity)
            if dof == DOF.EX and joint.dof_flags[3:].all() and np.isinf(bounds)[:, 3:].all():
                (sx, sy, _), (cx, cy, _) = np.sin(self.q[at : at + 3]), np.cos(self.q[at : at + 3])
                turn = np.array(((1, 0, -sy), (0, cx, cy * sx), (0, -sx, cy * cx)))
                places = [self.free.index(at + k) for k in range(3)]
                metric[np.ix_(places, places)] = turn.T @ turn
        return metric

    def bounds(self, solver, dt):
        """Return the least and the largest velocity of every value, which the limits allow."""
        least, most = solver.limits()
        speeds = np.array([0.0 if j.locked[dof] else j.max_velocity[dof] for j, dof in self.owner])
        if dt is None:
            low, high = (np.where(at, 0.0, np.inf) for at in (self.q <= least, self.q >= most))
        else:
            low, high = -(least - self.q) / dt, (most - self.q) / dt
        return np.maximum(-speeds, -low), np.minimum(speeds, high)


def distance_from_cone(vector, lines, below, above):
    """
    Return how far a vector is from the span of the rows `lines` plus a cone.

    The cone has the directions -e_k for k in `below` and e_k for k in `above`.
    """
    units = np.eye(len(vector))
    columns = np.vstack([lines, -lines, -units[below], units[above]]).T
    if not columns.size:
        return float(np.linalg.norm(vector))
    return float(nnls(columns, vector, maxiter=1000)[1])


class Optimum:
    """
    The conditions of Karush, Kuhn and Tucker for the answer of `Solver.velocity`.

    `loops` is the largest derivative of a closure's residual, per largest velocity, `beyond` by
    how much a velocity exceeds its bounds, and `errors` the largest deviation of the reported goal
    errors. `slopes` says for each priority how far the gradient of its cost is from the span of
    what is held and the cone of the bounds; it is empty if all twists are met. `norm` is the same
    for the norm.
    """

    def __init__(self, mechanism, solver, goals, q, dt=None):
        self.solution = solver.velocity(goals, q, dt)
        velocity = self.solution.velocity
        rates = Rates(mechanism, solver, q)
        self.loops = np.abs(rates.loops(velocity)).max(initial=0.0)
        self.loops /= max(1.0, np.abs(velocity).max())
        low, high = rates.bounds(solver, dt)
        self.beyond = max((low - velocity).max(), (velocity - high).max())
        near = 1e-8 * np.maximum(1.0, np.abs(velocity))
        at_low, at_high = velocity - low <= near, high - velocity <= near
        self.bound = {n for n, at in zip(rates.names, at_low | at_high, strict=True) if at}
        below, above = [], []
        for k, column in enumerate(rates.couplings.T):
            up, down = column > 1e-9, column < -1e-9
            above += [k] if (up & at_high | down & at_low).any() else []
            below += [k] if (up & at_low | down & at_high).any() else []
        length = solver.problem_for(tuple(goals)).chains[0].characteristic_length
        held = [rates.matrix(rates.loops)]
        scale = max(np.abs(np.ravel(twist)).max() for twist in goals.values())
        self.errors, self.slopes, levels = 0.0, [], {}
        for name, twist in goals.items():
            goal = mechanism.goals[name]
            rows = rates.rows(goal)
            missing = rows @ (rates.twist(goal, velocity) - np.ravel(twist))
            moves = np.abs(rows[:, :3]).any(axis=1)
            found = [np.linalg.norm(missing[moves]), np.linalg.norm(missing[~moves])]
            reported = self.solution.goal_errors[name]
            self.errors = max(self.errors, np.abs(np.subtract(found, reported)).max())
            unit = np.where(moves, 1.0 / length, 1.0)
            jacobian = unit[:, None] * (rows @ rates.matrix(lambda v, g=goal: rates.twist(g, v)))
            gradient = goal.weight**2 * jacobian.T @ (unit * missing)
            levels.setdefault(goal.priority, []).append((jacobian, gradient))
        for _, level in sorted(levels.items()):
            gradient = sum(each for _, each in level) / scale
            if not self.solution.converged:
                lines = np.vstack(held)
                self.slopes.append(distance_from_cone(-gradient, lines, below, above))
            held += [jacobian for jacobian, _ in level]
        gradient = rates.metric(length) @ velocity[rates.free] / max(scale, np.abs(velocity).max())
        self.norm = distance_from_cone(-gradient, np.vstack(held), below, above)
