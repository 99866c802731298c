"""A graph under edits: the live objects, and a record of their expected state."""

from ik_node.model.closure import Closure
from ik_node.model.dof import DOF
from ik_node.model.rotation import matrix_to_quat, quat_from_euler
import numpy as np
from support.naive import motion, Naive, pose
from support.record import differences, frame_of, Record

GOAL_KINDS = ('frame', 'frame', 'frame', 'look_at', 'distance', 'centre_of_mass')
MOST_LINKS, MOST_CLOSURES, MOST_GOALS = 8, 3, 3
TYPES = ('weld', 'point', 'hinge', 'slider', 'planar', 'universal', 'distance', 'axes', 'joint')

# Up to 25 matrices are multiplied on the way to a frame, and every product rounds what it moves by
# one or two units in the last place, up or down: together by less than this.
PRODUCTS = 32.0 * np.finfo(float).eps


def rounding(there):
    """Return the allowed difference of two computations of a pose [m and 1]."""
    return 1e-9 + PRODUCTS * there.size()


class EditedGraph:
    """
    A graph that is edited through its public objects, and a record of it.

    Every edit is made on the objects and, in plain numbers, on the record.
    """

    def __init__(self, dice):
        self.dice = dice
        self.records, self.frames, self.made = {}, {}, 0
        self.take(Record('link', 'base'))

    # -- the record

    def take(self, record):
        self.records[record.name] = record
        self.frames[record.name] = frame_of(record)
        return self.frames[record.name]

    def drop(self, name):
        del self.records[name], self.frames[name]
        for other, record in self.records.items():
            for dof, (master, _, _) in list(record.couplings.items()):
                if master == name:
                    self.frames[other].uncouple(dof)
                    del record.couplings[dof]

    def new_name(self, what):
        self.made += 1
        return f'{what}{self.made}'

    def named(self, what, **wanted):
        return [
            name
            for name, record in self.records.items()
            if record.what == what and all(getattr(record, k) == v for k, v in wanted.items())
        ]

    def movable(self):
        return [(n, d) for n in self.named('joint') for d in self.records[n].dof]

    def below(self, name):
        found = [name]
        for at in found:
            found.extend(self.records[at].children)
        return found

    def top(self, name):
        while self.records[name].parent is not None:
            name = self.records[name].parent
        return name

    def tops(self):
        found = ['base']
        for top in found:
            for name in self.below(top):
                record = self.records[name]
                tied = [*record.closers, *([record.child] if record.is_closure else [])]
                found.extend(t for t in map(self.top, tied) if t not in found)
        return found

    def there(self, values=None, follow=False):
        return Naive([self.frames[name] for name in self.tops()], values, follow)

    def anywhere(self):
        return Naive([self.frames[n] for n, r in self.records.items() if r.parent is None])

    def set_pose(self, name, position, quaternion):
        record, frame = self.records[name], self.frames[name]
        frame.set_position(*position)
        frame.set_quaternion(*quaternion)
        np.testing.assert_allclose(frame.position, position, atol=0.0)
        np.testing.assert_allclose(frame.quaternion, quaternion, atol=1e-15)
        record.position, record.quaternion = frame.position.copy(), frame.quaternion.copy()

    def check(self):
        """Verify every object by its record, and every world pose by a new computation."""
        there = self.anywhere()
        for name, record in self.records.items():
            assert differences(record, self.frames[name]) == []
            world = self.frames[name].matrix_world
            np.testing.assert_allclose(
                world, there.world(self.frames[name]), rtol=0, atol=rounding(there)
            )

    def random_pose(self, size=0.4):
        return self.dice.position(size), quat_from_euler(*self.dice.euler())

    # -- the tree

    def add_joint(self, parent=None, dofs=None):
        if len(self.named('link')) >= MOST_LINKS:
            return
        parent = parent or self.dice.one(self.named('link'))
        name, below = self.new_name('joint'), self.new_name('link')
        joint = self.take(Record('joint', name, parent=parent))
        body = Record('link', below, parent=name, mass=self.dice.one((0.0, 0.5, 2.0)))
        body.centre_of_mass = self.dice.position(0.1)
        link = self.take(body)
        chosen = self.dice.some(DOF) if dofs is None else dofs
        joint.set_dof(*chosen)
        self.records[name].choose(chosen)
        self.set_pose(name, *self.random_pose())
        if self.dice.below(3) == 0:
            self.set_pose(below, *self.random_pose())
        self.frames[parent].add_child(joint)
        joint.add_child(link)
        self.records[parent].children.append(name)
        self.records[name].children.append(below)
        self.records[name].child = below

    def remove_leaf(self):
        leaves = [
            n
            for n in self.named('joint', is_closure=False)
            if self.records[n].child and not self.records[self.records[n].child].children
        ]
        joint = self.dice.one(leaves)
        if joint is None:
            return
        link, parent = self.records[joint].child, self.records[joint].parent
        for closer in list(self.records[link].closers):
            self.undo(closer)
        if parent is not None:
            self.frames[parent].remove_child(self.frames[joint])
            self.records[parent].children.remove(joint)
        self.frames[joint].remove_child(self.frames[link])
        self.drop(link)
        self.drop(joint)

    def cut(self):
        """Remove a joint and its descendants from its parent, with or without its world pose."""
        joint = self.dice.one(n for n in self.named('joint') if self.records[n].parent)
        if joint is None:
            return
        self.unhang(joint, self.records[joint].parent, self.dice.below(2))

    def hang(self):
        roots = [n for n in self.records if self.records[n].parent is None and n != 'base']
        joint = self.dice.one(n for n in roots if self.records[n].what != 'link')
        if joint is None:
            return
        below = set(self.below(joint))
        parent = self.dice.one(n for n in self.named('link') if n not in below)
        self.rehang(joint, parent, self.dice.below(2))

    def move(self):
        joint = self.dice.one(n for n in self.named('joint') if self.records[n].parent)
        if joint is None:
            return
        below, keep = set(self.below(joint)), self.dice.below(2)
        parent = self.dice.one(n for n in self.named('link') if n not in below)
        self.unhang(joint, self.records[joint].parent, keep)
        self.rehang(joint, parent, keep)

    def swap_links(self):
        carrying = [n for n in self.named('joint', is_closure=False) if self.records[n].child]
        one, two = self.dice.one(carrying), self.dice.one(carrying)
        if one is None or one == two or two in self.below(one) or one in self.below(two):
            return
        keep = self.dice.below(2)
        links = self.records[one].child, self.records[two].child
        for joint, link in ((one, links[0]), (two, links[1])):
            self.unhang(link, joint, keep)
        for joint, link in ((one, links[1]), (two, links[0])):
            self.rehang(link, joint, keep)

    def unhang(self, name, parent, keep):
        world = self.anywhere().world(self.frames[name])
        if keep:
            self.frames[parent].detach_child(self.frames[name])
        else:
            self.frames[parent].remove_child(self.frames[name])
        self.records[parent].children.remove(name)
        self.records[name].parent = None
        if self.records[parent].what == 'joint':
            self.records[parent].child = None
        self.moved_to(name, world if keep else None)

    def rehang(self, name, parent, keep):
        world = self.anywhere().world(self.frames[name])
        if keep:
            self.frames[parent].attach_child(self.frames[name])
        else:
            self.frames[parent].add_child(self.frames[name])
        self.records[parent].children.append(name)
        self.records[name].parent = parent
        if self.records[parent].what == 'joint':
            self.records[parent].child = name
        self.moved_to(name, world if keep else None)

    def moved_to(self, name, world):
        if world is None:
            return
        record, frame = self.records[name], self.frames[name]
        there = self.anywhere()
        above = np.eye(4) if record.parent is None else there.world(self.frames[record.parent])
        moved = motion(record.dof_values) if record.what == 'joint' else np.eye(4)
        wanted = np.linalg.inv(above) @ world @ np.linalg.inv(moved)
        here = pose(frame.position, frame.quaternion)
        np.testing.assert_allclose(here, wanted, rtol=0, atol=rounding(there))
        record.position, record.quaternion = frame.position.copy(), frame.quaternion.copy()

    # -- closures and goals

    def close(self, type_name=None):
        links = self.named('link')
        if len(self.named('closure')) + len(self.named('joint', is_closure=True)) >= MOST_CLOSURES:
            return
        parent, link = self.dice.one(links), self.dice.one(links)
        if parent == link:
            return
        type_name = type_name or self.dice.one(TYPES)
        there = self.anywhere()
        world_parent, world_link = (there.world(self.frames[n]) for n in (parent, link))
        if type_name == 'joint':
            name, here = self.new_name('pin'), np.linalg.inv(world_parent) @ world_link
            frame = self.take(Record('joint', name))
            frame.set_dof(*(dofs := self.dice.some(DOF)))
            self.records[name].choose(dofs)
            self.set_pose(name, here[:3, 3], matrix_to_quat(here))
        else:
            name = self.new_name('closure')
            kind = 'weld' if type_name == 'axes' else type_name
            record = Record('closure', name, kind)
            record.kind, record.dof = Closure.rows_of_type(kind)
            if type_name == 'axes':
                record.dof = tuple(self.dice.some(DOF))
            record.position, record.quaternion = self.random_pose()
            in_link = (
                np.linalg.inv(world_link) @ world_parent @ pose(record.position, record.quaternion)
            )
            record.offset_position = in_link[:3, 3]
            record.offset_quaternion = matrix_to_quat(in_link)
            if type_name == 'distance':
                way = self.dice.position()
                record.offset_position = record.offset_position + way
                record.distance = float(np.linalg.norm(way))
            frame = self.take(record)
            record.quaternion = frame.quaternion.copy()
            record.offset_quaternion = frame.offset_quaternion.copy()
        self.tie(name, parent, link)

    def tie(self, name, parent, link):
        """Add a closure or goal below its parent, if it has one, and close it on a link."""
        if parent is not None:
            self.frames[parent].add_child(self.frames[name])
            self.records[parent].children.append(name)
        self.frames[name].make_closure(self.frames[link])
        self.records[name].parent = parent
        self.records[name].child, self.records[name].is_closure = link, True
        self.records[link].closers.append(name)

    def undo(self, name=None):
        tied = [n for n in self.records if self.records[n].is_closure]
        name = name or self.dice.one(tied)
        if name is None:
            return
        record = self.records[name]
        self.frames[name].remove_child(self.frames[record.child])
        self.records[record.child].closers.remove(name)
        if record.parent is not None:
            self.frames[record.parent].remove_child(self.frames[name])
            self.records[record.parent].children.remove(name)
        self.drop(name)

    def add_goal(self):
        """Add a goal on any axes for any link, in the root frame or another link's."""
        if len(self.named('goal')) >= MOST_GOALS:
            return
        record = Record(
            'goal', self.new_name('goal'), axes=self.dice.one(('world', 'goal', 'link'))
        )
        record.kind = self.dice.one(GOAL_KINDS)
        record.distance = self.dice.one((0.0, 0.3)) if record.kind == 'distance' else 0.0
        record.dof = tuple(self.dice.some(DOF))
        record.position, record.quaternion = self.random_pose(0.8)
        if self.dice.below(2):
            record.offset_position, record.offset_quaternion = self.random_pose()
        frame = self.take(record)
        record.quaternion = frame.quaternion.copy()
        record.offset_quaternion = frame.offset_quaternion.copy()
        link = self.dice.one(self.named('link'))
        others = [n for n in self.named('link') if n != link]
        self.tie(record.name, self.dice.one([None, None, *others]), link)

    def change_goal(self):
        name = self.dice.one([*self.named('goal'), *self.named('closure')])
        if name is None:
            return
        record, frame = self.records[name], self.frames[name]
        what = self.dice.one(
            ('enabled', 'weight', 'tolerance', 'priority', 'dof', 'offset', 'kind')
        )
        if what == 'priority' and record.what == 'closure':
            what = 'enabled'
        if what == 'dof':
            if record.kind != 'universal':
                record.dof = tuple(self.dice.some(DOF))
                frame.set_dof(*record.dof)
        elif what == 'kind':
            if record.what == 'goal':
                record.kind = frame.kind = self.dice.one(GOAL_KINDS)
        elif what == 'offset':
            if record.what == 'goal':
                frame.set_offset(*self.random_pose())
                record.offset_position = frame.offset_position.copy()
                record.offset_quaternion = frame.offset_quaternion.copy()
        else:
            value = {
                'enabled': not record.enabled,
                'weight': self.dice.one((0.0, 0.3, 1.0, 20.0)),
                'tolerance': self.dice.one((None, (1e-3, 1e-2), (1e-8, 1e-8))),
                'priority': self.dice.below(3),
            }[what]
            setattr(record, what, value)
            setattr(frame, what, value)

    def place(self):
        name = self.dice.one(self.records)
        if name is not None:
            self.set_pose(name, *self.random_pose())
