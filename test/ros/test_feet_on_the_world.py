"""A legged robot that is nothing but its own links, pinned to the world where it stands."""

import xml.etree.ElementTree as ElementTree

import pytest

LEGS = ('front_left', 'front_right', 'rear_left', 'rear_right')


@pytest.fixture
def walker(moving, urdf):
    document = ElementTree.fromstring(urdf('walker'))
    for element in list(document):
        child = element.find('child')
        name = element.get('name', '') if child is None else child.get('link')
        is_base = name == 'body_link' and element.tag == 'link'
        if name.startswith(('ground_', 'body_')) and not is_base:
            document.remove(element)
    for loop in document.iter('loop_joint'):
        loop.find('link2').set('link', 'world')
    goals = {'goal_names': ('body', 'foot'), 'goals__foot__dof': 'X Y Z'}
    goals |= {'goals__body__link': 'body_link', 'goals__foot__link': 'front_left_foot_link'}
    text = ElementTree.tostring(document, encoding='unicode')
    return moving(text, root='floating', **goals)


def feet(robot, q):
    """Return where the feet are in the world [m]."""
    model = robot.model.robot
    return {leg: model.forward(q, f'{leg}_foot_link')[:3, 3] for leg in LEGS}


def test_robot_sways_on_fixed_feet(walker):
    assert walker.mobility() == 6
    assert walker.model.root_frame == 'world'
    assert len(walker.motion.roles.actuated) == 12
    start = feet(walker, walker.model.q_start)
    for offset in ((0.02, 0.0, 0.01), (0.0, 0.02, -0.01)):
        place = walker.goal('body', offset)
        report, _ = walker.tick()
        assert report.converged
        assert walker.model.reached('body', report.q)[:3, 3] == pytest.approx(place, abs=1e-6)
        for leg, foot in feet(walker, report.q).items():
            assert foot == pytest.approx(start[leg], abs=2e-6)
