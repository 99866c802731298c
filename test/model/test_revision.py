"""Revisions count changes of settings, of values, and of the graph."""

import sys
import threading

from ik_node.errors import TopologyError
from ik_node.kernels.layout import JOINT_UPPER
from ik_node.model.constraint import Closure, Goal
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint, save_rest_pose
from ik_node.model.link import Link
from ik_node.solver import Solver
from ik_node.solver.graph_reader import share_revision
import pytest


class Robot:
    """A link with two hinges, a tip, a goal, a closure and a separate link."""

    def __init__(self):
        self.base, self.tip, self.loose = Link('base'), Link('tip'), Link('loose')
        self.knee, self.hip = Joint('knee'), Joint('hip')
        for joint in (self.knee, self.hip):
            joint.set_dof('EZ')
            self.base.add_child(joint)
        self.knee.add_child(self.tip)
        self.goal, self.closure = Goal('goal'), Closure('closure')
        self.goal.make_closure(self.tip)
        self.base.add_child(self.closure)
        self.closure.make_closure(self.tip)
        self.revision = share_revision([self.base, self.loose])


@pytest.fixture
def robot():
    """Return a new robot."""
    return Robot()


GRAPH = {
    'add_child': lambda r: r.hip.add_child(r.loose),
    'remove_child': lambda r: r.knee.remove_child(r.tip),
    'attach_child': lambda r: r.hip.attach_child(r.loose),
    'detach_child': lambda r: r.base.detach_child(r.hip),
    'make_closure': lambda r: r.hip.make_closure(r.tip),
    'goal gives up its link': lambda r: r.goal.remove_child(r.tip),
    'goal under a link': lambda r: r.base.add_child(r.goal),
    'closure elsewhere': lambda r: r.base.remove_child(r.closure),
    'set_dof': lambda r: r.hip.set_dof('X'),
    'clear_dof': lambda r: r.hip.clear_dof(),
    'set_goal_dof': lambda r: r.goal.set_goal_dof('X'),
    'set_free_dof': lambda r: r.goal.set_free_dof('X'),
    'couple': lambda r: r.hip.couple('EZ', r.knee, 'EZ', (0, 1)),
    'link moved': lambda r: r.tip.set_position(1, 0, 0),
    'link turned': lambda r: r.tip.set_quaternion(0, 0, 1, 0),
    'joint turned': lambda r: r.knee.set_euler(0, 0, 1),
    'joint placed in the world': lambda r: r.knee.set_world_position(1, 2, 3),
    'position assigned': lambda r: setattr(r.base, 'position', (1, 2, 3)),
    'written into': lambda r: r.base.set_matrix_needs_update(),
    'set_offset': lambda r: r.goal.set_offset((1, 0, 0)),
}

SETTINGS = {
    'limit': lambda r: r.hip.set_min_limit('EZ', -1),
    'lock': lambda r: r.hip.lock(),
    'unlock': lambda r: r.hip.unlock(),
    'target': lambda r: r.hip.set_target_value('EZ', 1),
    'rest pose': lambda r: r.hip.set_rest_pose_values(1),
    'save_rest_pose': lambda r: save_rest_pose(r.base),
    'minimize': lambda r: r.hip.try_minimize_euler_angles(),
}

ASKS = {
    'weight': lambda r: setattr(r.goal, 'weight', 2.0),
    'tolerance': lambda r: setattr(r.closure, 'tolerance', 1e-3),
    'priority': lambda r: setattr(r.goal, 'priority', 1),
    'distance': lambda r: setattr(r.goal, 'distance', 0.1),
    'enabled': lambda r: setattr(r.closure, 'enabled', False),
}

NEITHER = {
    'value': lambda r: r.hip.set_dof_value(DOF.EZ, 1),
    'values': lambda r: r.hip.set_dof_values(1),
    'goal placed': lambda r: r.goal.set_position(1, 2, 3),
    'goal turned': lambda r: r.goal.set_world_quaternion(0, 0, 1, 0),
    'goal written into': lambda r: r.goal.set_matrix_needs_update(),
    'closure placed': lambda r: r.closure.set_world_euler(1, 2, 3),
    'matrices read': lambda r: r.tip.update_matrix_world(True),
    'a step away': lambda r: r.hip.get_delta_world_matrix('EZ', 0.1),
    'lookup': lambda r: r.hip.nearest_values(r.hip.dof_target),
}


def counters(robot, change):
    """Return the increments of the settings and graph counters."""
    before = robot.revision.settings, robot.revision.graph
    change(robot)
    return robot.revision.settings - before[0], robot.revision.graph - before[1]


def test_graph_changes_are_counted():
    """Children, closures, axes and couplings."""
    for name, change in GRAPH.items():
        assert counters(Robot(), change)[1] > 0, name


def test_setting_changes_are_counted_separately():
    """Limits, locks, targets and rest poses do not change the graph."""
    for name, change in SETTINGS.items():
        settings, graph = counters(Robot(), change)
        assert settings > 0, name
        assert graph == 0, name


def test_constraint_changes_are_counted_separately():
    """All settings of goals and closures except their pose."""
    for name, change in ASKS.items():
        robot = Robot()
        before = robot.revision.constraints
        assert counters(robot, change) == (0, 0), name
        assert robot.revision.constraints > before, name


def test_values_and_constraint_poses_are_not_setting_changes():
    """Joint values and poses of goals and closures may change at every tick."""
    for name, change in NEITHER.items():
        assert counters(Robot(), change) == (0, 0), name


def test_couplings_count_as_setting_and_graph_change(robot):
    """Also when they are removed or reset."""
    assert min(counters(robot, GRAPH['couple'])) > 0
    assert min(counters(robot, lambda r: r.hip.uncouple('EZ'))) > 0
    GRAPH['couple'](robot)
    assert min(counters(robot, lambda r: r.hip.set_dof('EZ'))) > 0


def test_refused_change_is_not_counted(robot):
    """A child that cannot be taken leaves the graph as it was."""
    before = robot.revision.graph
    for change in (robot.hip.remove_child, robot.base.add_child):
        with pytest.raises(TopologyError, match='child'):
            change(robot.loose)
    assert robot.revision.graph == before


def test_concurrent_changes_are_all_counted(robot):
    """No change is lost: a solver would miss one."""
    before, interval = robot.revision.settings, sys.getswitchinterval()

    def change(joint):
        for _ in range(2000):
            joint.target_set = True
            joint.set_target_value('EZ', 0.0)

    change(robot.hip)
    each = robot.revision.settings - before
    threads = [threading.Thread(target=change, args=[j]) for j in (robot.hip, robot.knee) * 2]
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert each >= 2000
    assert robot.revision.settings - before == 5 * each


def test_change_during_reading_is_read_next_time(robot, monkeypatch):
    """Another thread changes a joint between reading and recording the counter."""
    solver = Solver(robot.base)
    table = solver.structure.table
    read = table.refresh

    def changed_meanwhile():
        read()
        monkeypatch.undo()
        robot.hip.set_max_limit('EZ', 0.25)

    monkeypatch.setattr(table, 'refresh', changed_meanwhile)
    robot.hip.set_max_limit('EZ', 0.5)
    for _ in range(2):
        solver.solve_pose({})
    hip = solver.joint_names.index('hip')
    assert table.rows[JOINT_UPPER, hip] == 0.25
