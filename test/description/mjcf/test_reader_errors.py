"""Every fault in an MJCF is refused with its line, what was found and what is allowed."""

from ik_node.description.read import read_description
from ik_node.errors import DescriptionError, UnsupportedElementError
import pytest

TEXT = """<mujoco><compiler/>
<default><default class="c"/></default>
<worldbody><body name="a"><joint name="j"/><site name="s"/></body>
<body name="b"><joint name="ball" type="ball"/></body></worldbody>
<equality/></mujoco>"""
BODY = '<body name="a">'
FAULTS = {
    ('<compiler/>', '<compiler angle="grad"/>', 1): 'angle="grad"; allowed: degree radian',
    ('<compiler/>', '<compiler eulerseq="xy"/>', 1): 'eulerseq="xy": expected three of x y z',
    ('<compiler/>', '<compiler autolimits="yes"/>', 1): 'autolimits="yes"; allowed: false true',
    ('class="c"', '', 2): 'the attribute class="..." is missing',
    ('class="c"', 'class="main"', 2): "the class 'main' is declared twice",
    ('class="c"/>', 'class="c"/><default class="c"/>', 2): "the class 'c' is declared twice",
    ('<default>', '<default class="c"/><default>', 2): "the class 'c' is declared twice",
    ('name="j"', 'class="d"', 3): "there is no class 'd'",
    (BODY, '<body childclass="d">', 3): "there is no class 'd'",
    (BODY, '<frame childclass="d"/>' + BODY, 3): "there is no class 'd'",
    (BODY, '<joint/>' + BODY, 3): 'the world is fixed',
    (BODY, '<body name="b">', 4): 'a body of that name is declared on line 3',
    (BODY, '<body name="world">', 3): 'a body of that name is declared by MuJoCo itself',
    (BODY, '<body name="a" mocap="1">', 3): 'mocap="1"; allowed: false true',
    (BODY, '<body pos="1 2">', 3): 'pos="1 2": expected 3 numbers',
    (BODY, '<body pos="nan 0 0">', 3): "'nan' is not a number",
    (BODY, '<body quat="0 0 0 0">', 3): 'quat="0 0 0 0" has no direction',
    (BODY, '<body zaxis="0 0 0">', 3): 'zaxis="0 0 0" has no direction',
    (BODY, '<body axisangle="0 0 0 1">', 3): 'axisangle="0 0 0 1" has no direction',
    (BODY, '<body xyaxes="1 0 0 2 0 0">', 3): 'xyaxes="1 0 0 2 0 0" has no direction',
    (BODY, '<body euler="1 2 3" zaxis="1 0 0">', 3): 'zaxis and euler are given; only one',
    (BODY, '<body quat="1 0 0 0" euler="1 2 3">', 3): 'euler and quat are given; only one',
    ('name="j"', 'type="screw"', 3): 'type="screw"; allowed: hinge slide ball free',
    ('name="j"', 'name="ball"', 4): 'a joint of that name is declared on line 3',
    ('name="j"', 'axis="0 0 0"', 3): 'axis="0 0 0" has no direction',
    ('name="j"', 'range="1 1" limited="true"', 3): 'the first must be below the second',
    ('<joint name="j"/>', '<freejoint/><joint/>', 3): 'a free joint is the only one of its body',
    ('<joint name="j"/>', '<joint/><freejoint/>', 3): 'a free joint is the only one of its body',
    ('<joint name="j"/>', '<body><freejoint/></body>', 3): 'in a child body of the world',
    ('<site name="s"/>', '<site name="s"/><site name="s"/>', 3): 'a site of that name',
    ('<site name="s"/>', '<site fromto="1 1 1 1 1 1"/>', 3): 'fromto: its two points are equal',
    ('<site name="s"/>', '<inertial pos="0 0 0" mass="-1"/>', 3): 'mass="-1" is below 0 kg',
    ('<site name="s"/>', '<geom size="1" mass="-1"/>', 3): 'its mass or density is below 0',
    ('<site name="s"/>', '<geom size="0"/>', 3): 'size="0": sizes are above 0',
    ('<site name="s"/>', '<geom size="1 2 3 4"/>', 3): 'size: expected 1 to 3 numbers, got 4',
}
UNSUPPORTED = {
    ('<compiler/>', '<compiler coordinate="global"/>', 1): 'coordinate="global" is no longer',
    ('<equality/>', '<equality><distance/></equality>', 5): 'allowed: connect weld joint',
}
EQUALITIES = {
    '<connect body1="a"/>': 'the attribute anchor="..." is missing',
    '<connect body2="a" anchor="0 0 0"/>': 'the attribute body1="..." is missing',
    '<connect site1="s"/>': 'the attribute site2="..." is missing',
    '<connect anchor="0 0 0"/>': 'expected body1="..."',
    '<weld body1="a" site1="s" site2="s"/>': 'expected body1="..."',
    '<weld body1="x"/>': "there is no body 'x'",
    '<weld site1="s" site2="x"/>': "there is no site 'x'",
    '<weld body1="a" relpose="1 2"/>': 'relpose="1 2": expected 7 numbers',
    '<weld body1="a" active="maybe"/>': 'active="maybe"; allowed: false true',
    '<weld name="w" body1="a"/><weld name="w" body1="b"/>': 'an equality of that name',
    '<joint joint2="j"/>': 'the attribute joint1="..." is missing',
    '<joint joint1="x"/>': "there is no joint 'x'",
    '<joint joint1="ball"/>': "the joint 'ball' is neither a hinge nor a slide",
    '<joint joint1="j" polycoef="1 2 3 4 5 6"/>': 'polycoef: expected 1 to 5 numbers, got 6',
    '<joint joint1="j" polycoef=""/>': 'polycoef: expected 1 to 5 numbers, got 0',
}
FAULTS |= {
    ('<equality/>', f'<equality>{equality}</equality>', 5): message
    for equality, message in EQUALITIES.items()
}


@pytest.mark.parametrize(('change', 'message'), FAULTS.items(), ids=[key[1] for key in FAULTS])
def test_faults_are_refused_with_their_line(change, message):
    """The message and its line."""
    old, new, line = change
    assert TEXT.count(old) == 1
    with pytest.raises(DescriptionError) as caught:
        read_description(TEXT.replace(old, new))
    assert message in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize('change', UNSUPPORTED, ids=[key[1] for key in UNSUPPORTED])
def test_unsupported_elements_are_refused(change):
    """What is known, but not read."""
    old, new, line = change
    with pytest.raises(UnsupportedElementError) as caught:
        read_description(TEXT.replace(old, new))
    assert UNSUPPORTED[change] in str(caught.value)
    assert caught.value.line == line


def test_range_without_limited_is_refused():
    """Without autolimits MuJoCo asks for one."""
    text = TEXT.replace('<compiler/>', '<compiler autolimits="false"/>')
    with pytest.raises(DescriptionError, match='neither limited="true" or "false" nor'):
        read_description(text.replace('name="j"', 'range="-1 1"'))
