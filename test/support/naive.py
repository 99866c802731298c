"""
A slow and obviously right oracle: 4x4 products, SciPy's rotations, one frame after the other.

Nothing of `ik_node.kernels` is used here, and of the model only what the objects hold: positions,
quaternions, DoF, limits, couplings, axes.
"""

from ik_node.model.constraint import Constraint
from ik_node.model.dof import DOF_NAMES
from ik_node.model.joint import Joint
from ik_node.model.link import Connector, Link
import numpy as np
from scipy.spatial.transform import Rotation


def pose(position, quat_xyzw):
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_quat(quat_xyzw).as_matrix()
    matrix[:3, 3] = position
    return matrix


def motion(values):
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_euler('xyz', values[3:]).as_matrix()  # extrinsic x, y, z
    matrix[:3, 3] = values[:3]
    return matrix


def angle_between(rotation_a, rotation_b):
    """Return the angle between two 3x3 rotations [rad]."""
    return float(Rotation.from_matrix(rotation_a @ rotation_b.T).magnitude())


def frames_of(roots):
    found = []
    for root in roots:
        root.traverse(found.append)
    return found


def by_name(root):
    return {frame.name: frame for frame in frames_of([root])}


def value_names(joint):
    if len(joint.dof) == 1:
        return [joint.name]
    return [f'{joint.name}.{DOF_NAMES[dof]}' for dof in joint.dof]


class Naive:
    """
    A graph of frames at one configuration.

    `values` maps names to numbers, as zip(solver.joint_names, q) gives; without it the joints' own
    values count. With `follow` coupled values are worked out from their masters.
    """

    def __init__(self, roots, values=None, follow=False):
        self.frames = frames_of(roots)
        self.joints = [f for f in self.frames if isinstance(f, Connector)]
        self.movable = [j for j in self.joints if isinstance(j, Joint) and j.dof]
        self.closers = {j.name: j for j in self.joints if j.is_closure}
        self.values = {}
        for joint in self.movable:
            six = joint.dof_values.copy()
            if values is not None:
                for dof, name in zip(joint.dof, value_names(joint), strict=True):
                    six[dof] = values[name]
            self.values[joint] = six
        if follow:
            for joint in self.movable:
                for dof in joint.couplings:
                    self.values[joint][dof] = self.followed(joint, dof)
        self._world = {}

    def followed(self, joint, dof):
        coupling = joint.couplings.get(dof)
        if coupling is None:
            return self.values[joint][dof]
        total = 0.0
        for term in coupling.terms:
            master = self.followed(term.master, term.master_dof)
            total += sum(c * master**i for i, c in enumerate(term.coefficients))
        return total

    def world(self, frame):
        if frame not in self._world:
            above = np.eye(4) if frame.parent is None else self.world(frame.parent)
            here = above @ pose(frame.position, frame.quaternion)
            if frame in self.values:
                here = here @ motion(self.values[frame])
            self._world[frame] = here
        return self._world[frame]

    def ends(self, closer, wanted=None):
        """Return the 4x4 poses of frames A and B; `wanted` = another pose of B in its parent."""
        a = self.world(closer.child)
        if isinstance(closer, Constraint) and closer.kind == 'centre_of_mass':
            a = pose(self.centre_of_mass(closer.child), (0, 0, 0, 1))
        elif isinstance(closer, Constraint):
            a = a @ pose(closer.offset_position, closer.offset_quaternion)
        if wanted is None:
            return a, self.world(closer)
        above = np.eye(4) if closer.parent is None else self.world(closer.parent)
        return a, above @ pose(*wanted)

    def centre_of_mass(self, link):
        """Return the centre of mass of a link and all links below it, root frame."""
        bodies = [frame for frame in frames_of([link]) if isinstance(frame, Link)]
        moments = sum(
            body.mass * (self.world(body) @ [*body.centre_of_mass, 1.0])[:3] for body in bodies
        )
        return moments / sum(body.mass for body in bodies)

    def residual(self, closer, wanted=None):
        """Return the translation rows [m] and the rotation rows [rad] of a closure or goal."""
        a, b = self.ends(closer, wanted)
        gap, turn_a, turn_b = a[:3, 3] - b[:3, 3], a[:3, :3], b[:3, :3]
        kind, axes, mask = 'frame', 'goal', np.ones(6, dtype=bool)
        if isinstance(closer, Constraint):
            kind, axes, mask = closer.kind, closer.axes, closer.dof_flags
        if kind == 'user':
            frames = {link.name: self.world(link) for link in closer.seen}
            rows = np.array(closer.residual({**frames, 'target': b}))
            in_metres = np.array(closer.units) == 'm'
            return rows[in_metres], rows[~in_metres]
        if kind == 'cylinder':
            return np.array([np.linalg.norm((turn_b.T @ gap)[:2]) - closer.distance]), np.zeros(0)
        if kind == 'distance':
            return np.array([np.linalg.norm(gap) - closer.distance]), np.zeros(0)
        if kind == 'look_at':
            return np.zeros(0), sight(turn_a.T @ -gap)
        if kind == 'centre_of_mass':
            mask = mask & (np.arange(6) < 3)
        if kind == 'universal':
            return turn_b.T @ gap, np.array([turn_a[:, 1] @ turn_b[:, 0]])
        counting = {'world': np.eye(3), 'goal': turn_b, 'link': turn_a}[axes]
        if mask[3:].sum() == 2:
            turn = pointing(turn_a, turn_b, axes, int(np.flatnonzero(~mask[3:])[0]))
        else:
            turn = Rotation.from_matrix(turn_a @ turn_b.T).as_rotvec()
        return (counting.T @ gap)[mask[:3]], (counting.T @ turn)[mask[3:]]

    def error(self, closer, wanted=None):
        """Return the two residual norms, [m] and [rad]."""
        moved, turned = self.residual(closer, wanted)
        return float(np.linalg.norm(moved)), float(np.linalg.norm(turned))

    def size(self):
        """Return the largest coordinate in the computation of a pose [m], at least 1."""
        offsets = [c.offset_position for c in self.closers.values() if isinstance(c, Constraint)]
        slides = [six[:3] for six in self.values.values()]
        places = [place for f in self.frames for place in (f.position, self.world(f)[:3, 3])]
        return max(1.0, *(float(np.abs(each).max()) for each in (*offsets, *slides, *places)))

    def largest_value(self):
        """Return the largest value of a joint [rad or m], 0 of none."""
        return max((float(np.abs(six).max()) for six in self.values.values()), default=0.0)

    def limit_excess(self, start=None):
        """Return the largest violation of a limit, or of the value in `start` if farther out."""
        found = [0.0]
        for joint, six in self.values.items():
            for dof in joint.dof:
                before = [] if start is None else [start.values[joint][dof]]
                low = min([joint.min_dof_limit[dof], *before])
                high = max([joint.max_dof_limit[dof], *before])
                found += [low - six[dof], six[dof] - high]
        return max(found)

    def coupling_gap(self, rounded=0.0):
        """
        Return by how much the worst coupled value misses what its master asks for.

        A share `rounded` of the largest value that it is worked out from does not count.
        """
        return max(
            (
                abs(self.values[joint][dof] - self.followed(joint, dof))
                - rounded * self.largest_followed(joint, dof)
                for joint in self.movable
                for dof in joint.couplings
            ),
            default=0.0,
        )

    def largest_followed(self, joint, dof):
        """Return the largest absolute value among a value and those that it follows."""
        coupling = joint.couplings.get(dof)
        terms = () if coupling is None else coupling.terms
        masters = [self.largest_followed(term.master, term.master_dof) for term in terms]
        return max(abs(self.followed(joint, dof)), *masters, 0.0)


