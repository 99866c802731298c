"""Masses of an MJCF's bodies, given or of their geoms."""

from math import pi

from ik_node.description.mjcf.reader import read_mjcf
from ik_node.description.xml_document import parse_xml
import numpy as np
import pytest

GEOMS = {
    'size="0.1"': 1000 * 4 / 3 * pi * 0.1**3,
    'type="box" size="0.1 0.2 0.3" density="500"': 500 * 8 * 0.006,
    'type="cylinder" size="0.1 0.5"': 1000 * pi * 0.01,
    'type="capsule" size="0.1 0.5"': 1000 * (pi * 0.01 + 4 / 3 * pi * 0.001),
    'type="ellipsoid" size="0.1 0.2 0.3"': 1000 * 4 / 3 * pi * 0.006,
    'type="capsule" size="0.1" fromto="0 0 -0.5 0 0 0.5"': 1000 * pi * (0.01 + 0.004 / 3),
    'type="box" size="0.1" fromto="0 0 -0.5 0 0 0.5"': 1000 * 8 * 0.1 * 0.1 * 0.5,
    'mass="3"': 3.0,
    'type="mesh" mesh="x" mass="0"': 0.0,
    'type="mesh" mesh="x" density="0"': 0.0,
    'type="mesh" mesh="x" group="6"': 0.0,
    'type="plane" size="1 1 1"': 0.0,
}


def read(body, compiler='', rest=''):
    """Return the description of a body's content, read without MuJoCo."""
    text = (
        f'<mujoco model="m"><compiler {compiler}/>{rest}<worldbody><body name="a">{body}</body>'
        '</worldbody></mujoco>'
    )
    return read_mjcf(parse_xml(text, '<text>'))


def test_masses_and_centres_equal_those_of_mujoco():
    """Masses and centres are those of MuJoCo."""
    mujoco = pytest.importorskip('mujoco')
    for geom in GEOMS:
        if 'size' not in geom or 'plane' in geom:
            continue
        body = f'<geom {geom}/><geom size="0.2" pos="1 2 3"/>'
        text = f'<mujoco><worldbody><body name="a">{body}</body></worldbody></mujoco>'
        found = mujoco.MjModel.from_xml_string(text).body('a')
        link = read(body).links['a']
        np.testing.assert_allclose(link.mass, found.mass[0], rtol=1e-12)
        np.testing.assert_allclose(link.centre_of_mass, found.ipos, rtol=1e-12)
