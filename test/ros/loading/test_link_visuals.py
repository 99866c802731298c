"""What links look like, for viewers that fetch meshes themselves."""

import pytest

pytest.importorskip('rclpy')

from ik_node.robot import load_robot
from ik_node.ros.loading.loaded_model import link_visuals

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


def test_package_urls_are_unchanged():
    """The viewer may run on a machine that has the package."""
    assert [each.file for each in link_visuals(load_robot(URDF))] == ['package://elsewhere/a.stl']
