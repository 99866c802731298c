"""A differential wrist: two motors turn pitch and roll."""

LIMIT = '<limit lower="-2" upper="2" effort="1" velocity="1"/>'
# left = 0.1 + 2 pitch + roll, right = 2 pitch - roll
ELEMENTS = """
<joint_coupling joint="left"><term of="pitch" coefficients="0.1 2"/>
<term of="roll" coefficients="0 1"/></joint_coupling>
<joint_coupling joint="right"><term of="pitch" coefficients="0 2"/>
<term of="roll" coefficients="0 -1"/></joint_coupling>"""


def wrist(more='', motors=True):
    names = [('pitch', 'base', 'arm', '0 1 0'), ('roll', 'arm', 'hand', '1 0 0')]
    if motors:
        names += [('left', 'base', 'l', '0 1 0'), ('right', 'base', 'r', '0 1 0')]
    links = ''.join(f'<link name="{n}"/>' for n in ('base', *(child for _, _, child, _ in names)))
    joints = ''.join(
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/>{LIMIT}</joint>'
        for name, parent, child, axis in names
    )
    return f'<robot name="wrist">{links}{joints}{more}</robot>'
