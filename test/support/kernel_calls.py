"""
How tests call single kernels, as plain Python.

The library has no functions for inner kernels. What it does is compared with plain Python as a
whole, in test/native.
"""

from ik_node.kernels import rotation
from ik_node.kernels.factor import factorise, solve_factored
from ik_node.kernels.layout import begin_of, JOINT_ROWS, open_solve, SIZES
from ik_node.kernels.options import OPTION_COUNT
from ik_node.model.frame import find_roots
from ik_node.model.request import request_of
from ik_node.model.tree import build_tree
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
import numpy as np
from support.building import Mechanism


def _call(kernel, *numbers):
    return np.array(kernel(*np.concatenate([np.ravel(n) for n in numbers]).tolist()))


def quaternion_to_matrix(quat_xyzw):
    out = np.zeros(9)
    rotation.quaternion_to_matrix(*map(float, quat_xyzw), out, 0)
    return out.reshape(3, 3)


def log_rotation(matrix):
    return np.array(rotation.log_rotation(np.ravel(matrix).tolist()))


def inverse_left_jacobian(phi, v):
    return _call(rotation.inverse_left_jacobian, phi, v)


def turn_euler(euler, turn):
    """Return the Euler angles ex, ey, ez after a turn in the turned frame's axes."""
    return _call(rotation.turn_euler, euler, turn)


def principal_euler(euler):
    return _call(rotation.principal_euler, euler)


def euler_difference(euler, target):
    return _call(rotation.euler_difference, euler, target)


near_turn = rotation.near_turn


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
            residual, jacobian, _ = chain.linearise_by_size(
                np.asarray(q), self.table.rows, SolverOptions().packed()
            )
            units = chain.flat.row_units
            residual, jacobian = residual * units, jacobian * units[:, None] / chain.flat.units
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
