"""A wrong argument of any form raises our error, never one from inside."""

from copy import copy

from hypothesis import given
from hypothesis import strategies as st
import ik_node as ik
import numpy as np
import pytest
from support.fourbar_urdf import MACHINE

NONSENSE = (
    None,
    'nose',
    '',
    b'ab',
    -1,
    float('nan'),
    10**400,
    1j,
    [],
    {},
    ['a', 'b'],
    [[1], [2, 3]],
    {'a': 1},
    {1: 2},
    np.zeros(0),
    np.zeros((2, 2, 2)),
    np.array(['a']),
    {'x', 'y'},
    object(),
    len,
    slice(1, 2),
    ik.Link,
)
LINK, JOINT = 'coupler', 'drive'
TWO = np.zeros((2, 3))


class Bench:
    """A robot with a goal for positions, and its solver."""

    def __init__(self):
        self.robot = ik.load_robot(MACHINE)
        self.link = next(iter(self.robot.links.values()))
        self.name = self.link.name
        self.goal = self.robot.add_goal(self.name, name='place', dof='X Y Z')
        self.solver = ik.Solver(self.robot)
        self.joint = self.robot.joints[JOINT]
        self.axis = self.joint.dof[0]
        self.call = self.solver.prepare('place')

    def add(self, **arguments):
        """Add a goal, and remove it if it was accepted."""
        added = self.robot.add_goal(self.name, **{'name': 'new', **arguments})
        self.robot.remove_goal(added.name)


BENCH = Bench()
R, S, G, J, CALL = BENCH.robot, BENCH.solver, BENCH.goal, BENCH.joint, BENCH.call

CALLS = {
    'Solver': ik.Solver,
    'Solver options': lambda v: ik.Solver(R, v),
    'Solver.options': lambda v: setattr(S, 'options', v),
    'AsyncSolver': ik.AsyncSolver,
    'load_robot': ik.load_robot,
    'load_robot root': lambda v: ik.load_robot(MACHINE, root=v),
    'from_dh': ik.from_dh,
    'find_roots': ik.find_roots,
    'save_rest_pose': ik.save_rest_pose,
    'robot_to_ik_root': ik.robot_to_ik_root,
    'set_ik_from_urdf': lambda v: ik.set_ik_from_urdf(R.root, v),
    'set_urdf_from_ik': lambda v: ik.set_urdf_from_ik(v, R.root),
    'view': ik.view,
    'solve joints': S.solve,
    'solve_pose': S.solve_pose,
    'solve_pose pose': lambda v: S.solve_pose({BENCH.name: v}),
    'solve_pose position': lambda v: S.solve_pose({'place': v}),
    'solve_pose q0': lambda v: S.solve_pose({}, v),
    'solve_pose q0 value': lambda v: S.solve_pose({}, {JOINT: v}),
    'solve_pose max_step': lambda v: S.solve_pose({}, max_step=v),
    'solve_pose joints': lambda v: S.solve_pose({}, joints=v),
    'velocity': S.velocity,
    'velocity twist': lambda v: S.velocity({BENCH.name: v}),
    'velocity linear': lambda v: S.velocity({'place': v}),
    'velocity q': lambda v: S.velocity({}, v),
    'velocity dt': lambda v: S.velocity({}, dt=v),
    'drive': S.drive,
    'drive value': lambda v: S.drive({JOINT: v}),
    'drive q0': lambda v: S.drive({}, v),
    'drive steps': lambda v: S.drive({JOINT: 0.1}, steps=v),
    'solve_batch': S.solve_batch,
    'solve_batch poses': lambda v: S.solve_batch({BENCH.name: v}),
    'solve_batch q0': lambda v: S.solve_batch({'place': TWO}, v),
    'solve_batch threads': lambda v: S.solve_batch({'place': TWO}, threads=v),
    'solve_path': S.solve_path,
    'solve_path poses': lambda v: S.solve_path({BENCH.name: v}),
    'solve_path q0': lambda v: S.solve_path({'place': TWO}, v),
    'solve_path dt': lambda v: S.solve_path({'place': TWO}, dt=v),
    'solve_path times': lambda v: S.solve_path({'place': TWO}, times=v),
    'solve_path max_velocity': lambda v: S.solve_path({'place': TWO}, max_velocity=v),
    'solve_path max_step': lambda v: S.solve_path({'place': TWO}, max_step=v),
    'prepare': S.prepare,
    'prepare joints': lambda v: S.prepare([], v),
    'prepared call': CALL,
    'prepared call quats': lambda v: CALL((0, 0, 0), v),
    'prepared call q0': lambda v: CALL((0, 0, 0), (0, 0, 0, 1), v),
    'links': lambda v: R.links[v],
    'joints': lambda v: R.joints[v],
    'goals': lambda v: R.goals[v],
    'closures': lambda v: R.closures[v],
    'solution': lambda v: S.solve_pose({})[v],
    'batch': lambda v: S.solve_batch({'place': TWO})[v],
    'Robot.q': lambda v: setattr(R, 'q', v),
    'forward q': lambda v: R.forward(v, BENCH.name),
    'forward link': lambda v: R.forward(R.q, v),
    'jacobian q': lambda v: R.jacobian(v, BENCH.name),
    'plot': R.plot,
    'add_goal': R.add_goal,
    'remove_goal': R.remove_goal,
    **{
        f'add_goal {name}': lambda v, name=name: BENCH.add(**{name: v})
        for name in ('name', 'kind', 'dof', 'axes', 'base', 'offset', 'weight', 'priority')
    },
    'add_goal axis': lambda v: BENCH.add(kind='look_at', axis=v),
    'add_goal distance': lambda v: BENCH.add(kind='distance', distance=v),
    'add_goal tolerance': lambda v: BENCH.add(tolerance=v),
    'Frame.set_pose': ik.Link().set_pose,
    'Frame.add_child': ik.Frame().add_child,
    'set_dof': ik.Joint().set_dof,
    'set_dof_values': lambda v: J.set_dof_values(v),
    'couple': lambda v: ik.Joint().couple(v, J, BENCH.axis, [0, 1]),
    'set_offset': ik.Goal().set_offset,
    'SolverOptions': lambda v: ik.SolverOptions(restarts=v),
}


