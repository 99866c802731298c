"""URDF+: loops, couplings of links, motors; and how its exporters spell it."""

import ik_node as ik
import numpy as np
import pytest


def coupling(ratio='6', tag='coupling', attributes='name="c"', extra=''):
    """Return a coupling of the links b and c."""
    return (
        f'<{tag} {attributes}><predecessor link="b"/><successor link="c"/>'
        f'<ratio value="{ratio}"/>{extra}</{tag}>'
    )


def test_coupling_of_more_joints_becomes_a_sum():
    """The value of the dependent joint is ratio times the sum down to the predecessor."""
    joints = ''.join(
        f'<joint name="{name}" type="revolute"{flag}><parent link="{parent}"/>'
        f'<child link="{name}"/><axis xyz="0 1 0"/><limit lower="-9" upper="9"/></joint>'
        for name, parent, flag in (
            ('hip', 'base', ''),
            ('knee', 'hip', ''),
            ('ankle', 'knee', ''),
            ('rotor', 'hip', ' independent="false"'),
        )
    )
    links = ''.join(f'<link name="{n}"/>' for n in ('base', 'hip', 'knee', 'ankle', 'rotor'))
    element = coupling('3').replace('"b"', '"ankle"').replace('"c"', '"rotor"', 2)
    element = element.replace('name="rotor"', 'name="c"')
    loaded = ik.load_robot(f'<robot name="r">{links}{joints}{element}</robot>')
    assert loaded.mobility == 3
    assert loaded.actuated == ['hip', 'knee', 'ankle']
    q = np.zeros(len(loaded.joint_names))
    q[:3] = 0.3, 0.4, -0.1
    loaded.q = q
    loaded.assemble()
    values = dict(zip(loaded.joint_names, loaded.q, strict=True))
    assert values['rotor'] == pytest.approx(3 * (values['knee'] + values['ankle']), abs=1e-14)
    assert values['rotor'] != 0.0
    assert loaded.joint_names == ['hip', 'knee', 'ankle', 'rotor']
