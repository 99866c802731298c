"""Bodies, pairs and answers without contact, as users meet them."""

import copy
import pickle

import ik_node as ik
from ik_node.errors import DescriptionError, OptionError, TopologyError, UnknownFrameError
import numpy as np
import pytest
from support.robot_texts import arm_text

CONTACT = 1e-6


@pytest.fixture
def arm():
    """Return an arm with six joints."""
    robot = ik.load_robot(arm_text(joints=6))
    robot.q = np.full(6, 0.3)
    return robot


def tip_pose(robot, q):
    """Return the pose of the last link."""
    pose = robot.forward(q, 'l6')
    return {'l6': pose}


# -- bodies and pairs


def test_pairs_leave_out_joined_links_and_say_why():
    robot = ik.load_robot(arm_text(joints=3))
    assert robot.collisions.pairs == [('l0', 'l2'), ('l0', 'l3'), ('l1', 'l3')]
    assert robot.collisions.removed['l0', 'l1'] == 'joined by a joint'
    assert not robot.collisions.in_use


def test_ignored_and_enabled_pairs_override_other_rules():
    robot = ik.load_robot(arm_text(joints=2))
    robot.collisions.ignore('l0', 'l2')
    assert robot.collisions.pairs == []
    assert 'user' in robot.collisions.removed['l0', 'l2']
    assert not robot.collisions.in_use
    robot.collisions.enable('l1', 'l0')
    assert robot.collisions.pairs == [('l0', 'l1')]
    assert robot.collisions.in_use
    with pytest.raises(UnknownFrameError, match='l9'):
        robot.collisions.ignore('l0', 'l9')


def test_pair_that_always_touches_is_left_out_and_one_that_touches_at_home_is_not():
    robot = ik.load_robot(arm_text(joints=2))
    robot.collisions.add_body('l2', ik.Sphere(0.6))
    assert robot.collisions.pairs == []
    assert 'every one' in robot.collisions.removed['l0', 'l2']
    folded = ik.load_robot(arm_text(joints=2))
    folded.q = [2.8, 0.0]
    folded.collisions.add_body('l2', ik.Sphere(0.05), (0.0, 0.0, 0.3))
    assert folded.collisions.pairs == [('l0', 'l2')]
    folded.q = [0.0, 0.0]
    assert folded.collisions.contacts() == []


def test_srdf_excludes_pairs_and_makes_solvers_avoid_the_others():
    srdf = '<robot name="arm"><disable_collisions link1="l0" link2="l2" reason="Never"/></robot>'
    robot = ik.load_robot(arm_text(joints=3), srdf=srdf)
    assert robot.collisions.pairs == [('l0', 'l3'), ('l1', 'l3')]
    assert robot.collisions.removed['l0', 'l2'] == 'SRDF: Never'
    assert robot.collisions.in_use
    with pytest.raises(DescriptionError):
        ik.load_robot(arm_text(joints=4), srdf='<sdf/>')


def test_srdf_disables_links_by_default_and_enables_some_of_their_pairs():
    srdf = """<robot name="arm"><disable_default_collisions link="l3"/>
    <enable_collisions link1="l3" link2="l0"/>
    <disable_collisions link1="l0" link2="l2"/></robot>"""
    robot = ik.load_robot(arm_text(joints=3), srdf=srdf)
    robot.collisions.add_obstacle(ik.Sphere(0.1), (3.0, 0.0, 0.0), name='ball')
    assert ('l0', 'l3') in robot.collisions.pairs
    assert ('l2', 'ball') in robot.collisions.pairs
    assert robot.collisions.removed['l1', 'l3'] == 'SRDF: disabled by default'
    assert robot.collisions.removed['l3', 'ball'] == 'SRDF: disabled by default'
    robot.collisions.enable('l3', 'ball')
    assert ('l3', 'ball') in robot.collisions.pairs


