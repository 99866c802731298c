"""A robot under edits of its graph, values and settings, with one solver for all edits."""

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
import pickle

from ik_node.errors import OptionError, TopologyError
from ik_node.model.constraint import Closure, Constraint, Goal
from ik_node.model.dof import DOF
from ik_node.model.frame import find_roots
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import matrix_to_quat, quat_from_euler
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.naive import frames_of, Naive, pose, value_names

OPTIONS = SolverOptions(max_iterations=30, restarts=1)
GOAL_KINDS = ('frame', 'frame', 'frame', 'look_at', 'distance', 'centre_of_mass')
MOST_LINKS, MOST_CLOSURES, MOST_GOALS = 8, 3, 3
TYPES = ('weld', 'point', 'hinge', 'slider', 'planar', 'universal', 'distance', 'axes', 'joint')

# Up to 25 matrices are multiplied on the way to a frame, and every product rounds what it moves by
# one or two units in the last place, up or down: together by less than this.
PRODUCTS = 32.0 * np.finfo(float).eps


TREE = ('add_joint', 'remove_leaf', 'cut', 'hang', 'move', 'place', 'refused')
TIES = ('close', 'undo', 'add_goal', 'change_goal')
JOINTS = ('set_value', 'set_limits', 'lock', 'set_dof', 'couple', 'uncouple')
# As often as it takes to have something to edit.
EDITS = (*TREE, *TIES, *JOINTS, 'add_joint', 'add_joint', 'close', 'set_value', 'place', 'copy')


