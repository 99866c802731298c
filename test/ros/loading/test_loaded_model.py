"""What is known of a loaded robot: limits of its loops, mobility, visuals, and URLs of files."""

from ik_node.errors import TopologyError
from ik_node.robot import load_robot
from ik_node.ros.control.tracker import Tracker
from ik_node.ros.loading import link_visuals, load_model, loop_limits, ModelRequest, path_of_url
from ik_node.ros.parameters.settings import Settings
import pytest


def off_plane(urdf, height):
    """Return the five-bar with its loop out of the plane by `height` [m]."""
    robot = load_robot(urdf('fivebar'))
    (pin,) = robot.closures.values()
    position, quat = pin.offset_position.copy(), pin.offset_quaternion
    position[2] += height
    pin.set_offset(position, quat)
    robot.assemble()
    return robot


def test_limit_of_a_loop_is_its_tolerance_and_the_rounding_of_its_file(urdf):
    """A note reports a loop that is open by rounding; one open by centimetres is refused."""
    assert loop_limits(off_plane(urdf, 0.0)) == {'pin': 1e-6}
    robot = off_plane(urdf, 2e-5)
    assert loop_limits(robot)['pin'] == pytest.approx(8.1e-5, rel=1e-3)
    assert any("'pin' stays 2e-05 open" in note for note in robot.notes)
    robot = off_plane(urdf, 2e-5)
    robot.closures['pin'].tolerance = 1e-4
    assert loop_limits(robot) == {'pin': 1e-4}
    assert not robot.notes
    with pytest.raises(TopologyError, match=r"'pin' stays 0\.02 open"):
        loop_limits(off_plane(urdf, 2e-2))


def test_a_robot_with_rounded_loops_ticks(shared):
    text = (shared / 'models/agibot_g1_omnipicker/G1_omnipicker.urdf').read_text()
    settings = Settings.from_values({'goal_names': ('',)})
    model = load_model(ModelRequest.of(text, settings))
    report = Tracker(model).tick({}, None)
    assert not report.held
    assert max(e.position for e in report.solution.closure_errors.values()) < 3e-5
    assert report.converged


def test_robot_with_loop_and_sum_of_joints_is_loaded(urdf):
    tool = urdf('fivebar').replace(
        '</robot>',
        '<link name="dial"/><joint name="dial" type="continuous"><parent link="base_link"/>'
        '<child link="dial"/></joint><joint_coupling joint="dial"><term of="left_shoulder" '
        'coefficients="0 1"/><term of="right_shoulder" coefficients="0 1"/></joint_coupling>'
        '</robot>',
    )
    assert loop_limits(load_robot(tool)) == {'pin': 1e-6, 'coupling of dial': 1e-6}


MODEL = """<mujoco><asset><mesh name="m" file="m.stl"/><mesh name="n" file="gone.stl"/></asset>
  <worldbody><body name="a"><geom type="mesh" mesh="m"/><geom type="mesh" mesh="n"/>
    <geom size="0.1"/></body></worldbody></mujoco>"""
URDF = """<robot name="r"><link name="a"><visual><geometry>
  <mesh filename="package://elsewhere/a.stl"/></geometry></visual></link></robot>"""


def test_meshes_become_urls(tmp_path):
    """A mesh beside the description is a file URL; a missing one is left out."""
    (tmp_path / 'm.stl').write_text('solid')
    (tmp_path / 'robot.xml').write_text(MODEL)
    found = link_visuals(load_robot(tmp_path / 'robot.xml'))
    assert [each.kind for each in found] == ['mesh', 'sphere']
    assert found[0].file == (tmp_path / 'm.stl').as_uri()


def test_package_urls_of_meshes_are_unchanged():
    """The viewer may run on a machine that has the package."""
    assert [each.file for each in link_visuals(load_robot(URDF))] == ['package://elsewhere/a.stl']


def test_known_package_gives_its_share_folder(tmp_path, monkeypatch):
    pytest.importorskip('ament_index_python')
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'my_robot').touch()
    (tmp_path / 'share' / 'my_robot').mkdir()
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    expected = f'{tmp_path}/share/my_robot/a.yaml'
    assert path_of_url('closures', 'package://my_robot/a.yaml') == expected
