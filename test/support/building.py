"""Construction of the catalogue's mechanisms from public objects."""

from dataclasses import dataclass, field

from ik_node.model.constraint import Closure, Goal
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.solver.solver import Solver
import numpy as np
from scipy.spatial.transform import Rotation
from support.naive import Naive


@dataclass
class Mechanism:
    """
    Roots of a graph with its links, joints, closures and goals by name.

    `home` gives values that close the loops where all-zero does not.
    """

    name: str
    roots: list = field(default_factory=list)
    links: dict = field(default_factory=dict)
    joints: dict = field(default_factory=dict)
    closures: dict = field(default_factory=dict)
    goals: dict = field(default_factory=dict)
    home: dict = field(default_factory=dict)

    def root(self, name):
        self.links[name] = Link(name)
        self.roots.append(self.links[name])

    def joint(self, name, parent, dofs, xyz=(0, 0, 0), rpy=(0, 0, 0), limits=None, link=None):
        """Add a joint with its link below a link; the link has the joint's name, or `link`."""
        joint = Joint(name)
        joint.set_dof(*parse_dofs(dofs))
        joint.set_position(*xyz)
        joint.set_euler(*rpy)
        for dof in joint.dof if limits is not None else ():
            joint.set_limits(dof, *limits)
        below = Link(link or f'{name}_link')
        self.links[parent].add_child(joint)
        joint.add_child(below)
        self.joints[name], self.links[below.name] = joint, below
        return joint

    def tip(self, name, parent, xyz=(0, 0, 0), rpy=(0, 0, 0)):
        self.joint(f'{name}_fixed', parent, '', xyz, rpy, link=name)

    def closure(self, name, parent, link, kind='weld', dof=None, xyz=(0, 0, 0), rpy=(0, 0, 0)):
        closure = Closure(name, kind)
        if dof is not None:
            closure.set_dof(*parse_dofs(dof))
        closure.set_position(*xyz)
        closure.set_euler(*rpy)
        self.links[parent].add_child(closure)
        closure.make_closure(self.links[link])
        self.closures[name] = closure
        return closure

    def goal(self, name, link, dof='X Y Z EX EY EZ', axes='world', parent=None, offset=None):
        goal = Goal(name)
        goal.set_goal_dof(*parse_dofs(dof))
        goal.axes = axes
        if offset is not None:
            goal.set_offset(*offset)
        if parent is not None:
            self.links[parent].add_child(goal)
        else:
            self.roots.append(goal)
        goal.make_closure(self.links[link])
        self.goals[name] = goal
        return goal

    def solver(self, options=None):
        return Solver(self.roots, options)

    def go_home(self):
        for name, values in self.home.items():
            self.joints[name].set_dof_values(*np.atleast_1d(values))
        return self

    def naive(self, names=None, q=None, follow=False):
        values = None if q is None else dict(zip(names, q, strict=True))
        return Naive(self.roots, values, follow)

    def random_q(self, names, rng, spread=1.0):
        """Draw values between the limits; within +-spread of the present value without limits."""
        drawn = []
        for name in names:
            joint_name, _, dof = name.partition('.')
            joint = self.joints[joint_name]
            axis = DOF[dof] if dof else joint.dof[0]
            now = joint.dof_values[axis]
            low = max(joint.min_dof_limit[axis], now - spread)
            high = min(joint.max_dof_limit[axis], now + spread)
            drawn.append(rng.uniform(low, high))
        return np.array(drawn)

    def pose_of(self, link, names=None, q=None, follow=True):
        return split(self.naive(names, q, follow).world(self.links[link]))


def split(matrix):
    return matrix[:3, 3].copy(), Rotation.from_matrix(matrix[:3, :3]).as_quat()


def mechanism_of(robot):
    return Mechanism(
        robot.name,
        list(robot.roots),
        dict(robot.links),
        dict(robot.joints),
        dict(robot.closures),
        dict(robot.goals),
    )