def test_wrong_argument_raises_only_ik_error():
    """Where an argument happens to be valid, it is accepted; afterwards everything works."""
    for value in NONSENSE:
        for call, use in CALLS.items():
            try:
                use(value)
            except ik.IkError as error:
                text = str(error)
            except IndexError:
                text = '' if call == 'batch' else None
            else:
                text = ''
            assert text is not None, call
            assert text.isprintable() or not text, call
            S.options = ik.SolverOptions()
        assert S.solve_pose({}).converged


MESSAGES = {
    'Solver of a path': (lambda: ik.Solver('x.urdf'), "source: 'x.urdf' .*load_robot"),
    'Solver of None': (lambda: ik.Solver(None), 'source: None .*a Robot, a frame'),
    'options as dict': (lambda: ik.Solver(R, {'restarts': 0}), r'SolverOptions\(name=value'),
    'unknown joint': (lambda: R.joints['drvie'], "no joint named 'drvie'; .*did you mean 'drive'"),
    'unknown value': (lambda: S.solve_pose({})['drvie'], "did you mean 'drive'"),
    'unknown start': (lambda: S.solve_pose({}, {'drvie': 0.0}), "did you mean 'drive'"),
    'pose not in a mapping': (lambda: S.solve_pose([0, 0, 0]), r'goals: .*a mapping \{name of a'),
    'position of a pose': (lambda: S.solve_pose({BENCH.name: (0, 0, 0)}), 'position alone'),
    'start far away': (lambda: S.solve_pose({}, np.full(len(R.q), 1e300)), r'within 1e\+'),
    'drive far away': (lambda: S.drive({JOINT: 1e300}), r'within 1e\+'),
    'until_done': (lambda: ik.AsyncSolver(R).solve(G), 'until_done: .*goal.set_position'),
    'copy with a thread': (lambda: copy(ik.AsyncSolver(R)), 'has a thread'),
    'comfort of a solve': (lambda: ik.SolverOptions(comfort=sum), 'comfort: .*slsqp'),
    'goals of paths': (lambda: S.solve_paths('place'), 'goals: .*a list of one for each path'),
    'executor': (lambda: S.solve_batch({'place': TWO}, executor=2), 'concurrent.futures'),
    'view of a path': (lambda: ik.view('x.urdf'), "robot: 'x.urdf' .*load_robot"),
}


def test_common_mistakes_get_helpful_messages():
    """The message says what was found and what to give."""
    for case in MESSAGES:
        call, message = MESSAGES[case]
        with pytest.raises(ik.IkError, match=message):
            call()


PLAIN = st.none() | st.floats() | st.integers() | st.text(max_size=3)
NESTED = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=4), max_leaves=8)
MAPPED = st.dictionaries(st.sampled_from(('place', JOINT, 'nose', '')), NESTED, max_size=2)


@given(NESTED | MAPPED, NESTED | MAPPED)
def test_any_nonsense_in_solve_pose_raises_only_ik_error(goals, q0):
    """As goals and as start, at once."""
    try:
        solution = S.solve_pose(goals, q0)
    except ik.IkError:
        return
    assert np.isfinite(solution.q).all()
