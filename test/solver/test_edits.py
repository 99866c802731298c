"""
A robot that is edited while a solver lives on: it never breaks, and equals one built afresh.

With IK_NODE_FUZZ=1 in the environment the machine draws anew, and many more examples; that takes
hours, so add --timeout=0. `make edits` makes a hundred thousand edits of two hundred robots.
"""

import os

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule, RuleBasedStateMachine
from ik_node.errors import OptionError, TopologyError
from ik_node.kernels._jit import compiled
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import pytest
from support.dice import DrawnDice, ThrownDice
from support.edited_robot import EditedRobot
from support.mechanisms import MECHANISMS

ROBOTS = int(os.environ.get('IK_NODE_EDITS', '1000')) // 500
FUZZ = os.environ.get('IK_NODE_FUZZ') == '1'
TREE = ('add_joint', 'remove_leaf', 'cut', 'hang', 'move', 'swap_links', 'place', 'refused')
TIES = ('close', 'undo', 'add_goal', 'change_goal')
JOINTS = ('set_value', 'set_limits', 'lock', 'set_dof', 'couple', 'uncouple')
# As often as it takes to have something to edit.
EDITS = (*TREE, *TIES, *JOINTS, 'add_joint', 'add_joint', 'close', 'set_value', 'place', 'copy')


class Edits(RuleBasedStateMachine):
    """Edits in any order, each drawn by hypothesis."""

    @initialize(data=st.data(), axes=st.lists(st.sampled_from(DOF), min_size=1, max_size=4))
    def begin(self, data, axes):
        """Begin with a short chain."""
        self.robot = EditedRobot(DrawnDice(data))
        for dof in axes:
            last = self.robot.named('link')[-1]
            self.robot.add_joint(last, [dof])

    @rule(data=st.data(), edits=st.lists(st.sampled_from(EDITS), min_size=1, max_size=4))
    def edit(self, data, edits):
        """Make some edits."""
        self.robot.dice = DrawnDice(data)
        for edit in edits:
            getattr(self.robot, edit)()
            self.robot.check()

    @rule(data=st.data())
    def solve(self, data):
        """Solve, and compare with solvers that know nothing of the past."""
        self.robot.dice = DrawnDice(data)
        self.robot.solve()

    @invariant()
    def objects_are_as_recorded(self):
        """Nothing has changed that was not edited."""
        if hasattr(self, 'robot'):
            self.robot.check()


Edits.TestCase.settings = settings(
    max_examples=(2000 if FUZZ else 15) if compiled else 3,
    stateful_step_count=60 if FUZZ else 20,
    derandomize=not FUZZ,
    deadline=None,
    phases=[Phase.generate, *([Phase.shrink] if FUZZ else [])],
    suppress_health_check=list(HealthCheck),
)
TestEdits = Edits.TestCase


@pytest.mark.parametrize('seed', range(1, 1 + ROBOTS))
def test_hundreds_of_edits_of_one_robot(seed):
    """One robot and one solver; after every edit it is compared with one built afresh."""
    dice, count = ThrownDice(seed), 500 if compiled else 50
    robot = EditedRobot(dice, SolverOptions(max_iterations=10, restarts=0))
    for _ in range(count):
        getattr(robot, dice.one(EDITS))()
        robot.check()
        robot.solve()
    assert robot.solved > 0.2 * count


def same_name_twice(m):
    """Give two goals one name; return how to undo it, and what is raised."""
    again = m.goal('end_goal', 'p1_link')
    m.goals['end_goal'] = m.roots[1]
    return lambda: (again.remove_child(again.child), m.roots.remove(again)), TopologyError


def impossible_coupling(m):
    """Let a joint follow another where the limits of both leave it no value."""
    m.joint('side', 'p1_link', 'EX').set_limits('EX', 5, 6)
    m.joints['side'].couple('EX', m.joints['p1'], 'EZ', (0, 1))
    return lambda: m.joints['side'].set_limits('EX', -6, 6), OptionError


def constant_beyond_limits(m):
    """Let a joint follow another by a constant that its limits do not allow."""
    m.joints['p3'].couple('EZ', m.joints['p2'], 'EZ', (5.0,))
    return lambda: m.joints['p3'].uncouple('EZ'), OptionError


def lost_master(m):
    """Let a joint follow one that is in no graph."""
    stranger = Joint('stranger')
    stranger.set_dof('EZ')
    m.joints['p3'].couple('EZ', stranger, 'EZ', (0, 1))
    return lambda: m.joints['p3'].uncouple('EZ'), TopologyError


@pytest.mark.parametrize(
    'spoil', [same_name_twice, impossible_coupling, constant_beyond_limits, lost_master]
)
def test_a_graph_that_cannot_be_solved_is_an_error_until_it_is_mended(spoil):
    """No call answers for the graph that was there before; what moves none of it goes on."""
    m = MECHANISMS['planar']()
    for name in ('p1', 'p3'):
        m.joints[name].set_limits('EZ', -1.7, 1.7)
    solver = m.solver()
    goals = {'end_goal': ((1.0, 1.5, 0.0), (0, 0, 0, 1))}
    call = solver.prepare(['end_goal'])
    mend, error = spoil(m)
    q0 = (0.3, 0.5, -0.4)
    for attempt in (
        solver.update_structure,
        solver.solve,
        lambda: solver.solve_pose(goals, q0),
        lambda: call(*goals['end_goal'], q0),
        lambda: solver.drive({}, q0),
        lambda: solver.q,
        lambda: solver.joint_names,
    ):
        with pytest.raises(error):
            attempt()
    mend()
    m.joint('more', 'end', 'EX')
    assert 'more' in solver.joint_names
    assert call(*goals['end_goal']).status is Status.CONVERGED
    assert solver.solve_pose(goals).status is Status.CONVERGED


def test_roots_told_by_a_generator():
    """An iterator is read once; what it gave is kept for later updates."""
    m = MECHANISMS['planar']()
    solver = Solver(root for root in m.roots)
    names = solver.joint_names
    solver.update_structure()
    assert solver.joint_names == names == ['p1', 'p2', 'p3']


def test_a_list_of_roots_may_grow():
    """A root that is added to the list is found by the next update."""
    m = MECHANISMS['planar']()
    solver = m.solver()
    m.root('island')
    m.joint('lift', 'island', 'Z')
    solver.update_structure()
    assert solver.joint_names == ['p1', 'p2', 'p3', 'lift']
