"""Robots with geometry of few digits, as written by CAD exporters."""

from xml.etree import ElementTree

from ik_node.model.rotation import matrix_to_euler, pose_matrix, quat_from_euler
import numpy as np

# Elements and their attributes with geometry.
_GEOMETRY = {
    **dict.fromkeys(('origin', 'link1', 'link2'), ('xyz', 'rpy')),
    'axis': ('xyz',),
    'loop_joint': ('distance',),
}


def rounded_urdf(urdf, digits):
    """
    Return a URDF with loops with positions, angles and axes rounded to some decimals.

    Limits and couplings stay as they are.
    """
    root = ElementTree.fromstring(urdf)
    for element in root.iter():
        for name in _GEOMETRY.get(element.tag, ()):
            text = element.get(name)
            if text is not None:
                element.set(name, ' '.join(f'{float(part):.{digits}f}' for part in text.split()))
    return ElementTree.tostring(root, encoding='unicode')


def tilted_urdf(urdf, seed=0):
    """
    Return the same robot with the frame of every link but the root turned at random.

    As in a description exported from CAD, no axis is along a coordinate axis any more, so that
    rounding bends the planes and centres that redundant loops rely on. Masses and shapes go.
    """
    random = np.random.default_rng(seed)
    root = ElementTree.fromstring(urdf)
    children = {joint.find('child').get('link') for joint in root.findall('joint')}
    turns = {}
    for link in root.findall('link'):
        for part in list(link):
            link.remove(part)
        name, quat = link.get('name'), random.normal(size=4)
        turns[name] = pose_matrix(
            np.zeros(3), quat / np.linalg.norm(quat) if name in children else [0, 0, 0, 1]
        )
    for joint in root.findall('joint'):
        before, after = (turns[joint.find(tag).get('link')] for tag in ('parent', 'child'))
        origin = joint.find('origin')
        if origin is None:
            origin = ElementTree.SubElement(joint, 'origin')
        _pose(origin, before.T @ _read(origin) @ after)
        axis = joint.find('axis')
        if axis is not None:
            turned = after[:3, :3].T @ _numbers(axis, 'xyz')
            axis.set('xyz', ' '.join(map(repr, turned.tolist())))
    for loop in root.findall('loop_joint'):
        for tag in ('link1', 'link2'):
            end = loop.find(tag)
            _pose(end, turns[end.get('link')].T @ _read(end))
    return ElementTree.tostring(root, encoding='unicode')


def _numbers(element, name):
    return np.array([float(part) for part in element.get(name, '0 0 0').split()])


def _read(element):
    return pose_matrix(_numbers(element, 'xyz'), quat_from_euler(*_numbers(element, 'rpy')))


def _pose(element, matrix):
    element.set('xyz', ' '.join(map(repr, matrix[:3, 3].tolist())))
    element.set('rpy', ' '.join(map(repr, np.array(matrix_to_euler(matrix)).tolist())))
