"""Closures of a scene: green where a loop is closed, red and wide where it is open."""

from ik_node.model.closure import Closure
from ik_node.scene import Cylinder, IKRootsHelper, Segment, Sphere, Text, Triad
from ik_node.scene.look import COLOURS, OPEN, UNUSED
from ik_node.scene.loop_closures import LINE, OPEN_LINE
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.mechanisms import held, MECHANISMS

WITH_LOOPS = [name for name in MECHANISMS if MECHANISMS[name]().closures]
GREEN = COLOURS['closures']


def drawn(source, name=None, **options):
    """Return the shapes of closures, or of one of them by their parts."""
    shapes = IKRootsHelper(source, layers='closures', **options).shapes()
    if name is None:
        return shapes
    return {shape.name.rpartition('/')[2]: shape for shape in shapes if shape.of == name}


def two_points(type_name, offset=(0, 0, 0), turn=(0, 0, 0)):
    """Return two bodies tied by a closure, the first away from the second by a pose."""
    m = held('goal', (), kind=type_name if type_name in ('universal', 'distance') else 'distance')
    closure = next(c for c in m.links['left'].children if c.is_closure)
    if type_name not in ('universal', 'distance'):
        closure.kind, dofs = Closure.rows_of_type(type_name)
        closure.set_dof(*dofs)
    link = m.naive().world(closure.child)
    wanted = np.eye(4)
    wanted[:3, :3] = Rotation.from_euler('xyz', turn).as_matrix()
    wanted[:3, 3] = offset
    # Frame A is to be at this pose in frame B.
    b = m.naive().world(closure)
    offset_in_link = np.linalg.inv(link) @ b @ wanted
    closure.set_offset(
        offset_in_link[:3, 3], Rotation.from_matrix(offset_in_link[:3, :3]).as_quat()
    )
    return m, closure


@pytest.mark.parametrize('name', WITH_LOOPS)
def test_both_frames_are_where_the_oracle_has_them(name):
    """Balls at frames A and B at random values, a red line between them where it is open."""
    m = MECHANISMS[name]()
    helper = IKRootsHelper(m.roots, layers='closures')
    q = m.random_q(helper.joint_names, np.random.default_rng(10))
    naive = m.naive(helper.joint_names, q)
    shapes = {shape.name: shape for shape in helper.shapes(q)}
    for closer in m.closures.values():
        a, b = naive.ends(closer)
        at = f'closures/{closer.name}/'
        np.testing.assert_allclose(shapes[f'{at}b'].position, b[:3, 3], atol=1e-12)
        is_open = max(naive.error(closer)) > 1e-6
        assert shapes[f'{at}b'].rgba == (OPEN if is_open else GREEN)
        if np.linalg.norm(a[:3, 3] - b[:3, 3]) > 1e-3:
            np.testing.assert_allclose(shapes[f'{at}a'].position, a[:3, 3], atol=1e-12)
            line = shapes[f'{at}line']
            np.testing.assert_allclose(line.start, b[:3, 3], atol=1e-12)
            np.testing.assert_allclose(line.end, a[:3, 3], atol=1e-12)
            assert line.width == (OPEN_LINE if is_open else LINE) * helper.joint_scale


@pytest.mark.parametrize('name', ['fourbar', 'fourbar_pinned', 'fivebar', 'hexapod'])
def test_a_closed_loop_is_one_green_ball(name):
    """Where both frames coincide there is one ball, no line and no text."""
    m = MECHANISMS[name]()
    for closer in m.closures:
        parts = drawn(m.roots, closer)
        shapes = [shape for shape in parts.values() if not isinstance(shape, Triad)]
        assert {shape.rgba for shape in shapes} == {GREEN}
        assert [part for part, shape in parts.items() if isinstance(shape, Sphere)] == ['b']
        assert not {'a', 'line', 'gap', 'frame_a'} & set(parts)


def test_a_loop_that_opens_turns_red():
    """Moving one motor opens its loops, and only those; solving turns all green again."""
    m = MECHANISMS['hexapod']()
    helper = IKRootsHelper(m.roots, layers='closures')

    def red():
        return {shape.of for shape in helper.shapes() if shape.rgba == OPEN}

    assert red() == set()
    m.joints['p3'].set_dof_values(0.05)
    assert red() == {'leg3'}
    (text,) = [shape for shape in helper.shapes() if isinstance(shape, Text)]
    assert (text.of, text.text) == ('leg3', '50 mm')
    m.joints['float'].set_dof_value('Z', 0.01)
    assert red() == {f'leg{k}' for k in range(6)}
    m.joints['float'].set_dof_value('Z', 0.0)
    m.joints['p3'].set_dof_values(0.0)
    assert red() == set()


def test_gap_text_is_above_the_gap():
    """It stands over the middle, above both ends, and says millimetres and degrees."""
    m, closure = two_points('weld', (0.02, 0.0, 0.0), (0, 0, np.radians(3)))
    parts = drawn(m.roots, 'closure')
    a, b = m.naive().ends(closure)
    np.testing.assert_allclose(parts['gap'].position[:2], 0.5 * (a[:2, 3] + b[:2, 3]), atol=1e-12)
    assert parts['gap'].position[2] > max(a[2, 3], b[2, 3])
    assert parts['gap'].text == '20 mm, 3 deg'
    assert parts['gap'].rgba == OPEN


