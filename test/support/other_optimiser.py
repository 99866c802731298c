"""SLSQP as a second optimiser that tries to improve an answer with loops closed."""

import numpy as np
from scipy.linalg import qr
from scipy.optimize import minimize
from support.kernel_calls import Rows

STEP = 1e-6  # of central differences
RANK = 1e-7  # a row that adds less to the others is redundant


class OtherOptimiser:
    """
    The problem of a mechanism's goals, as they stand: least squares with closed loops.

    Limits are bounds, loops equality constraints. Redundant rows among these are left out, for
    SLSQP cannot bear them. A characteristic length [m] counts as much as a radian.
    """

    def __init__(self, mechanism, length):
        self.mechanism, self.length = mechanism, length
        self.rows = Rows(mechanism)
        owner = self.rows.tree.owner
        self.bounds = np.array([(j.min_dof_limit[d], j.max_dof_limit[d]) for j, d in owner])

    def cost(self, q):
        found = self.rows.at(q)[0]
        parts = []
        for request in self.rows.problem.requests:
            if request.is_goal:
                found[request.name][: request.metre_row_count] /= self.length
                parts.append(self.mechanism.goals[request.name].weight * found[request.name])
        return 0.5 * float(np.sum(np.concatenate(parts) ** 2))

    def loops(self, q):
        found = self.rows.at(q)[0]
        return np.concatenate([found[name] for name in self.mechanism.closures])

    def improved(self, start):
        """Return its answer from a start within limits, and the largest open row."""
        _, triangle, order = qr(slopes(self.loops, start).T, pivoting=True, mode='economic')
        sizes = np.abs(np.diag(triangle))
        kept = np.sort(order[: int(np.sum(sizes > RANK * sizes[0]))])
        found = minimize(
            self.cost,
            start,
            jac=lambda q: slopes(lambda x: np.array([self.cost(x)]), q)[0],
            bounds=self.bounds,
            constraints={
                'type': 'eq',
                'fun': lambda q: self.loops(q)[kept],
                'jac': lambda q: slopes(lambda x: self.loops(x)[kept], q),
            },
            method='SLSQP',
            options={'maxiter': 200, 'ftol': 1e-14},
        )
        q = np.clip(found.x, *self.bounds.T)
        return q, np.abs(self.loops(q)).max()


def slopes(function, q):
    steps = STEP * np.eye(q.size)
    columns = [(function(q + step) - function(q - step)) / (2 * STEP) for step in steps]
    return np.array(columns).T
