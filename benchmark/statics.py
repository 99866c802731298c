"""
Efforts that hold mechanisms with loops still, compared with MuJoCo; `bench statics`.

MuJoCo reads the gallery's URDF by itself; the pins and balls of its <loop_joint> elements become
equality constraints. MuJoCo meets such constraints softly, so only its model is used: mj_inverse
at rest without the constraint forces, the generalised gravity g, and the constraints' Jacobian J.
The efforts solve the balance

    S^T effort + J^T force = g,

where S selects the actuators, exactly: with N a basis of the null space of J, N^T S^T effort =
N^T g. They are compared with the derivative of the potential energy along motions of each actuator
with closed loops, by central differences, and with `Robot.gravity_effort`, if there is one. A
difference is relative to the largest effort of its actuator. The base is tilted, so that gravity
acts on planar mechanisms in every direction.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
import sys
from typing import Any
from xml.etree import ElementTree

import ik_node as ik
from ik_node.description.files import description_path
from machine import machine
import numpy as np
from numpy.typing import NDArray

try:
    import mujoco
except ImportError:
    mujoco = None

Array = NDArray[np.float64]

GRAVITY = np.array((2.0, -3.0, -9.0))  # [m/s^2]
TIGHT = ik.SolverOptions(translation_converge_threshold=1e-13, rotation_converge_threshold=1e-13)
MOST_DIFFERENCE = 1e-6
# Of an actuator for differences of the energy, in radians or metres.
TURN, SLIDE = 1e-3, 1e-4
# Singular values of J below this share of the largest are those of redundant rows.
RANK_TOLERANCE = 1e-9


def around(names: tuple[str, ...], most: float) -> dict[str, tuple[float, float]]:
    """Return one range for several joints."""
    return dict.fromkeys(names, (-most, most))


# The robots of the gallery, and the joints that are driven to random values [rad or m].
MECHANISMS = {
    'ankle': {'ankle_pitch': (-0.79, 0.79), 'ankle_roll': (-0.39, 0.39)},
    'knee_leg': {**around(('roll', 'hip'), 0.5), 'crank': (-0.69, 0.79)},
    'excavator': {
        'swing': (-2.7, 2.7),
        'boom_cylinder': (-0.32, 0.29),
        'arm_cylinder': (-0.26, 0.29),
        'bucket_cylinder': (-0.15, 0.23),
    },
    'delta': around(('arm0', 'arm1', 'arm2'), 0.4),
    'fivebar': around(('left_shoulder', 'right_shoulder'), 0.5),
    'hexapod': {
        **around(('platform_x', 'platform_y', 'platform_z'), 0.006),
        **around(('platform_yaw', 'platform_pitch', 'platform_roll'), 0.12),
    },
}


@dataclass(frozen=True)
class Row:
    """
    The comparison of a mechanism.

    Attributes
    ----------
    name : str
    count : int
        Number of configurations.
    largest : float
        Largest effort by MuJoCo [N m or N].
    energy : float
        Largest difference of the derivative of the energy, relative.
    ours : float or None
        Largest difference of `gravity_effort`, relative; None = there is no such method.
    gap : float
        Largest gap of a loop by MuJoCo's kinematics [m].

    """

    name: str
    count: int
    largest: float
    energy: float
    ours: float | None
    gap: float

    @property
    def is_fine(self) -> bool:
        """Return True if all differences are within the tolerance."""
        return max(self.energy, self.ours or 0.0) < MOST_DIFFERENCE

    def __str__(self) -> str:
        ours = '-' if self.ours is None else f'{self.ours:.1e}'
        return (
            f'{self.name:12} {self.count:6d} {self.largest:14.4g} {ours:>14} {self.energy:14.1e} '
            f'{self.gap:10.1e}  {"ok" if self.is_fine else "NOT"}'
        )


class Balance:
    """The static balance of a URDF with loops in MuJoCo."""

    def __init__(self, urdf: str, joints: list[str], actuators: list[str]) -> None:
        self.model = compiled(urdf)
        self.data = mujoco.MjData(self.model)
        self.places = np.array([self.model.joint(name).qposadr[0] for name in joints])
        self.columns = [self.model.joint(name).dofadr[0] for name in actuators]
        self.gap = 0.0

    def efforts(self, q: Array, gravity: Array) -> Array:
        """Return the efforts of the actuators that hold the mechanism still at q."""
        model, data = self.model, self.data
        model.opt.gravity[:] = gravity
        data.qpos[self.places] = q
        data.qvel[:] = data.qacc[:] = 0.0
        mujoco.mj_inverse(model, data)
        load = data.qfrc_inverse + data.qfrc_constraint
        rows = data.efc_J.reshape(data.nefc, model.nv)[: data.ne]
        self.gap = max(self.gap, float(np.abs(data.efc_pos[: data.ne]).max()))
        _, values, right = np.linalg.svd(rows)
        rank = int(np.sum(values > RANK_TOLERANCE * values[0]))
        motions = right[rank:]
        found: Array = np.linalg.solve(motions[:, self.columns], motions @ load)
        return found


def compiled(urdf: str) -> Any:
    """Return MuJoCo's model of a URDF, with an equality constraint for each <loop_joint>."""
    model = specified(urdf).compile()
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    return model


