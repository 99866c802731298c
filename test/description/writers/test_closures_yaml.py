"""The loops as YAML beside a URDF."""

from ik_node.robot import load_robot
from support.fourbar_urdf import FOURBAR
import yaml


def test_all_keys_are_written():
    """Those of our annotations, one closure under the other."""
    robot = load_robot(FOURBAR)
    robot.closures['tie'].tolerance = 1e-6
    found = yaml.safe_load(robot.to_closures())
    assert found == {
        'closures': [
            {
                'name': 'tie',
                'frame_a': {'link': 'coupler', 'xyz': [1.1, 0.0, 0.0], 'rpy': [0.0, 0.0, 0.0]},
                'frame_b': {'link': 'rocker', 'xyz': [0.9, 0.0, 0.0], 'rpy': [0.0, 0.0, 0.0]},
                'type': 'hinge',
                'tolerance': [1e-6, 1e-6],
            }
        ]
    }


def test_closures_without_type_are_written():
    """Axes of their own, a distance, one that is let go; motors and curves."""
    robot = load_robot(FOURBAR)
    tie = robot.closures['tie']
    tie.set_dof('X', 'EZ')
    tie.enabled = False
    robot.description.actuated = ['drive']
    robot.joints['shake'].couple('Z', robot.joints['nod'], 'EY', (0.0, 0.0, 2.0))
    found = yaml.safe_load(robot.to_closures())
    assert (found['closures'][0]['dof'], found['closures'][0]['enabled']) == ('X EZ', False)
    assert found['actuated'] == ['drive']
    assert found['couplings'] == [{'joint': 'shake', 'of': 'nod', 'coefficients': [0.0, 0.0, 2.0]}]
    text = FOURBAR.replace('type="revolute">\n    <link1', 'type="distance" distance="0.2"><link1')
    (loop,) = yaml.safe_load(load_robot(text).to_closures())['closures']
    assert (loop['type'], loop['distance']) == ('distance', 0.2)


def test_names_are_quoted_where_they_must_be():
    """YAML would read some names as numbers, lists or comments."""
    names = {'coupler': 'yes', 'rocker': '12', 'tie': '- {a}: #x'}
    text = FOURBAR
    for name, odd in names.items():
        text = text.replace(f'"{name}"', f'"{odd}"')
    (loop,) = yaml.safe_load(load_robot(text).to_closures())['closures']
    assert loop['name'] == '- {a}: #x'
    assert (loop['frame_a']['link'], loop['frame_b']['link']) == ('yes', '12')
