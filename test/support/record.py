"""Plain records of all parts of a graph, and construction of graphs from records."""

from dataclasses import dataclass, field

from ik_node.model.closure import Closure
from ik_node.model.goal import Goal
from ik_node.model.joint import Joint
from ik_node.model.link import Link
import numpy as np


@dataclass
class Record:
    """
    What a frame ought to be, by names only.

    `what` is link, joint, closure or goal; `type_name` is a closure's. A joint's `child` is the
    link that it carries, or closes on where `is_closure`; `closers` are what closes on a link.
    """

    what: str
    name: str
    type_name: str = ''
    parent: str | None = None
    children: list = field(default_factory=list)
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    quaternion: np.ndarray = field(default_factory=lambda: np.array((0.0, 0.0, 0.0, 1.0)))
    closers: list = field(default_factory=list)
    child: str | None = None
    is_closure: bool = False
    dof: tuple = ()
    dof_values: np.ndarray = field(default_factory=lambda: np.full(6, 0.0))
    dof_target: np.ndarray = field(default_factory=lambda: np.full(6, 0.0))
    dof_rest_pose: np.ndarray = field(default_factory=lambda: np.full(6, 0.0))
    min_dof_limit: np.ndarray = field(default_factory=lambda: np.full(6, -np.inf))
    max_dof_limit: np.ndarray = field(default_factory=lambda: np.full(6, np.inf))
    locked: np.ndarray = field(default_factory=lambda: np.full(6, False))
    target_set: bool = False
    rest_pose_set: bool = False
    couplings: dict = field(default_factory=dict)
    offset_position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    offset_quaternion: np.ndarray = field(default_factory=lambda: np.array((0.0, 0.0, 0.0, 1.0)))
    enabled: bool = True
    axes: str = 'goal'
    weight: float = 1.0
    tolerance: tuple | None = None
    distance: float = 0.0
    kind: str = 'frame'
    mass: float = 0.0
    centre_of_mass: np.ndarray = field(default_factory=lambda: np.zeros(3))
    priority: int = 0

    @property
    def is_constraint(self):
        return self.what in ('closure', 'goal')

    def choose(self, dofs):
        fresh = Record(self.what, self.name)
        self.dof = tuple(dofs)
        names = 'dof_values dof_target dof_rest_pose min_dof_limit max_dof_limit locked'
        for name in [*names.split(), 'target_set', 'rest_pose_set', 'couplings']:
            setattr(self, name, getattr(fresh, name))

    def limit(self, dof, lower, upper):
        self.min_dof_limit[dof], self.max_dof_limit[dof] = lower, upper
        for values in (self.dof_values, self.dof_target, self.dof_rest_pose):
            values[dof] = self.clamped(dof, values[dof])

    def clamped(self, dof, value):
        return min(max(value, self.min_dof_limit[dof]), self.max_dof_limit[dof])


def frame_of(record):
    kinds = {'link': Link, 'joint': Joint, 'closure': Closure, 'goal': Goal}
    if record.what == 'closure':
        frame = Closure(record.name, record.type_name)
    else:
        frame = kinds[record.what](record.name)
    frame.set_position(*record.position)
    frame.set_quaternion(*record.quaternion)
    if record.what == 'link':
        frame.mass, frame.centre_of_mass = record.mass, record.centre_of_mass.copy()
        return frame
    frame.set_dof(*record.dof)
    if record.is_constraint:
        frame.kind = record.kind
        frame.set_offset(record.offset_position, record.offset_quaternion)
        frame.enabled, frame.axes, frame.weight = record.enabled, record.axes, record.weight
        frame.tolerance, frame.distance = record.tolerance, record.distance
        if record.what == 'goal':
            frame.priority = record.priority
        return frame
    for dof in record.dof:
        frame.set_limits(dof, record.min_dof_limit[dof], record.max_dof_limit[dof])
        if record.locked[dof]:
            frame.lock(dof)
    frame.set_dof_values(*record.dof_values[list(record.dof)])
    if record.target_set:
        frame.set_target_values(*record.dof_target[list(record.dof)])
    if record.rest_pose_set:
        frame.set_rest_pose_values(*record.dof_rest_pose[list(record.dof)])
    return frame


def build(records):
    frames = {name: frame_of(record) for name, record in records.items()}
    for name, record in records.items():
        for child in record.children:
            frames[name].add_child(frames[child])
        for closer in record.closers:
            frames[closer].make_closure(frames[name])
        for dof, (master, master_dof, coefficients) in record.couplings.items():
            frames[name].couple(dof, frames[master], master_dof, coefficients)
    return frames


def differences(record, frame):
    found = []
    for name, wanted in vars(record).items():
        if name in ('what', 'type_name') or not hasattr(frame, name):
            continue
        got = getattr(frame, name)
        if name in ('parent', 'child'):
            got = None if got is None else got.name
        elif name in ('children', 'closers'):
            got = [other.name for other in got]
        elif name == 'dof':
            got = tuple(got)
        elif name == 'couplings':
            got = {d: (c.master.name, c.master_dof, c.coefficients) for d, c in got.items()}
        same = np.array_equal(got, wanted) if isinstance(wanted, np.ndarray) else got == wanted
        if not same:
            found.append(f'{record.name}.{name} is {got}, not {wanted}')
    if record.what == 'link':
        got = [other.name for other in frame.closure_joints]
        if got != record.closers:
            found.append(f'{record.name}.closure_joints is {got}, not {record.closers}')
    return found