def specified(urdf: str) -> Any:
    """Return MuJoCo's specification of a URDF, with a constraint for each <loop_joint>."""
    root = ElementTree.fromstring(urdf)
    loops = root.findall('loop_joint')
    for element in list(root):
        if element.tag not in ('link', 'joint'):
            root.remove(element)
    for link in root.findall('link'):
        for visual in link.findall('visual'):
            link.remove(visual)
    ElementTree.SubElement(ElementTree.SubElement(root, 'mujoco'), 'compiler', fusestatic='false')
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding='unicode'))
    for loop in loops:
        name = loop.get('name')
        for end in ('link1', 'link2'):
            frame = loop.find(end)
            position = [float(word) for word in frame.get('xyz').split()]
            spec.body(frame.get('link')).add_site(name=f'{name}_{end}', pos=position)
        # In a plane, a pin is a point: its other rows are redundant.
        spec.add_equality(
            name=name,
            type=mujoco.mjtEq.mjEQ_CONNECT,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            name1=f'{name}_link1',
            name2=f'{name}_link2',
        )
    return spec


def configurations(robot: ik.Robot, name: str, count: int, seed: int) -> Iterator[Array]:
    """Yield configurations with closed loops, at random values of the mechanism's joints."""
    solver, rng = ik.Solver(robot, TIGHT), np.random.default_rng(seed)
    for _ in range(count):
        drawn = {joint: float(rng.uniform(*ends)) for joint, ends in MECHANISMS[name].items()}
        yield driven(solver, drawn)


def driven(solver: ik.Solver, values: dict[str, float], q0: Array | None = None) -> Array:
    """Return q with closed loops and joints at these values."""
    solution = solver.drive(values, q0=q0)
    if not solution.converged:
        raise RuntimeError(f'{values}: {solution.message}')
    return solution.q


def effort_by_energy(robot: ik.Robot, q: Array, gravity: Array) -> Array:
    """Return the derivatives of the potential energy by the actuators, by central differences."""
    solver, efforts = ik.Solver(robot, TIGHT), []
    places = [robot.joint_names.index(name) for name in robot.actuated]
    for actuator in robot.actuated:
        (dof,) = robot.joints[actuator].dof
        step = TURN if dof.is_rotation else SLIDE
        energy = {}
        for count in (-2, -1, 1, 2):
            values = dict(zip(robot.actuated, q[places].tolist(), strict=True))
            values[actuator] += count * step
            centre = robot.centre_of_mass(driven(solver, values, q))
            energy[count] = -robot.mass * float(gravity @ centre)
        difference = 8.0 * (energy[1] - energy[-1]) - (energy[2] - energy[-2])
        efforts.append(difference / (12.0 * step))
    return np.array(efforts)


def compared(name: str, count: int, seed: int) -> Row:
    """Compare the efforts of a mechanism of the gallery."""
    path = description_path(f'{name}.urdf')
    robot = ik.load_robot(path)
    balance = Balance(path.read_text(), robot.joint_names, robot.actuated)
    ours = getattr(robot, 'gravity_effort', None)
    expected, energy, found = [], [], []
    for q in configurations(robot, name, count, seed):
        expected.append(balance.efforts(q, GRAVITY))
        energy.append(effort_by_energy(robot, q, GRAVITY))
        if ours is not None:
            found.append(ours(q, GRAVITY))
    largest = np.abs(expected).max(axis=0)

    def difference(efforts: list[Array]) -> float:
        """Return the largest difference from MuJoCo, relative."""
        return float((np.abs(np.subtract(efforts, expected)) / largest).max())

    return Row(
        name,
        count,
        float(largest.max()),
        difference(energy),
        difference(found) if found else None,
        balance.gap,
    )


def main(words: list[str] | None = None) -> int:
    """Print the table; exit code 1 if a difference is too large."""
    parser = argparse.ArgumentParser(prog='ik_node bench statics', description=__doc__)
    parser.add_argument('names', nargs='*', metavar='NAME', help=f'of {", ".join(MECHANISMS)}')
    parser.add_argument('--count', type=int, default=100, help='configurations of a mechanism')
    parser.add_argument('--seed', type=int, default=0)
    args = parser.parse_args(words)
    unknown = [name for name in args.names if name not in MECHANISMS]
    if unknown:
        parser.error(f'no mechanism {unknown[0]!r}; there are: {", ".join(MECHANISMS)}')
    if mujoco is None:
        print('MuJoCo is not installed: pip install mujoco')
        return 2
    print(f'{machine()}, MuJoCo {mujoco.__version__}\n')
    print(
        f'{"":12} {"n":>6} {"effort [N m, N]":>14} {"gravity_effort":>14} {"energy":>14} '
        f'{"gap [m]":>10}'
    )
    rows = [compared(name, args.count, args.seed) for name in args.names or MECHANISMS]
    print('\n'.join(map(str, rows)))
    return 0 if all(row.is_fine for row in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
