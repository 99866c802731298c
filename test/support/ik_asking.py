"""Requests for inverse kinematics like MoveIt's, and independent checks of the answers."""

from ik_node.robot import load_robot
from ik_node.ros.loading import LoadedModel, ModelRequest
from ik_node.ros.moveit import fill_response, IkAnswer, IkCopy, read_request, RefusedIkError
from ik_node.ros.parameters.settings import Settings
import numpy as np
from scipy.spatial.transform import Rotation
from support.moveit_messages import GetPositionIK
from support.naive import angle_between, Naive, pose

# Axis of every joint and the way to the next one [m].
ARM = (
    ('0 0 1', (0, 0, 0.3)),
    ('0 1 0', (0, 0, 0.4)),
    ('0 1 0', (0, 0, 0.35)),
    ('0 0 1', (0.02, 0, 0.1)),
    ('0 1 0', (0, 0, 0.1)),
    ('0 0 1', (0, 0.03, 0.08)),
)


def arm_text(joint_count, limit=2.6):
    parts = ['<robot name="arm"><link name="base"/>']
    at = (0, 0, 0.1)
    for number in range(1, joint_count + 1):
        axis, ahead = ARM[number - 1]
        parent = 'base' if number == 1 else f'link{number - 1}'
        parts.append(
            f'<joint name="joint{number}" type="revolute"><parent link="{parent}"/>'
            f'<child link="link{number}"/><origin xyz="{at[0]} {at[1]} {at[2]}"/>'
            f'<axis xyz="{axis}"/>'
            f'<limit lower="{-limit}" upper="{limit}" effort="1" velocity="1"/></joint>'
            f'<link name="link{number}"/>'
        )
        at = ahead
    return ''.join(parts) + '</robot>'


def settings_of(**values):
    return Settings.from_values({name.replace('__', '.'): value for name, value in values.items()})


def model_of(robot, settings=None):
    settings = settings_of() if settings is None else settings
    request = ModelRequest.of('', settings)
    return LoadedModel.of(request, robot)


def nowhere(target, source):
    raise LookupError(f'no transform from {target!r} to {source!r}')


class Asking:
    """
    A robot at a configuration, asked as the service asks it.

    The oracle has a robot of its own, read from the same text.
    """

    def __init__(self, text, settings=None, **how):
        self.settings = settings_of() if settings is None else settings
        self.robot = load_robot(text, **how)
        self.model = model_of(self.robot, self.settings)
        self.q = self.robot.q
        self.names = list(self.robot.joint_names)
        self.lookup = nowhere
        self.ik_copy = IkCopy(self.model)
        self.question = None
        self.oracle = load_robot(text, **how)

    def ask(self, request, response=None):
        response = GetPositionIK.Response() if response is None else response
        self.question = None
        try:
            self.question = read_request(
                request.ik_request, self.model, self.q, self.settings, self.lookup
            )
            answer = self.ik_copy.answer(self.question)
        except RefusedIkError as error:
            answer = IkAnswer(error.code, str(error))
        fill_response(response, answer, self.question, self.model, 'ik_node')
        return response

    def at(self, q):
        values = q if isinstance(q, dict) else dict(zip(self.names, q, strict=True))
        return Naive(self.oracle.roots, values)

    def place(self, q, link):
        return self.at(q).world(self.oracle.links[link])

    def values(self, response, seed=None):
        values = dict(zip(self.names, self.q if seed is None else seed, strict=True))
        state = response.solution.joint_state
        assert len(state.name) == len(state.position)
        values.update(zip(state.name, state.position, strict=True))
        return values

    def check(self, response, wanted, seed=None):
        """
        Assert a success that is one.

        `wanted` maps links to their (4, 4) poses in the root frame.
        """
        assert response.error_code.val == 1, response.error_code
        naive = self.at(self.values(response, seed))
        for link, matrix in wanted.items():
            found = naive.world(self.oracle.links[link])
            assert np.linalg.norm(found[:3, 3] - matrix[:3, 3]) < 2e-6
            assert angle_between(found[:3, :3], matrix[:3, :3]) < 2e-6
        for closure in self.oracle.closures.values():
            assert max(naive.error(closure)) < 2e-6
        assert naive.limit_excess() <= 0.0
        assert naive.coupling_gap() < 1e-9
        return naive


def parts(matrix):
    return matrix[:3, 3], Rotation.from_matrix(matrix[:3, :3]).as_quat()


def moved(matrix, x=0.0, y=0.0, z=0.0, rpy=(0, 0, 0)):
    return matrix @ pose((x, y, z), Rotation.from_euler('xyz', rpy).as_quat())


def access_of(asking):
    """Return what the service knows of the node: its present state, and its lookup of frames."""
    return lambda: (asking.model, asking.q, asking.settings), asking.lookup
