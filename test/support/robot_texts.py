"""Small robots as texts of a URDF and of an SDFormat file."""

AXIS = '<axis xyz="0 0 1"/>'


def joint(name, parent, child, inside=AXIS, kind='continuous'):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def urdf(links, *parts):
    """Return a URDF of named links and of other elements; links are words or a list."""
    names = links.split() if isinstance(links, str) else links
    named = ''.join(f'<link name="{name}"/>' for name in names)
    return f'<robot name="r">{named}{"".join(parts)}</robot>'


def sdf_joint(name, parent, child, inside='', kind='revolute', xyz='0 0 1'):
    ends = f'<parent>{parent}</parent><child>{child}</child>'
    axis = f'<axis><xyz>{xyz}</xyz></axis>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}{axis}</joint>'


def sdf(content, version='1.9', attributes=''):
    return f'<sdf version="{version}"><model name="r"{attributes}>{content}</model></sdf>'


def arm_text(joints=6):
    links, parts = [], []
    for k in range(joints + 1):
        size = '<cylinder radius="0.03" length="0.22"/>'
        shape = f'<collision><origin xyz="0 0 0.15"/><geometry>{size}</geometry></collision>'
        links.append(f'<link name="l{k}">{shape}</link>')
    for k in range(joints):
        axis = '0 1 0' if k % 2 == 0 else '1 0 0'
        parts.append(
            f'<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/>'
            f'<origin xyz="0 0 0.3"/><axis xyz="{axis}"/>'
            '<limit lower="-2.8" upper="2.8" effort="1" velocity="1"/></joint>'
        )
    return f'<robot name="arm">{"".join(links)}{"".join(parts)}</robot>'
