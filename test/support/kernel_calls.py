"""
How tests call single kernels, as plain Python.

The library has no functions for inner kernels. What it does is compared with plain Python as a
whole, in test/native.
"""

from ik_node.kernels import rotation
from ik_node.kernels.factor import factorise, solve_factored
from ik_node.kernels.layout import begin_of, JOINT_ROWS, open_solve, SIZES
from ik_node.kernels.options import OPTION_COUNT
from ik_node.kernels.solve import write_result
from ik_node.kernels.solve_state import STATUS, STATUS_CONVERGED
from ik_node.model.frame import find_roots
from ik_node.model.request import request_of
from ik_node.model.tree import build_tree
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
import numpy as np
from support.building import Mechanism


def _rotations(which, a, out):
    if which == 0:
        rotation.quaternion_to_matrix(a[0], a[1], a[2], a[3], out, 0)
        return
    if which == 1:
        v = rotation.log_rotation(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8])
    elif which == 2:
        v = rotation.inverse_left_jacobian(a[0], a[1], a[2], a[3], a[4], a[5])
    elif which == 3:
        v = rotation.turn_euler(a[0], a[1], a[2], a[3], a[4], a[5])
    elif which == 4:
        v = rotation.principal_euler(a[0], a[1], a[2])
    elif which == 5:
        v = rotation.euler_difference(a[0], a[1], a[2], a[3], a[4], a[5])
    else:
        v = (rotation.near_turn(a[0], a[1]), 0.0, 0.0)
    out[0], out[1], out[2] = v


def _call(which, *numbers):
    out = np.zeros(9)
    _rotations(which, np.concatenate([np.ravel(n) for n in numbers]).astype(float), out)
    return out if which == 0 else out[:3]


def quaternion_to_matrix(quat_xyzw):
    return _call(0, quat_xyzw).reshape(3, 3)


def log_rotation(matrix):
    return _call(1, matrix)


def inverse_left_jacobian(phi, v):
    return _call(2, phi, v)


def turn_euler(euler, turn):
    """Return the Euler angles ex, ey, ez after a turn in the turned frame's axes."""
    return _call(3, euler, turn)


def principal_euler(euler):
    return _call(4, euler)


def euler_difference(euler, target):
    return _call(5, euler, target)


def near_turn(angle, reference):
    return _call(6, angle, reference)[0]


def step_system(ints, floats, work_ints, work_floats):
    """Factorise [D J^T; J -M] as the workspace has it and solve for the step, in place."""
    nq = int(ints[SIZES.index('nq')])
    more = (np.zeros(nq), np.zeros((JOINT_ROWS, nq)), np.zeros(OPTION_COUNT))
    s = open_solve(ints, floats, work_ints, work_floats, *more)
    factorise(s)
    solve_factored(s)


class Rows:
    """
    Residual rows and Jacobian of all closures and goals of a mechanism, straight from kernels.

    `names` are those of the values of q, `free` those that are not coupled: the columns of the
    Jacobian that may differ from zero.
    """

    def __init__(self, mechanism):
        self.tree = build_tree(find_roots(mechanism.roots))
        self.table = JointTable(self.tree)
        self.problem = Problem(self.tree, [request_of(j) for j in self.tree.closers])
        self.problem.refresh(SolverOptions())
        self.names = self.tree.names
        followers = {self.names[follower] for follower, _, _ in self.table.followers}
        self.free = [name for name in self.names if name not in followers]

    def at(self, q):
        residuals, blocks, owners = [np.zeros(0)], [np.zeros((0, len(q)))], []
        for chain in self.problem.chains:
            residual, jacobian, _ = chain.linearise(
                np.asarray(q), self.table.rows, SolverOptions().packed()
            )
            residuals.append(residual)
            blocks.append(np.zeros((len(residual), len(q))))
            blocks[-1][:, chain.flat.var_q] = jacobian
            for name, rows in zip(chain.names.constraints, chain.flat.row_counts, strict=True):
                owners += [name] * rows
        residual, jacobian = np.concatenate(residuals), np.vstack(blocks)
        owners = np.array(owners)
        found = {name: owners == name for name in dict.fromkeys(owners.tolist())}
        return (
            {name: residual[rows] for name, rows in found.items()},
            {name: jacobian[rows] for name, rows in found.items()},
        )


def _four_joints():
    """Return the chain problem of four joints in a row that turn without limits, and its table."""
    m = Mechanism('four')
    m.root('base')
    link = 'base'
    for k in range(4):
        m.joint(f'j{k}', link, 'EZ')
        link = f'j{k}_link'
    m.tip('hand', link)
    m.goal('hand_goal', 'hand')
    rows = Rows(m)
    return rows.problem.chains[0], rows.table.rows


_FOUR = _four_joints()


def four_sines(angles):
    """Return the sines (4,) and cosines (4,) of four angles, from the kernels of this process."""
    chain, table = _FOUR
    chain.kernels.linearise(np.array(angles, float), table, SolverOptions().packed())
    return tuple(
        chain.work_floats[begin_of(chain.flat.ints, name) :][:4].copy()
        for name in ('sine', 'cosine')
    )


def _end(i, f, k, w, q, joints, options, error):
    """End a solve marked as converged with this error of its first constraint."""
    s = open_solve(i, f, k, w, q, joints, options)
    s.k[STATUS] = STATUS_CONVERGED
    for c in range(2 * s.nc):
        s.error[c] = 0.0
    s.error[0] = error
    write_result(s)
    return s.k[STATUS]


def status_of_end(rows, error):
    """Return the final status of a solve with this error of a constraint [m]."""
    table, packed = rows.table.rows, SolverOptions().packed()
    q = np.zeros(len(rows.names))
    rows.problem.run(q, table, packed, 0.0)
    return _end(*rows.problem.chains[0].arrays, q, table, packed, error)