def sight(seen):
    """Return the angle between +z and where a point is seen, times its direction in xy."""
    aside = np.linalg.norm(seen[:2])
    if aside == 0.0:  # right ahead or right behind, in no direction more than in another
        return np.array((np.arctan2(aside, seen[2]), 0.0))
    return seen[:2] / aside * np.arctan2(aside, seen[2])


def pointing(turn_a, turn_b, axes, free):
    """Return the shortest turn, root axes, that takes B's axis `free` onto A's."""
    if axes == 'world':
        start, end = np.eye(3)[free], (turn_a @ turn_b.T)[:, free]
    else:
        start, end = turn_b[:, free], turn_a[:, free]
    axis = np.cross(start, end)
    sine = np.linalg.norm(axis)
    if sine == 0.0:
        return np.zeros(3)
    return axis / sine * np.arctan2(sine, start @ end)


def inverse_left_jacobian(phi):
    """Return Jl(phi)^-1 by inverting Jl, summed term by term (Sola et al. 2018, eq. 142)."""
    x, y, z = phi
    skew = np.array(((0, -z, y), (z, 0, -x), (-y, x, 0)))
    term, total = np.eye(3), np.eye(3)
    for k in range(1, 40):
        term = term @ skew / (k + 1)
        total = total + term
    return np.linalg.inv(total)


def naive_of(robot, q=None):
    q = robot.q if q is None else q
    return Naive(robot.roots, dict(zip(robot.joint_names, q, strict=True)))