@pytest.mark.parametrize(
    ('type_name', 'free'),
    [
        ('weld', {'frame_b': Triad}),
        ('point', {}),
        ('hinge', {'EZ': Cylinder}),
        ('slider', {'Z': Segment, 'frame_b': Triad}),
        ('planar', {'X': Segment, 'Y': Segment, 'EZ': Cylinder}),
        ('universal', {'EX': Cylinder, 'EY': Cylinder}),
    ],
)
def test_free_axes_of_closure_are_drawn(type_name, free):
    """The axes that it does not hold are drawn; where no turn is free, its frame."""
    # A universal joint is closed however it is turned about its first axis.
    turn = (0.5, 0, 0) if type_name == 'universal' else (0, 0, 0)
    m, closure = two_points(type_name, turn=turn)
    parts = drawn(m.roots, 'closure')
    assert {part: type(shape) for part, shape in parts.items()} == {'b': Sphere, **free}
    a, b = m.naive().ends(closure)
    for part, kind in free.items():
        shape = parts[part]
        turn = Rotation.from_quat(shape.quat_xyzw).as_matrix()
        if kind is Triad:
            np.testing.assert_allclose(turn, b[:3, :3], atol=1e-12)
            continue
        frame = a if (type_name, part) == ('universal', 'EY') else b
        np.testing.assert_allclose(turn[:, 2], frame[:3, 'XYZ'.index(part[-1])], atol=1e-12)
        np.testing.assert_allclose(shape.position, b[:3, 3], atol=1e-12)
        assert shape.rgba == GREEN


def test_closure_displaced_along_free_axis_is_closed():
    """Frames may be apart along what is free: a thin green line, no text."""
    m, _ = two_points('slider', (0, 0, 0.3))
    parts = drawn(m.roots, 'closure')
    assert set(parts) == {'a', 'b', 'line', 'Z', 'frame_b'}
    assert parts['line'].rgba == GREEN
    assert parts['line'].length == pytest.approx(0.3)


def test_a_turned_weld_shows_both_frames():
    """Open by a turn alone: two frames in one place, one ball, the angle as text."""
    m, closure = two_points('weld', turn=(0.5, 0, 0))
    parts = drawn(m.roots, 'closure')
    assert set(parts) == {'b', 'frame_a', 'frame_b', 'gap'}
    a, b = m.naive().ends(closure)
    for part, frame in (('frame_a', a), ('frame_b', b)):
        turn = Rotation.from_quat(parts[part].quat_xyzw).as_matrix()
        np.testing.assert_allclose(turn, frame[:3, :3], atol=1e-12)
    assert parts['gap'].text == '28.6 deg'


def test_rod_closure_shows_its_length_or_difference():
    """A distance that is kept is a green line of that length, else the text has the difference."""
    m, closure = two_points('distance', (0.3, 0, 0))
    closure.distance = 0.3
    parts = drawn(m.roots, 'closure')
    assert set(parts) == {'a', 'b', 'line'}
    assert parts['line'].length == pytest.approx(0.3)
    assert {shape.rgba for shape in parts.values()} == {GREEN}
    closure.distance = 0.28
    parts = drawn(m.roots, 'closure')
    assert parts['gap'].text == '20 mm'
    assert {shape.rgba for shape in parts.values()} == {OPEN}


@pytest.mark.parametrize('gap', [2e-9, 5e-7, 1.5e-6, 1e-4])
def test_gap_beyond_tolerance_is_red(gap):
    """A loop is red from the tolerance on; the thick line is there even where nobody sees it."""
    m, closure = two_points('point', (gap, 0, 0))
    parts = drawn(m.roots, 'closure')
    assert parts['b'].rgba == (OPEN if gap > 1e-6 else GREEN)
    assert ('line' in parts) == ('gap' in parts) == (gap > 1e-6)
    closure.tolerance = 2.0 * gap
    assert drawn(m.roots, 'closure')['b'].rgba == GREEN


def test_thresholds_of_solver_decide_what_is_closed():
    """Its thresholds are asked at every call."""
    m, _ = two_points('point', (1e-4, 0, 0))
    solver = Solver(m.roots)
    helper = IKRootsHelper(solver, layers='closures')
    assert helper.shapes()[0].rgba == OPEN
    solver.options = SolverOptions(translation_converge_threshold=1e-3)
    assert helper.shapes()[0].rgba == GREEN


def test_disabled_closure_is_grey():
    """It complains of nothing but says how far it is open; it joins in again when enabled."""
    m, closure = two_points('weld', (0.1, 0, 0))
    closure.enabled = False
    parts = drawn(m.roots, 'closure')
    assert set(parts) == {'a', 'b', 'line', 'gap'}
    assert parts['gap'].text == '100 mm'
    assert {shape.rgba for shape in parts.values()} == {UNUSED}
    helper = IKRootsHelper(m.roots)
    assert parts['line'].width == LINE * helper.joint_scale
    closure.enabled = True
    assert drawn(m.roots, 'closure')['b'].rgba == OPEN
    closure.weight = 0.0
    assert drawn(m.roots, 'closure')['b'].rgba == UNUSED


def test_released_closure_that_is_closed_has_no_gap():
    """As long as its frames coincide there is no gap to speak of."""
    m, closure = two_points('weld')
    closure.enabled = False
    assert set(drawn(m.roots, 'closure')) == {'b'}


def test_colour_of_closed_loops_can_be_chosen():
    """The colour of closed loops can be chosen; open ones stay red."""
    m, _ = two_points('point')
    helper = IKRootsHelper(m.roots, layers='closures')
    helper.set_color('#0000ff', 'closures')
    assert helper.shapes()[0].rgba == (0.0, 0.0, 1.0, 1.0)
    m, _ = two_points('point', (1, 0, 0))
    helper = IKRootsHelper(m.roots, layers='closures')
    helper.set_color('#0000ff', 'closures')
    assert {shape.rgba for shape in helper.shapes()} == {OPEN}
