"""Gallery robots along their motions, solved step by step."""

from copy import deepcopy
from functools import cache

from ik_node import load_robot, Solver, SolverOptions
from ik_node.description.files import description_path
from ik_node.gallery import gallery_item
from ik_node.model.rotation import matrix_to_quat

# Those with a launch file and a file of parameters; the others share launch/gallery.launch.py.
WITH_FILES = ('hexapod', 'delta', 'fivebar', 'gripper', 'walker')


@cache
def _read(name):
    return load_robot(description_path(gallery_item(name).description))


def loaded(name):
    return deepcopy(_read(name))


def flat(values, above=''):
    found = {}
    for name, value in values.items():
        found.update(
            flat(value, f'{above}{name}.') if isinstance(value, dict) else {above + name: value}
        )
    return found


def followed(robot, name, times, whole=False):
    """
    Yield time and solution while a robot follows its item's motion, each from the one before.

    With `whole` every goal asks for all six axes, whatever the item says.
    """
    item = gallery_item(name)
    moves = item.moves(robot, {} if whole else None)
    solver, q = Solver(robot, SolverOptions(**item.solver_options)), robot.q
    for time in times:
        poses = moves(float(time), lambda link, q=q: robot.forward(q, link))
        asked = {goal: (pose[:3, 3], matrix_to_quat(pose)) for goal, pose in poses.items()}
        solution = solver.solve_pose(asked, q0=q)
        q = solution.q
        yield float(time), solution
