"""`update_structure` keeps the arrays of every unchanged chain."""

from ik_node.model.closure import Closure
from support.mechanisms import MECHANISMS


def arrays(solver):
    """Return the arrays of every chain by its requests."""
    solver.solve()
    return {
        chain.names.constraints: chain.flat.ints
        for problem in solver._graph.structure.problems.values()
        for chain in problem.chains
    }


def test_unchanged_graph_keeps_all_arrays():
    """All arrays stay, and so does the workspace."""
    m = MECHANISMS['hexapod']().go_home()
    solver = m.solver()
    before = arrays(solver)
    solver.update_structure()
    after = arrays(solver)
    assert after.keys() == before.keys()
    assert all(after[key] is before[key] for key in before)


def test_change_of_one_arm_keeps_arrays_of_other():
    """A closure on one of two arms leaves the other arm's arrays as they are."""
    m = MECHANISMS['two_arms']()
    left, right = m.goals.values()
    solver = m.solver()
    before = arrays(solver)
    pin = Closure('pin', 'point')
    pin.set_position(*m.pose_of(left.child.name)[0])
    next(iter(m.links.values())).add_child(pin)
    pin.make_closure(left.child)
    solver.update_structure()
    after = arrays(solver)
    assert ('pin', left.name) in after
    assert after[right.name,] is before[right.name,]
    pin.enabled = False
    assert arrays(solver)[left.name,] is before[left.name,]
