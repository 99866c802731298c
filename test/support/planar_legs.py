"""Planar mechanisms on legs of two links, and the determinants of their modes by hand."""

import ik_node as ik
import numpy as np

UPRIGHT = (0, 0, 0, 1)
CORNERS = 0.5 * np.array([(1, 0), (-0.5, 0.8660254), (-0.5, -0.8660254)])
CRANK, ROD, PLATE = 0.35, 0.3, 0.15


def leg(name, base, lengths):
    """Return a planar leg of two links from a point of the base, as text."""
    text, parent, at = '', 'base', base
    for part, length in zip(('shoulder', 'elbow'), lengths, strict=True):
        text += f'<link name="{name}_{part}_link"/><joint name="{name}_{part}" type="continuous">'
        text += f'<parent link="{parent}"/><child link="{name}_{part}_link"/>'
        text += f'<axis xyz="0 0 1"/><origin xyz="{at[0]} {at[1]} 0"/></joint>'
        parent, at = f'{name}_{part}_link', (length, 0)
    return text


def five_bar():
    """Return a five-bar whose tool is where both arms meet; its shoulders have motors."""
    text = leg('left', (-0.2, 0), (0.3, 0.4)) + leg('right', (0.2, 0), (0.3, 0.4))
    text += '<link name="tip"/><joint name="tip" type="fixed"><parent link="left_elbow_link"/>'
    text += '<child link="tip"/><origin xyz="0.4 0 0"/></joint>'
    robot = ik.load_robot(f'<robot name="five_bar"><link name="base"/>{text}</robot>')
    end = ((0.4, 0, 0), UPRIGHT)
    robot.add_closure('left_elbow_link', 'right_elbow_link', frame_a=end, frame_b=end)
    robot.add_goal('left_elbow_link', dof='X Y', offset=end, name='tool')
    robot.actuated = ['left_shoulder', 'right_shoulder']
    return robot


def five_bar_determinants(q):
    """Return the sine between the rods, and those of both elbows."""
    left, right = q[..., 0] + q[..., 1], q[..., 2] + q[..., 3]
    return np.stack([np.sin(right - left), np.sin(q[..., 1]), np.sin(q[..., 3])], axis=-1)


def three_rrr():
    """Return a plate on three planar legs of two links; the shoulders have motors."""
    text = ''.join(leg(f'leg{k}', CORNERS[k], (CRANK, ROD)) for k in range(3))
    text += '<link name="plate"/><joint name="plate" type="continuous">'
    text += '<parent link="leg0_elbow_link"/><child link="plate"/><axis xyz="0 0 1"/>'
    text += f'<origin xyz="{ROD} 0 0"/></joint>'
    robot = ik.load_robot(f'<robot name="rrr"><link name="base"/>{text}</robot>')
    for k in (1, 2):
        x, y = PLATE * 2 * (CORNERS[k] - CORNERS[0])
        ends = {'frame_a': ((ROD, 0, 0), UPRIGHT), 'frame_b': ((x, y, 0), UPRIGHT)}
        robot.add_closure(f'leg{k}_elbow_link', 'plate', **ends)
    robot.add_goal('plate', dof='X Y EZ', name='plate_goal')
    robot.actuated = [f'leg{k}_shoulder' for k in range(3)]
    return robot


def three_rrr_determinants(q):
    """Return the determinant of the lines of the rods, and the sines of the elbows."""
    found = []
    for row in np.atleast_2d(q):
        lines = []
        for k in range(3):
            a, b = row[2 * k], row[2 * k] + row[2 * k + 1]
            along = np.array([np.cos(b), np.sin(b)])
            tip = CORNERS[k] + CRANK * np.array([np.cos(a), np.sin(a)]) + ROD * along
            lines.append([*along, tip[0] * along[1] - tip[1] * along[0]])
        found.append([np.linalg.det(lines), *np.sin(row[[1, 3, 5]])])
    return np.array(found)


def arm(*lengths, axes=None):
    """Return an arm of links along x, whose joints turn about z, or about other axes."""
    axes, text, parent, x = axes or ['0 0 1'] * len(lengths), '', 'base', 0.0
    # Further axes meet at the base.
    for k, (axis, length) in enumerate(
        zip(axes, [0.0] * (len(axes) - len(lengths)) + list(lengths), strict=True)
    ):
        text += f'<link name="link{k}"/><joint name="joint{k}" type="continuous">'
        text += f'<parent link="{parent}"/><child link="link{k}"/>'
        text += f'<axis xyz="{axis}"/><origin xyz="{x} 0 0"/></joint>'
        parent, x = f'link{k}', length
    text += f'<link name="tip"/><joint name="tip" type="fixed"><parent link="{parent}"/>'
    text += f'<child link="tip"/><origin xyz="{x} 0 0"/></joint>'
    return ik.load_robot(f'<robot name="arm"><link name="base"/>{text}</robot>')
