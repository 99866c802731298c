"""loop_closures.yaml of CAD exporters: what it says to the model, and what each fault is told."""

from ik_node import load_robot, Solver
from ik_node.description.read import read_description
from ik_node.model.rotation import matrix_to_quat


def joint(name, parent, child, xyz, kind='continuous', inside=''):
    """Return a joint about y."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="0 1 0"/>{inside}</joint>'
    )


# A four-bar linkage in the plane y = 0, closed at zero: base pins at 0 and x = 2, crank 1 upwards,
# coupler to (2.2, 1.5), rocker back to the base. The base hangs turned and moved below the root.
MIMIC = '<mimic joint="crank" multiplier="-0.7"/>'
ROBOT = (
    '<robot name="r">'
    + ''.join(f'<link name="{name}"/>' for name in ('root', 'base', 'a', 'b', 'c'))
    + '<joint name="mount" type="fixed"><parent link="root"/><child link="base"/>'
    '<origin xyz="0.1 0.2 0.3" rpy="0.5 0.6 0.7"/></joint>'
    + joint('crank', 'base', 'a', '0 0 0')
    + joint('coupler', 'a', 'b', '0 0 1', 'continuous', MIMIC)
    + joint('rocker', 'base', 'c', '2 0 0')
    + '</robot>'
)


def in_root(vector, point=True):
    """Return a point or direction of the base, in the root link's frame."""
    matrix = read_description(ROBOT).links['base'].matrix_world
    return [float(value) for value in (matrix @ [*vector, float(point)])[:3]]


def hinge(**changes):
    """Return the loop's entry."""
    entry = {'link_a': 'b', 'link_b': 'c', 'point': in_root((2.2, 0.0, 1.5))}
    entry['axis'] = in_root((0.0, 3.0, 0.0), point=False)
    return {**entry, **changes}


def test_loop_replaces_the_mimic():
    """A mimic of a dependent joint only comes near the loop; without it the linkage can turn."""
    content = {'closures': [hinge()], 'dependent': ['coupler', 'rocker'], 'independent': ['crank']}
    robot = load_robot(ROBOT, closures=content)
    assert int(robot.mobility) == 1
    assert robot.joints['coupler'].couplings == {}
    assert (
        "joint 'coupler': its <mimic> is removed, as `dependent` states"
        in robot.description.notes[-1]
    )
    wanted = robot.forward([0.4, 0.0, 0.0], 'a')
    goal = {'a': (wanted[:3, 3], matrix_to_quat(wanted[:3, :3]))}
    solution = Solver(robot).solve_pose(goal)
    assert solution.status.name == 'CONVERGED'
    assert abs(solution.q[robot.joint_names.index('crank')] - 0.4) < 1e-6
    for other in (1, 2):
        assert abs(solution.q[other]) > 0.01