def test_srdf_beside_a_urdf_excludes_pairs_only(tmp_path):
    (tmp_path / 'arm.urdf').write_text(arm_text(joints=2))
    (tmp_path / 'arm.srdf').write_text(
        '<robot name="arm"><disable_collisions link1="l2" link2="l0"/></robot>'
    )
    robot = ik.load_robot(tmp_path / 'arm.urdf', prefix='left_')
    assert robot.collisions.pairs == []
    assert 'left_l2' in {name for pair in robot.collisions.removed for name in pair}
    assert not robot.collisions.in_use


MJCF = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body name="a" pos="0 0 1"><geom size="0.1"/>
 <body name="b" pos="0.5 0 0"><joint axis="0 1 0"/><geom type="capsule" size="0.05 0.1"/>
  <body name="c" pos="0.5 0 0"><joint axis="0 1 0"/>
   <geom type="box" size="0.05 0.05 0.05" {bits}/>
   <body name="d" pos="0.5 0 0"><joint axis="0 0 1"/><geom type="ellipsoid" size="0.05 0.1 0.05"/>
</body></body></body></body></worldbody>{contact}</mujoco>"""


def test_mjcf_exclude_and_bits_remove_pairs():
    robot = ik.load_robot(MJCF.format(bits='', contact=''))
    pairs = {frozenset(pair) for pair in robot.collisions.pairs}
    assert {'a', 'c'} in pairs
    assert {'b', 'd'} in pairs
    assert {'world', 'c'} in pairs
    contact = '<contact><exclude body1="b" body2="d"/></contact>'
    robot = ik.load_robot(MJCF.format(bits='contype="2" conaffinity="2"', contact=contact))
    pairs = {frozenset(pair) for pair in robot.collisions.pairs}
    assert not any('c' in pair for pair in pairs)
    assert {'b', 'd'} not in pairs
    assert 'exclude' in robot.collisions.removed['b', 'd']


SDF = """<sdf version="1.9"><model name="m">{said}{links}{joints}</model></sdf>"""
MASK = '<category_bitmask>{}</category_bitmask><collide_bitmask>{}</collide_bitmask>'


def sdf_text(said='', masks=None):
    """Return an SDFormat file of three links in a row."""
    links = ''.join(
        f'<link name="l{k}"><pose>{k} 0 0 0 0 0</pose><collision name="c"><geometry><sphere>'
        '<radius>0.1</radius></sphere></geometry><surface><contact>'
        f'{(masks or {}).get(k, "")}</contact></surface></collision></link>'
        for k in range(3)
    )
    joints = ''.join(
        f'<joint name="j{k}" type="revolute"><parent>l{k}</parent><child>l{k + 1}</child>'
        '<axis><xyz>0 0 1</xyz></axis></joint>'
        for k in range(2)
    )
    return SDF.format(said=said, links=links, joints=joints)


def test_sdf_self_collide_removes_pairs():
    assert ik.load_robot(sdf_text()).collisions.pairs == [('l0', 'l2')]
    off = ik.load_robot(sdf_text('<self_collide>false</self_collide>'))
    assert off.collisions.pairs == []
    assert 'self_collide' in off.collisions.removed['l0', 'l2']


@pytest.mark.parametrize(
    ('masks', 'counts'),
    [
        ({2: '<collide_bitmask>0x02</collide_bitmask>'}, True),  # the other has all bits
        ({2: '<collide_bitmask>0</collide_bitmask>'}, False),
        ({0: MASK.format(1, 1), 2: MASK.format('002', '002')}, False),
        ({0: MASK.format(4, 2), 2: MASK.format(8, 8)}, False),
        ({0: MASK.format(4, 2), 2: MASK.format(1, 4)}, True),
    ],
)
def test_bitmasks_of_sdf_remove_pairs_without_a_common_bit(masks, counts):
    robot = ik.load_robot(sdf_text(masks=masks))
    assert robot.collisions.pairs == ([('l0', 'l2')] if counts else [])
    assert counts or 'collide_bitmask' in robot.collisions.removed['l0', 'l2']


def test_collision_geometry_that_cannot_be_used_is_noted(tmp_path):
    text = arm_text(joints=2).replace(
        '<cylinder radius="0.03" length="0.22"/>', '<mesh filename="gone.stl"/>', 1
    )
    (tmp_path / 'arm.urdf').write_text(text)
    robot = ik.load_robot(tmp_path / 'arm.urdf')
    assert robot.collisions.pairs == []
    assert any('l0' in note and 'gone.stl' in note for note in robot.collisions.notes)


def test_obstacle_name_must_be_free_and_its_shape_a_shape(arm):
    arm.collisions.add_obstacle(ik.Sphere(0.1), name='ball')
    with pytest.raises(OptionError):
        arm.collisions.add_obstacle(ik.Sphere(0.1), name='ball')
    with pytest.raises(OptionError):
        arm.collisions.add_obstacle(ik.Sphere(0.1), name='l1')
    with pytest.raises(OptionError):
        arm.collisions.add_obstacle('ball')
    with pytest.raises(OptionError):
        arm.collisions.add_obstacle(ik.Sphere(0.1), name=['ball'])
    with pytest.raises(OptionError):
        arm.collisions.add_body('l1', ik.HalfSpace())
    with pytest.raises(OptionError):
        ik.load_robot(arm_text(joints=4), srdf=3)
    arm.collisions.remove('ball')
    with pytest.raises(UnknownFrameError):
        arm.collisions.remove('ball')
    assert not arm.collisions.in_use


def test_distances_follow_the_poses_of_obstacles_nearest_first(arm):
    q = np.zeros(6)
    ball = arm.collisions.add_obstacle(ik.Sphere(0.1), (0.5, 0.0, 1.0), name='ball')
    arm.collisions.add_obstacle(ik.HalfSpace(), (0.0, 0.0, -0.5), name='floor')
    assert not arm.collisions.distances(q, reach=0.3)
    ball.set_pose((0.14, 0.0, 1.95))
    (first, *_) = arm.collisions.distances(q)
    assert first.pair == ('l6', 'ball')
    assert first.d == pytest.approx(0.01)
    assert first.points[0] == pytest.approx((0.03, 0.0, 1.95))
    assert first.points[1] == pytest.approx((0.04, 0.0, 1.95))


# -- answers


def random_problem(robot, rng):
    """Return the pose of a random configuration without contact, and another such as a start."""
    found = []
    while len(found) < 2:
        q = rng.uniform(-2.5, 2.5, 6)
        if not robot.collisions.contacts(q):
            found.append(q)
    return tip_pose(robot, found[0]), found[1]


def add_scene(robot):
    """Add a table, a pole and a floor."""
    robot.collisions.add_obstacle(ik.Box((0.5, 0.5, 0.3)), (0.7, 0.0, 0.4), name='table')
    robot.collisions.add_obstacle(ik.Capsule(0.05, 2.0), (-0.5, 0.3, 0.8), name='pole')
    robot.collisions.add_obstacle(ik.HalfSpace(), (0.0, 0.0, -0.1), name='floor')


def test_converged_answers_are_never_in_contact(arm):
    add_scene(arm)
    solver, plain = ik.Solver(arm), ik.Solver(arm, ik.SolverOptions(avoid_collisions=False))
    rng, met, avoided = np.random.default_rng(0), 0, 0
    for _ in range(25):
        goals, start = random_problem(arm, rng)
        found, without = solver.solve_pose(goals, start), plain.solve_pose(goals, start)
        contacts = arm.collisions.contacts(found.q)
        assert not (found.converged and contacts)
        met += found.converged
        avoided += bool(arm.collisions.contacts(without.q))
        if not arm.collisions.contacts(without.q):
            assert (found.q == without.q).all()
    assert met >= 23
    assert avoided >= 3


def test_far_obstacles_change_no_bit_of_an_answer(arm):
    goals = tip_pose(arm, np.full(6, -0.4))
    plain = ik.Solver(arm).solve_pose(goals)
    arm.collisions.add_obstacle(ik.Sphere(0.1), (9.0, 0.0, 0.0))
    arm.collisions.ignore('l0', 'l2')
    found = ik.Solver(arm).solve_pose(goals)
    assert (found.q == plain.q).all()
    assert found.iterations == plain.iterations


def test_start_in_contact_is_led_out_with_the_goal_met(arm):
    q = np.full(6, 0.3)
    spot = arm.forward(q, 'l3')[:3, 3]
    arm.collisions.add_obstacle(ik.Sphere(0.08), spot, name='ball')
    goal = arm.add_goal('l6', dof='X Y Z')
    goal.set_position(*arm.forward(q, 'l6')[:3, 3])
    (found,) = ik.Solver(arm).solve()
    assert found.converged
    assert not arm.collisions.contacts()
    assert found.nearest.d >= -CONTACT


def test_start_that_cannot_be_led_out_names_the_pair_and_no_closure(arm):
    arm.collisions.add_obstacle(ik.Box((9.0, 9.0, 9.0)), name='rock')
    found = ik.Solver(arm).solve_pose({})
    assert not found.converged
    assert found.closure_errors == {}
    assert "'rock'" in found.message
    assert 'closure' not in found.message
    batch = ik.Solver(arm).solve_batch({}, arm.q)
    assert batch.closure_errors == {}
    assert "'rock'" in batch[0].message


def test_answer_that_cannot_be_free_names_the_pair_and_stays_at_the_margin(arm):
    q = np.full(6, 0.3)
    goals = tip_pose(arm, q)
    arm.collisions.add_obstacle(ik.Sphere(0.1), goals['l6'][:3, 3], name='ball')
    start = np.full(6, -0.2)
    solver = ik.Solver(arm, ik.SolverOptions(collision_margin=0.01, restarts=5))
    found = solver.solve_pose(goals, start)
    assert not found.converged
    assert 'ball' in found.nearest.pair
    assert found.nearest.d == pytest.approx(0.01, abs=1e-5)
    assert "'ball'" in found.message
    assert "'ball'" in found.chains[0].message
    assert not arm.collisions.contacts(found.q, 0.01)


def test_moved_obstacle_counts_from_the_next_solve_on(arm):
    goals, start = tip_pose(arm, np.full(6, 0.3)), np.full(6, 0.2)
    ball = arm.collisions.add_obstacle(ik.Sphere(0.1), (5.0, 0.0, 0.0), name='ball')
    solver = ik.Solver(arm)
    prepared = solver.prepare(['l6'])
    position, quat = ik.Solver(arm).solve_pose(goals, start), (0, 0, 0, 1)
    assert position.converged
    spot = goals['l6'][:3, 3]
    ball.set_pose(spot)
    assert not solver.solve_pose(goals, start).converged
    assert not prepared(spot, quat, start).converged
    ball.set_pose((5.0, 0.0, 0.0))
    assert solver.solve_pose(goals, start).converged


def test_prepared_and_batch_answers_equal_single_ones(arm):
    add_scene(arm)
    solver, rng = ik.Solver(arm), np.random.default_rng(1)
    problems = [random_problem(arm, rng) for _ in range(8)]
    single = [solver.solve_pose(goals, start) for goals, start in problems]
    prepared = solver.prepare(['l6'])
    poses = np.array([goals['l6'] for goals, _ in problems])
    starts = np.array([start for _, start in problems])
    batch = solver.solve_batch({'l6': poses}, starts, threads=2)
    assert (batch.q == [each.q for each in single]).all()
    for one, near in zip(single, batch.nearest, strict=True):
        assert (one.nearest is None) == (near is None)
        assert near is None or (near.pair, near.d) == (one.nearest.pair, one.nearest.d)
    assert list(batch.converged) == [each.converged for each in single]
    for pose, start, one in zip(poses, starts, single, strict=True):
        assert (prepared(pose, q0=start).q == one.q).all()


def test_loops_stay_closed_while_a_body_is_avoided():
    robot = ik.load_robot('hexapod')
    for at in range(6):
        robot.collisions.add_body(f'leg{at}_rod_link', ik.Capsule(0.003, 0.02))
    ball = robot.collisions.add_obstacle(ik.Sphere(0.02), (0.0, 0.0, 0.5), name='ball')
    robot.collisions.add_body('platform_link', ik.Cylinder(0.03, 0.002))
    here = robot.forward(robot.q, 'platform_link')[:3, 3]
    goals = {'platform_link': (here + np.array((0.0, 0.0, 0.004)), (0, 0, 0, 1))}
    solver = ik.Solver(robot)
    assert solver.solve_pose(goals).converged
    ball.set_pose(here + np.array((0.0, 0.0, 0.0235)))
    found = solver.solve_pose(goals)
    assert not found.converged
    assert found.nearest.d >= -CONTACT
    assert max(error.position for error in found.closure_errors.values()) < 1e-6


def test_robot_with_collisions_can_be_copied_and_pickled(arm):
    add_scene(arm)
    goals = tip_pose(arm, np.full(6, 0.3))
    found = ik.Solver(arm).solve_pose(goals)
    for other in (copy.deepcopy(arm), pickle.loads(pickle.dumps(arm))):
        assert other.collisions.pairs == arm.collisions.pairs
        assert (ik.Solver(other).solve_pose(goals).q == found.q).all()
    again = pickle.loads(pickle.dumps(found))
    assert again.nearest == found.nearest or again.nearest.pair == found.nearest.pair


def test_steps_and_other_methods_do_not_call_an_answer_in_contact_converged(arm):
    q = np.full(6, 0.3)
    arm.collisions.add_obstacle(ik.Sphere(0.1), arm.forward(q, 'l6')[:3, 3], name='ball')
    found = ik.Solver(arm, ik.SolverOptions(method='sdls')).solve_pose(tip_pose(arm, q), q)
    assert not found.converged
    assert 'ball' in found.nearest.pair
    arm.add_goal('l6')
    (result,) = ik.Solver(arm).step()
    assert not result.converged


def test_search_for_a_goal_inside_a_body_ends_early_and_says_why(arm):
    goals = tip_pose(arm, np.full(6, 0.3))
    arm.collisions.add_obstacle(ik.Box((0.3, 0.3, 0.3)), goals['l6'][:3, 3], name='box')
    solver = ik.Solver(arm)
    found = solver.solve_pose(goals, np.full(6, -0.2))
    assert not found.converged
    assert found.starts < 240
    assert found.searched == found.starts / (1 + solver.options.restarts)
    assert 'bodies are in the way' in found.message
    assert "'box'" in found.message
    found = ik.Solver(arm, ik.SolverOptions(restarts=120)).solve_pose(goals, np.full(6, -0.2))
    assert found.starts == 121


def test_bodies_of_coupled_joints_count_where_the_coupling_takes_them():
    """A finger that follows the driven one is no part of the chain of the goal."""
    finger = (
        '<link name="f{0}"><collision><origin xyz="0 {1} 0"/><geometry><sphere radius="0.02"/>'
        '</geometry></collision></link><joint name="g{0}" type="prismatic"><parent link="l3"/>'
        '<child link="f{0}"/><axis xyz="0 1 0"/>{2}<limit lower="-1" upper="1" effort="1" '
        'velocity="1"/></joint>'
    )
    text = arm_text(joints=3).replace(
        '</robot>',
        finger.format(0, 0.1, '') + finger.format(1, -0.1, '<mimic joint="g0" multiplier="-1"/>'),
    )
    robot = ik.load_robot(text + '</robot>')
    solver, q = ik.Solver(robot), robot.q
    goals = {'f0': robot.forward({'g0': 0.3} | dict.fromkeys(('j0', 'j1', 'j2'), 0.4), 'f0')}
    alone = solver.solve_pose(goals, q)
    spot = robot.forward(alone.q, 'f1') @ [0.0, -0.1, 0.0, 1.0]
    robot.collisions.add_obstacle(ik.Sphere(0.01), spot[:3], name='ball')
    found = solver.solve_pose(goals, q)
    assert not (found.converged and robot.collisions.contacts(found.q))
    batch = solver.solve_batch({key: [pose] for key, pose in goals.items()}, q)
    assert (batch.q[0] == found.q).all()


def test_batch_without_goals_leads_starts_out_of_contact(arm):
    q = np.full(6, 0.3)
    arm.collisions.add_obstacle(ik.Sphere(0.08), arm.forward(q, 'l3')[:3, 3], name='ball')
    batch = ik.Solver(arm).solve_batch({}, [q, -q])
    assert not any(arm.collisions.contacts(each) for each in batch.q[batch.converged])
    assert (batch.q[1] == -q).all()


def test_combined_robot_keeps_bodies_pairs_and_obstacles():
    left, right = (ik.load_robot(arm_text(joints=3), prefix=side) for side in ('l_', 'r_'))
    left.collisions.add_body('l_l3', ik.Sphere(0.1))
    left.collisions.ignore('l_l0', 'l_l2')
    right.collisions.add_obstacle(ik.Sphere(0.1), (0.5, 0.0, 0.0), name='ball')
    pair = ik.combine(left, right, poses=[None, ((0.0, 2.0, 0.0), (0, 0, 0, 1))])
    assert pair.collisions.obstacle('ball').matrix[:3, 3] == pytest.approx((0.5, 2.0, 0.0))
    assert pair.collisions.removed['l_l0', 'l_l2'] == 'ignored by the user'
    assert sum(body.name == 'l_l3' for body in pair.collisions.bodies) == 2
    assert ('l_l3', 'r_l3') in pair.collisions.pairs
    left.collisions.add_obstacle(ik.Sphere(0.1), name='ball')
    with pytest.raises(TopologyError, match='ball'):
        ik.combine(left, right)


# -- motions


def walled_arm():
    """Return an arm in front of a wall 5 mm thick, and its start."""
    robot = ik.load_robot(arm_text(joints=6))
    robot.collisions.add_obstacle(ik.Box((3.0, 0.005, 4.0)), (0.9, 0.3, 1.0), name='wall')
    robot.q = [0.6, 0.0, 0.6, 0.0, 0.6, 0.0]
    return robot, robot.q


def test_goal_dragged_through_a_wall_stops_at_it_within_the_largest_step():
    robot, q = walled_arm()
    solver, pose = ik.Solver(robot), robot.forward(q, 'l6')
    for _ in range(150):
        pose[1, 3] += 0.004
        found = solver.solve_pose({'l6': pose}, q, max_step=np.full(6, 0.02))
        assert np.abs(found.q - q).max() <= 0.02 + 1e-12
        q = found.q
        assert not robot.collisions.contacts(q)
        assert robot.forward(q, 'l6')[1, 3] < 0.3
    assert not found.converged
    assert 'wall' in found.nearest.pair
    pose[1, 3] += 9.0
    assert "'l6'" in solver.solve_pose({'l6': pose}, q).chains[0].proof


def test_step_does_not_pass_through_a_thin_wall():
    robot, q = walled_arm()
    beyond = robot.forward([0.6, -0.9, 0.6, 0.0, 0.6, 0.0], 'l6')
    assert beyond[1, 3] > 0.5
    found = ik.Solver(robot).solve_pose({'l6': beyond}, q, max_step=np.full(6, 2.0))
    assert robot.forward(found.q, 'l6')[1, 3] < 0.3


def test_drive_stops_before_a_wall_and_names_it():
    robot, q = walled_arm()
    found = ik.Solver(robot).drive({'j1': -1.2}, q)
    assert not found.converged
    assert "'wall'" in found.message
    assert not robot.collisions.contacts(found.q)
    assert robot.forward(found.q, 'l6')[1, 3] < 0.3


def test_links_of_a_loop_make_way_for_a_driven_joint():
    parts, parent = '', 'base'
    for k in range(5):
        parts += (
            f'<link name="l{k}"><collision><origin xyz="0.15 0 0" rpy="0 1.5708 0"/><geometry>'
            f'<cylinder radius="0.02" length="0.2"/></geometry></collision></link>'
            f'<joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="l{k}"/>'
            f'<origin xyz="{0.3 if k else 0} 0 0"/><axis xyz="0 0 1"/>'
            f'<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
        )
        parent = f'l{k}'
    robot = ik.load_robot(f'<robot name="chain"><link name="base"/>{parts}</robot>')
    ends = np.eye(4), np.eye(4)
    ends[0][0, 3], ends[1][0, 3] = -0.6, 0.6
    robot.add_closure('l4', 'base', dof='X Y', frame_a=ends[0], frame_b=ends[1])
    start = ik.Solver(robot).solve_pose({}, [1.9, -0.9, -0.9, -0.9, -0.9]).q
    alone = ik.Solver(robot).drive({'j0': start[0] - 0.8}, start)
    middle = robot.forward(alone.q, 'l2') @ (0.15, 0.0, 0.0, 1.0)
    robot.collisions.add_obstacle(ik.Sphere(0.05), middle[:3], 'ball')
    found = ik.Solver(robot).drive({'j0': start[0] - 0.8}, start)
    assert robot.collisions.contacts(alone.q)
    assert found.converged
    assert not robot.collisions.contacts(found.q)
    # From a start in contact it goes on once it is led out, and says so where it cannot arrive.
    robot.collisions.remove('ball')
    middle = robot.forward(start, 'l2') @ (0.15, 0.0, 0.0, 1.0)
    robot.collisions.add_obstacle(ik.Sphere(0.05), middle[:3], 'ball')
    assert robot.collisions.contacts(start)
    solver, arrivals = ik.Solver(robot), []
    for change in (-0.8, -0.1, 0.1, 0.8):
        found = solver.drive({'j0': start[0] + change}, start)
        assert not robot.collisions.contacts(found.q)
        arrivals.append(found['j0'] == pytest.approx(start[0] + change, abs=1e-6))
        assert found.converged == arrivals[-1]
    assert True in arrivals
    assert False in arrivals


def test_drive_with_loops_goes_on_beside_a_far_obstacle():
    """It arrives where it arrives without one, and stops at a limit for the same reason."""
    robot = ik.load_robot('hexapod')
    robot.collisions.add_body('platform_link', ik.Sphere(0.02))
    robot.collisions.add_obstacle(ik.Box((0.1, 0.1, 0.1)), (3.0, 0.0, 0.0), 'far')
    solver = ik.Solver(robot)
    assert solver.drive({'leg0': 0.02}).converged
    stopped = solver.drive({'leg0': 0.2})
    assert stopped.status is ik.Status.STALLED
    assert stopped['leg0'] == pytest.approx(0.03, abs=1e-9)


def test_far_obstacle_changes_no_bit_of_a_drive():
    robot = ik.load_robot('hexapod')
    alone = ik.Solver(robot).drive({'leg0': 0.02, 'leg3': -0.01})
    robot.collisions.add_body('platform_link', ik.Sphere(0.02))
    robot.collisions.add_obstacle(ik.Box((0.1, 0.1, 0.1)), (3.0, 0.0, 0.0))
    found = ik.Solver(robot).drive({'leg0': 0.02, 'leg3': -0.01})
    assert (found.q == alone.q).all()
    assert found.iterations == alone.iterations


def test_path_through_a_wall_stops_at_it():
    robot, q = walled_arm()
    poses = np.tile(robot.forward(q, 'l6'), (60, 1, 1))
    poses[:, 1, 3] += np.linspace(0.0, 0.6, 60)
    found = ik.Solver(robot).solve_path({'l6': poses}, q, max_step=0.05)
    heights = [robot.forward(each, 'l6')[1, 3] for each in found.q]
    assert max(heights) < 0.3
    assert not any(robot.collisions.contacts(each) for each in found.q)
    assert not found.converged[-1]
    assert found.converged[5]
    assert "'wall'" in found.why(found.failures[-1][0])
    assert 'wall' in found[-1].nearest.pair


def test_path_that_cannot_pass_a_thin_wall_in_one_step_names_it():
    """Path whose next frame is far behind a wall stays before it and names it."""
    robot, q = walled_arm()
    beyond = robot.forward([0.6, -0.9, 0.6, 0.0, 0.6, 0.0], 'l6')
    found = ik.Solver(robot).solve_path({'l6': [robot.forward(q, 'l6'), beyond]}, q, max_step=1.0)
    assert found.converged.tolist() == [True, False]
    assert "'wall'" in found.message
    assert robot.forward(found.q[1], 'l6')[1, 3] < 0.3


def test_path_along_a_wall_keeps_accelerations_or_says_where_it_cannot():
    """Frames beside a wall keep the largest acceleration, except those that are too fast."""
    robot, q = walled_arm()
    poses = np.tile(robot.forward(q, 'l6'), (80, 1, 1))
    poses[:, 1, 3] += 0.4 * np.sin(np.linspace(0.0, 2.0, 80)) ** 2
    poses[:, 2, 3] += np.linspace(0.0, 0.3, 80)
    given, most, dt = {'l6': poses[None]}, np.full(6, 4.0), 0.02
    options = {'q0': q, 'dt': dt, 'keep_times': True, 'max_acceleration': most}
    solver = ik.Solver(robot, ik.SolverOptions(compromise=True))
    (found,) = solver.solve_paths(given, **options)
    change = np.abs(np.diff(found.q, 2, axis=0) / dt**2)
    beyond = (change > most * (1.0 + 1e-6)).any(axis=1)
    assert (beyond <= found.too_fast[2:]).all()
    assert found.too_fast.sum() < 4
    assert sum('wall' in each.nearest.pair for each in found if each.nearest) > 20
    assert not any(robot.collisions.contacts(each) for each in found.q)


def test_free_share_of_a_way_ends_where_dense_samples_touch():
    robot, q = walled_arm()
    end = q + np.array([0.0, -0.9, 0.1, 0.0, 0.0, 0.0])
    share = robot.collisions.free_share(q, end, 0.0)
    samples = np.linspace(0.0, 1.0, 2001)
    touches = [bool(robot.collisions.contacts(q + s * (end - q))) for s in samples]
    assert share == pytest.approx(samples[touches.index(True)], abs=2e-3)


def test_velocity_slides_along_a_wall():
    """The part of a twist that leads into the wall is taken away, the part along it stays."""
    robot, q = walled_arm()
    robot.add_goal('l6', name='tip', dof='Y Z')
    solver, twist = ik.Solver(robot), {'tip': (0.0, 0.4, -0.2)}
    for _ in range(60):
        found = solver.velocity(twist, q, 0.01)
        before, q = robot.forward(q, 'l6'), q + 0.01 * found.velocity
        assert not robot.collisions.contacts(q)
    assert not found.converged
    moved = (robot.forward(q, 'l6') - before)[:3, 3] / 0.01
    assert moved[2] == pytest.approx(-0.2, abs=0.02)
    assert robot.collisions.distances(q)[0].d < 1e-4
