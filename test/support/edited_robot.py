"""A robot under edits of values, settings and graph, with one solver for all edits."""

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
import pickle

from ik_node.errors import OptionError, TopologyError
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.edited_graph import EditedGraph, PRODUCTS
from support.naive import value_names
from support.record import build

OPTIONS = SolverOptions(max_iterations=30, restarts=1)


class EditedRobot(EditedGraph):
    """
    A graph under edits, with one solver that lives through all of them.

    The solver is told of nothing. `solved` counts how often there was something to solve,
    `converged` how often it was met.
    """

    def __init__(self, dice, options=OPTIONS):
        super().__init__(dice)
        self.options, self.solved, self.converged = options, 0, 0
        self.solver = Solver([self.frames['base']], options)
        self.answered, self.timed_out = [], False

    # -- values and settings

    def any_dof(self):
        """Return a record, its frame and an axis with a value, or three times None."""
        name, dof = self.dice.one(self.movable()) or (None, None)
        return self.records.get(name), self.frames.get(name), dof

    def set_value(self):
        record, frame, dof = self.any_dof()
        if record is None:
            return
        wanted = self.dice.number(-1.5, 1.5)
        value = record.clamped(dof, wanted)
        which = self.dice.one(('dof', 'dof', 'target', 'rest_pose'))
        setter = {'dof': frame.set_dof_value, 'target': frame.set_target_value}
        clamped = setter.get(which, frame.set_rest_pose_value)(dof, wanted)
        assert clamped == (value != wanted)
        names = {'dof': 'dof_values', 'target': 'dof_target', 'rest_pose': 'dof_rest_pose'}
        getattr(record, names[which])[dof] = value
        record.target_set = record.target_set or which == 'target'
        record.rest_pose_set = record.rest_pose_set or which == 'rest_pose'

    def set_limits(self):
        """Set or remove the limits of a value, which moves to the nearest limit if outside."""
        record, frame, dof = self.any_dof()
        if record is None:
            return
        lower, upper = sorted(self.dice.number(-1.5, 1.5) for _ in range(2))
        lower = self.dice.one((lower, lower, -np.inf))
        upper = self.dice.one((upper, upper, np.inf, max(lower, -1.5)))
        frame.set_limits(dof, lower, upper)
        record.limit(dof, lower, upper)

    def lock(self):
        record, frame, dof = self.any_dof()
        if record is None:
            return
        locked = bool(self.dice.below(2))
        axis = self.dice.one((dof, dof, None))
        (frame.lock if locked else frame.unlock)(axis)
        for each in record.dof if axis is None else (axis,):
            record.locked[each] = locked

    def set_dof(self):
        name = self.dice.one(self.named('joint'))
        if name is None:
            return
        before = set(self.records[name].dof)
        dofs = self.dice.some(range(6))
        self.frames[name].set_dof(*dofs)
        self.records[name].choose(dofs)
        for other, record in self.records.items():  # nothing follows an axis that is gone
            for dof, (master, master_dof, _) in list(record.couplings.items()):
                if master == name and master_dof in before:
                    self.frames[other].uncouple(dof)
                    del record.couplings[dof]

    def couple(self):
        record, frame, dof = self.any_dof()
        master, other, master_dof = self.any_dof()
        if record is None:
            return
        numbers = (self.dice.number(-0.2, 0.2), self.dice.one((1.0, -1.0, 0.5, 2.0)))
        at = (master.name, master_dof)
        while at is not None and at != (record.name, dof):
            following = self.records[at[0]].couplings.get(at[1])
            at = following and following[:2]
        if at is not None:
            with pytest.raises(TopologyError, match='coupling in a circle'):
                frame.couple(dof, other, master_dof, numbers)
            return
        frame.couple(dof, other, master_dof, numbers)
        record.couplings[dof] = (master.name, master_dof, numbers)

    def uncouple(self):
        following = [(n, d) for n, r in self.records.items() for d in r.couplings]
        name, dof = self.dice.one(following) or (None, None)
        if name is not None:
            self.frames[name].uncouple(dof)
            del self.records[name].couplings[dof]

    def refused(self):
        links, joints = self.named('link'), self.named('joint')
        joint = self.dice.one(n for n in joints if self.records[n].child)
        if joint is None:
            return
        frame, link = self.frames[joint], self.frames[self.dice.one(links)]
        with pytest.raises(TopologyError, match=r'carries|closes on'):
            frame.add_child(link)
        with pytest.raises(TopologyError, match=r'carries|closes on'):
            frame.make_closure(link)
        with pytest.raises(TopologyError, match=r'cannot|takes no child'):
            self.frames[self.dice.one(self.below(joint))].attach_child(frame)
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
        names = [n for top in self.tops() for n in self.below(top)]
        tied = [self.records[n] for n in names if self.records[n].is_closure]
        asked = [r for r in tied if r.enabled and r.weight > 0.0]
        goals = {r.name for r in asked if r.what == 'goal'}
        return {r.name for r in asked} - goals, goals

    def value_names(self):
        names = [n for top in self.tops() for n in self.below(top)]
        frames = [self.frames[n] for n in names if self.records[n].what == 'joint']
        return sorted(name for frame in frames for name in value_names(frame))

    def massless(self):
        closures, goals = self.requests()
        asked = [
            self.records[self.records[n].child]
            for n in goals | closures
            if self.records[n].kind == 'centre_of_mass'
        ]
        carried = [[self.records[n].mass for n in self.below(link.name)] for link in asked]
        return any(sum(masses) == 0.0 for masses in carried)

    def trouble(self):
        inside = {n for top in self.tops() for n in self.below(top)}
        bounds, limited = {}, []
        for name in sorted(inside):
            record = self.records[name]
            for dof in record.dof if record.what == 'joint' else ():
                at, shift, factor = (name, dof), 0.0, 1.0
                while at[1] in self.records[at[0]].couplings:
                    master, master_dof, (c0, c1) = self.records[at[0]].couplings[at[1]]
                    shift, factor, at = shift + factor * c0, factor * c1, (master, master_dof)
                if at[0] not in inside:
                    return TopologyError
                limits = record.min_dof_limit[dof], record.max_dof_limit[dof]
                limited.append((at, *sorted((limit - shift) / factor for limit in limits)))
        for at, low, high in limited:
            before = bounds.get(at, (-np.inf, np.inf))
            bounds[at] = max(before[0], low), min(before[1], high)
        empty = any(low > high for low, high in bounds.values())
        return OptionError if empty else None

    def ready(self):
        trouble = self.trouble()
        if trouble is not None:
            with pytest.raises(trouble):
                self.solver.solve_pose({})
            return False
        # A solve goes from its last answer in small steps where only locked values were changed;
        # to be compared with one that has none, the solver is made to forget it.
        locked = any(self.records[n].locked.any() for n in self.named('joint'))
        if locked and self.values() != self.answered:
            self.solver.update_structure()
        return True

    def solve(self):
        """Solve by the existing solver, a new one, and a new one of a rebuilt graph."""
        if not self.ready():
            return
        names = self.solver.joint_names
        assert sorted(names) == self.value_names()
        closures, goals = self.requests()
        asked = {n: self.random_pose(0.8) for n in sorted(goals) if self.dice.below(2)}
        if self.massless():
            with pytest.raises(TopologyError, match='no mass'):
                self.solver.solve()
            return
        chosen = self.dice.some(self.value_names()) if self.dice.below(3) == 0 else None
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
        again = Solver([build(self.records)['base']], self.options)
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
        there, errors = self.there(), {}
        for chain in results:
            errors |= chain.goal_errors | chain.closure_errors
        assert set(errors) == closures | goals
        self.judge_errors(there, errors, {})
        self.write_back(names)

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
        loose = {n: r.allowance(n) for r in self.solver.redundancies for n in r.closures}
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
                    followed = self.followers(joint.name, dof)
                    assert values[name] == before[dof] or followed & set(chosen)

    def followers(self, name, dof):
        found = set()
        for other, record in self.records.items():
            for at, (master, master_dof, _) in record.couplings.items():
                if (master, master_dof) == (name, dof):
                    joint = self.frames[other]
                    found.add(dict(zip(joint.dof, value_names(joint), strict=True))[at])
                    found |= self.followers(other, at)
        return found

    def judge_errors(self, there, errors, asked):
        # A value is rounded in its last place, and once more wherever another follows it; an angle
        # turns all that it carries by as much, and this moves what is far away.
        turned = PRODUCTS + 4.0 * np.finfo(float).eps * there.largest_value()
        moved = turned * there.size()
        for name, error in errors.items():
            wanted = there.error(there.closers[name], asked.get(name))
            most = [1e-8 + moved, 1e-8 + turned]
            if self.records[name].kind == 'look_at':
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
        goals = tuple(n for n in errors if self.records[n].what == 'goal')
        problem = Solver([self.frames['base']], self.options).problem_for(goals)
        chain, _ = problem.place_of_goal[name]
        return 1e-6 * chain.characteristic_length

    def met(self, name, error):
        tolerance = self.records[name].tolerance or (1e-6, 1e-6)
        return error[0] <= tolerance[0] and error[1] <= tolerance[1]

    def values(self):
        return [tuple(self.records[n].dof_values.tolist()) for n in self.named('joint')]

    def write_back(self, names):
        for name in self.named('joint'):
            record, frame = self.records[name], self.frames[name]
            for dof, value_name in zip(record.dof, value_names(frame), strict=True):
                if value_name in names:
                    value = float(frame.dof_values[dof])
                    assert value == record.clamped(dof, value)
                    record.dof_values[dof] = value
        self.answered = self.values()