class Dice:
    """Random choices by a seed."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)

    def below(self, count):
        return int(self._rng.integers(count))

    def number(self, low, high):
        return float(self._rng.uniform(low, high))

    def one(self, things):
        things = list(things)
        return things[self.below(len(things))] if things else None

    def some(self, things):
        return [thing for thing in things if self.below(2)]

    def position(self, size=0.4):
        """Return three numbers [m]."""
        return self._rng.uniform(-size, size, 3)

    def euler(self):
        """Return three angles [rad]."""
        return self._rng.uniform(-3.0, 3.0, 3)


class EditedRobot:
    """
    A graph under edits, with one solver that lives through all of them and is told of nothing.

    `solved` counts how often there was something to solve, `converged` how often it was met.
    """

    def __init__(self, dice, options=OPTIONS):
        self.dice, self.options, self.made = dice, options, 0
        self.frames = {'base': Link('base')}
        self.solver = Solver([self.frames['base']], options)
        self.solved, self.converged, self.timed_out, self.answered = 0, 0, False, []

    # -- its parts

    def take(self, kind, name, *more):
        self.made += 1
        frame = kind(f'{name}{self.made}', *more)
        self.frames[frame.name] = frame
        return frame

    def edit(self, count):
        for _ in range(count):
            getattr(self, self.dice.one(EDITS))()
        return self

    def all(self, kind):
        return [frame for frame in self.frames.values() if isinstance(frame, kind)]

    def carrying(self):
        return [joint for joint in self.all(Joint) if joint.child and not joint.is_closure]

    def below(self, frame):
        return frames_of([frame])

    def inside(self):
        return frames_of(find_roots(self.frames['base']))

    def there(self, values=None, follow=False):
        return Naive(find_roots(self.frames['base']), values, follow)

    def world(self, frame):
        return Naive([f for f in self.frames.values() if f.parent is None]).world(frame)

    def is_at(self, frame, wanted):
        there = Naive([f for f in self.frames.values() if f.parent is None])
        rounding = 1e-9 + PRODUCTS * there.size()
        np.testing.assert_allclose(there.world(frame), wanted, rtol=0, atol=rounding)

    def check(self):
        """Verify every world pose by a new computation."""
        for frame in self.frames.values():
            self.is_at(frame, frame.matrix_world)

    def random_pose(self, size=0.4):
        return self.dice.position(size), quat_from_euler(*self.dice.euler())

    # -- the tree

    def add_joint(self):
        if len(self.all(Link)) >= MOST_LINKS:
            return
        parent = self.dice.one(self.all(Link))
        joint, link = self.take(Joint, 'joint'), self.take(Link, 'link')
        link.mass, link.centre_of_mass = self.dice.one((0.0, 0.5, 2.0)), self.dice.position(0.1)
        joint.set_dof(*self.dice.some(DOF))
        joint.set_pose(self.random_pose())
        if self.dice.below(3) == 0:
            link.set_pose(self.random_pose())
        parent.add_child(joint)
        joint.add_child(link)

    def remove_leaf(self):
        joint = self.dice.one(j for j in self.carrying() if not j.child.children)
        if joint is None:
            return
        link = joint.child
        for closer in list(link.closure_joints):
            self.undo(closer)
        if joint.parent is not None:
            joint.parent.remove_child(joint)
        joint.remove_child(link)
        del self.frames[link.name], self.frames[joint.name]
        self.free_followers(joint, list(DOF))

    def cut(self):
        """Remove a joint and its descendants from its parent, with or without its world pose."""
        joint = self.dice.one(j for j in self.all(Joint) if j.parent)
        if joint is not None:
            self.unhang(joint, self.dice.below(2))

    def hang(self):
        roots = [f for f in self.frames.values() if f.parent is None and not f.is_link]
        self.rehang(self.dice.one(roots), self.dice.below(2))

    def move(self):
        joint, keep = self.dice.one(j for j in self.all(Joint) if j.parent), self.dice.below(2)
        if joint is not None:
            self.unhang(joint, keep)
            self.rehang(joint, keep)

    def unhang(self, frame, keep):
        world = self.world(frame)
        (frame.parent.detach_child if keep else frame.parent.remove_child)(frame)
        if keep:
            self.is_at(frame, world)

    def rehang(self, frame, keep):
        if frame is None:
            return
        below, world = self.below(frame), self.world(frame)
        parent = self.dice.one(link for link in self.all(Link) if link not in below)
        (parent.attach_child if keep else parent.add_child)(frame)
        if keep:
            self.is_at(frame, world)

    def place(self):
        self.dice.one(self.frames.values()).set_pose(self.random_pose())

    # -- closures and goals

    def close(self):
        pins = [joint for joint in self.all(Joint) if joint.is_closure]
        parent, link = self.dice.one(self.all(Link)), self.dice.one(self.all(Link))
        if len(self.all(Closure)) + len(pins) >= MOST_CLOSURES or parent is link:
            return
        type_name = self.dice.one(TYPES)
        here = np.linalg.inv(self.world(parent)) @ self.world(link)
        if type_name == 'joint':
            frame = self.take(Joint, 'pin')
            frame.set_dof(*self.dice.some(DOF))
            frame.set_pose(here)
        else:
            frame = self.take(Closure, 'closure', 'weld' if type_name == 'axes' else type_name)
            if type_name == 'axes':
                frame.set_dof(*self.dice.some(DOF))
            frame.set_pose(self.random_pose())
            offset = np.linalg.inv(here) @ pose(frame.position, frame.quaternion)
            if type_name == 'distance':
                way = self.dice.position()
                offset[:3, 3] += way
                frame.distance = float(np.linalg.norm(way))
            frame.set_offset(offset[:3, 3], matrix_to_quat(offset))
        parent.add_child(frame)
        frame.make_closure(link)

    def undo(self, frame=None):
        frame = frame or self.dice.one(
            f for f in self.frames.values() if f.is_joint and f.partners()
        )
        if frame is None:
            return
        frame.remove_child(frame.child)
        if frame.parent is not None:
            frame.parent.remove_child(frame)
        del self.frames[frame.name]
        self.free_followers(frame, list(DOF))

    def add_goal(self):
        """Add a goal on any axes for any link, in the root frame or another link's."""
        if len(self.all(Goal)) >= MOST_GOALS:
            return
        goal, link = self.take(Goal, 'goal'), self.dice.one(self.all(Link))
        goal.axes, goal.kind = self.dice.one(('world', 'goal', 'link')), self.dice.one(GOAL_KINDS)
        goal.distance = self.dice.one((0.0, 0.3)) if goal.kind == 'distance' else 0.0
        goal.set_dof(*self.dice.some(DOF))
        goal.set_pose(self.random_pose(0.8))
        if self.dice.below(2):
            goal.set_offset(*self.random_pose())
        parent = self.dice.one(
            [None, None, *(each for each in self.all(Link) if each is not link)]
        )
        if parent is not None:
            parent.add_child(goal)
        goal.make_closure(link)

    def change_goal(self):
        frame = self.dice.one(self.all(Constraint))
        if frame is None:
            return
        choices = {
            'enabled': lambda: not frame.enabled,
            'weight': lambda: self.dice.one((0.0, 0.3, 1.0, 20.0)),
            'tolerance': lambda: self.dice.one((None, (1e-3, 1e-2), (1e-8, 1e-8))),
        }
        if frame.is_goal:
            choices |= {
                'priority': lambda: self.dice.below(3),
                'kind': lambda: self.dice.one(GOAL_KINDS),
            }
        what = self.dice.one((*choices, 'dof', 'offset'))
        if what in choices:
            setattr(frame, what, choices[what]())
        elif what == 'dof' and frame.traits.axes and not frame.traits.more:
            frame.set_dof(*self.dice.some(DOF))
        elif frame.is_goal:
            frame.set_offset(*self.random_pose())

    # -- values and settings

    def any_value(self):
        """Return a joint and one of its axes, or twice None."""
        return self.dice.one((j, dof) for j in self.all(Joint) for dof in j.dof) or (None, None)

    def set_value(self):
        joint, dof = self.any_value()
        if joint is not None:
            setter = self.dice.one(('dof', 'dof', 'target', 'rest_pose'))
            getattr(joint, f'set_{setter}_value')(dof, self.dice.number(-1.5, 1.5))

    def set_limits(self):
        """Set or remove the limits of a value, which moves to the nearest limit if outside."""
        joint, dof = self.any_value()
        if joint is None:
            return
        lower, upper = sorted(self.dice.number(-1.5, 1.5) for _ in range(2))
        lower = self.dice.one((lower, lower, -np.inf))
        joint.set_limits(dof, lower, self.dice.one((upper, upper, np.inf, max(lower, -1.5))))

    def lock(self):
        joint, dof = self.any_value()
        if joint is not None:
            self.dice.one((joint.lock, joint.unlock))(self.dice.one((dof, dof, None)))

    def set_dof(self):
        joint = self.dice.one(self.all(Joint))
        if joint is not None:
            before = list(joint.dof)
            joint.set_dof(*self.dice.some(range(6)))
            self.free_followers(joint, before)

    def free_followers(self, master, dofs):
        """Uncouple what follows axes that are gone."""
        for joint in self.all(Joint):
            for dof, coupling in list(joint.couplings.items()):
                if coupling.master is master and coupling.master_dof in dofs:
                    joint.uncouple(dof)

    def couple(self):
        joint, dof = self.any_value()
        master, master_dof = self.any_value()
        if joint is None:
            return
        numbers = (self.dice.number(-0.2, 0.2), self.dice.one((1.0, -1.0, 0.5, 2.0)))
        at = (master, master_dof)
        while at is not None and at != (joint, dof):
            coupling = at[0].couplings.get(at[1])
            at = coupling and (coupling.master, coupling.master_dof)
        if at is None:
            joint.couple(dof, master, master_dof, numbers)
            return
        with pytest.raises(TopologyError, match='coupling in a circle'):
            joint.couple(dof, master, master_dof, numbers)

    def uncouple(self):
        following = [(joint, dof) for joint in self.all(Joint) for dof in joint.couplings]
        joint, dof = self.dice.one(following) or (None, None)
        if joint is not None:
            joint.uncouple(dof)

    def refused(self):
        joint, link = (
            self.dice.one(j for j in self.all(Joint) if j.child),
            self.dice.one(self.all(Link)),
        )
        if joint is None:
            return
        with pytest.raises(TopologyError, match=r'carries|closes on'):
            joint.add_child(link)
        with pytest.raises(TopologyError, match=r'carries|closes on'):
            joint.make_closure(link)
        with pytest.raises(TopologyError, match=r'cannot|takes no child'):
            self.dice.one(self.below(joint)).attach_child(joint)
        with pytest.raises(TopologyError, match='is not'):
            self.frames['base'].detach_child(link)

    def copy(self):
        way = self.dice.one((deepcopy, lambda things: pickle.loads(pickle.dumps(things))))
        before, solver = self.frames, self.solver
        self.frames, self.solver = way((before, solver))
        assert self.solver is not solver
        assert all(self.frames[name] is not frame for name, frame in before.items())

    # -- what the solver ought to say

    def requests(self):
        """Return the names of closures and of goals that take part."""
        tied = [frame for frame in self.inside() if frame.is_joint and frame.partners()]
        asked = [
            frame
            for frame in tied
            if not isinstance(frame, Constraint) or (frame.enabled and frame.weight > 0.0)
        ]
        goals = {frame.name for frame in asked if frame.is_goal}
        return {frame.name for frame in asked} - goals, goals

    def massless(self, names):
        links = [self.frames[n].child for n in names if self.kind_of(n) == 'centre_of_mass']
        masses = [[f.mass for f in self.below(link) if f.is_link] for link in links]
        return any(sum(each) == 0.0 for each in masses)

    def kind_of(self, name):
        return getattr(self.frames[name], 'kind', 'frame')

    def trouble(self):
        """Return the error that a solve raises, if it raises one."""
        inside = {frame for frame in self.inside() if isinstance(frame, Joint)}
        bounds = {}
        for joint in inside:
            for dof in joint.dof:
                at, shift, factor = (joint, dof), 0.0, 1.0
                while at[1] in at[0].couplings:
                    coupling = at[0].couplings[at[1]]
                    c0, c1 = coupling.coefficients
                    at, shift = (coupling.master, coupling.master_dof), shift + factor * c0
                    factor *= c1
                if at[0] not in inside:
                    return TopologyError
                limits = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
                low, high = sorted((limit - shift) / factor for limit in limits)
                before = bounds.get(at, (-np.inf, np.inf))
                bounds[at] = max(before[0], low), min(before[1], high)
        return OptionError if any(low > high for low, high in bounds.values()) else None

    def solve(self):
        """Solve by the existing solver, a new one, and a new one of a copied graph."""
        trouble = self.trouble()
        closures, goals = self.requests()
        if trouble is not None or self.massless(goals | closures):
            with pytest.raises(trouble or TopologyError):
                self.solver.solve()
            return
        # A solve goes from its last answer in small steps where only locked values were changed;
        # to be compared with one that has none, the solver is made to forget it.
        if any(j.locked.any() for j in self.all(Joint)) and self.values() != self.answered:
            self.solver.update_structure()
        names = self.solver.joint_names
        joints = [frame for frame in self.inside() if isinstance(frame, Joint)]
        assert sorted(names) == sorted(name for joint in joints for name in value_names(joint))
        asked = {n: self.random_pose(0.8) for n in sorted(goals) if self.dice.below(2)}
        chosen = self.dice.some(sorted(names)) if self.dice.below(3) == 0 else None
        found = self.solver.solve_pose(asked, joints=chosen)
        self.judge(found, asked, closures)
        if chosen is not None:
            self.judge_chosen(found, chosen)
        if self.dice.below(4) == 0:
            with ThreadPoolExecutor(3) as pool:
                at_once = [
                    pool.submit(self.solver.solve_pose, asked, joints=chosen) for _ in range(6)
                ]
            for future in at_once:
                self.same(found, future.result())
        # Only now, for whatever is made or changed has every solver read its joints anew.
        fresh = Solver([self.frames['base']], self.options)
        again = Solver([deepcopy(self.frames['base'])], self.options)
        for other in (fresh, again):
            assert other.joint_names == names
            self.same(found, other.solve_pose(asked, joints=chosen))
        self.solved += bool(closures or asked)
        self.converged += bool(asked) and found.status is Status.CONVERGED
        if self.timed_out:  # a solve would go on with the damping and random numbers of the last
            self.solver.update_structure()
        results = self.solver.solve()
        self.timed_out = any(chain.status is Status.TIMEOUT for chain in results)
        self.same_chains(results, again.solve())
        np.testing.assert_allclose(self.solver.q, again.q, rtol=0, atol=1e-9)
        errors = {}
        for chain in results:
            errors |= chain.goal_errors | chain.closure_errors
        assert set(errors) == closures | goals
        self.judge_errors(self.there(), errors, {})
        self.answered = self.values()

    def values(self):
        return [tuple(joint.dof_values.tolist()) for joint in self.all(Joint)]

    def same(self, one, two):
        np.testing.assert_allclose(one.q, two.q, rtol=0, atol=1e-9)
        assert (one.status, one.iterations) == (two.status, two.iterations)
        self.same_chains(one.chains, two.chains)

    def same_chains(self, one, two):
        for a, b in zip(one, two, strict=True):
            assert list(a.goal_errors) == list(b.goal_errors)
            assert list(a.closure_errors) == list(b.closure_errors)
            assert (a.status, a.active_limits) == (b.status, b.active_limits)

    def judge(self, solution, asked, closures):
        """Verify a solution by the oracle, including values that must not change."""
        values = dict(zip(self.solver.joint_names, solution.q.tolist(), strict=True))
        start, there = self.there(follow=True), self.there(values)
        errors = {**solution.goal_errors, **solution.closure_errors}
        assert set(errors) == closures | set(asked)
        self.judge_errors(there, errors, asked)
        assert there.limit_excess(start) <= 0.0
        # Every coupling on the way to the free master rounds a product and a sum by half a unit in
        # the last place each; the solver composes them first. This allows 16 of them in a row.
        assert there.coupling_gap(rounded=16.0 * np.finfo(float).eps) <= 1e-12
        met = {n: self.met(n, error) for n, error in errors.items()}
        # Rows that imply each other up to rounding may stay open by what they disagree.
        loose = {n: pair for r in self.solver.redundancies for n, pair in r.allowance.items()}
        allowed = {
            n: self.met(n, np.maximum(np.subtract(error, loose.get(n, (0.0, 0.0))), 0.0))
            for n, error in errors.items()
        }
        if solution.status is Status.CONVERGED:
            assert all(allowed.values())
        else:
            assert not all(met.values())
        if start.limit_excess() > 0.0:  # of a coupled value: limits come before all else
            return
        for joint, before in start.values.items():
            held = [d for d in joint.dof if joint.locked[d] and d not in joint.couplings]
            np.testing.assert_array_equal(there.values[joint][held], before[held])
        if all(self.met(n, start.error(start.closers[n])) for n in closures):
            assert all(allowed[n] for n in closures), solution.message

    def judge_chosen(self, solution, chosen):
        start, names = self.there(follow=True), self.solver.joint_names
        values = dict(zip(names, solution.q.tolist(), strict=True))
        if start.limit_excess() > 0.0:
            return
        for joint, before in start.values.items():
            for dof, name in zip(joint.dof, value_names(joint), strict=True):
                if name not in chosen and dof not in joint.couplings:
                    followed = self.followers(joint, dof)
                    assert values[name] == before[dof] or followed & set(chosen)

    def followers(self, master, master_dof):
        found = set()
        for joint in self.all(Joint):
            for dof, coupling in joint.couplings.items():
                if (coupling.master, coupling.master_dof) == (master, master_dof):
                    found.add(dict(zip(joint.dof, value_names(joint), strict=True))[dof])
                    found |= self.followers(joint, dof)
        return found

    def judge_errors(self, there, errors, asked):
        # A value is rounded in its last place, and once more wherever another follows it; an angle
        # turns all that it carries by as much, and this moves what is far away.
        turned = PRODUCTS + 4.0 * np.finfo(float).eps * there.largest_value()
        moved = turned * there.size()
        for name, error in errors.items():
            wanted = there.error(there.closers[name], asked.get(name))
            most = [1e-8 + moved, 1e-8 + turned]
            if self.kind_of(name) == 'look_at':
                a, b = there.ends(there.closers[name], asked.get(name))
                near = float(np.linalg.norm((a - b)[:3, 3]))
                if error[1] == np.pi and near <= self.least_seen(name, errors) + moved:
                    wanted = 0.0, np.pi
                # Rounding decides in which direction a point close by is seen.
                most[1] += moved / near if near > 0.0 else 0.0
            for one, other, rounded in zip(error, wanted, most, strict=True):
                assert abs(one - other) <= rounded, (name, error, wanted, most)

    def least_seen(self, name, errors):
        """Return the least distance of a look-at target: a millionth of the chain's L."""
        goals = tuple(n for n in errors if self.frames[n].is_goal)
        problem = Solver([self.frames['base']], self.options).problem_for(goals)
        chain, _ = problem.place_of_goal[name]
        return 1e-6 * chain.characteristic_length

    def met(self, name, error):
        tolerance = getattr(self.frames[name], 'tolerance', None) or (1e-6, 1e-6)
        return error[0] <= tolerance[0] and error[1] <= tolerance[1]
