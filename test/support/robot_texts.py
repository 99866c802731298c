"""Small robots as texts of a URDF and of an SDFormat file."""

AXIS = '<axis xyz="0 0 1"/>'


def joint(name, parent, child, inside=AXIS, kind='continuous'):
    """Return a joint of a URDF, about z."""
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def urdf(links, *parts):
    """Return a URDF of named links and of other elements; links are words or a list."""
    names = links.split() if isinstance(links, str) else links
    named = ''.join(f'<link name="{name}"/>' for name in names)
    return f'<robot name="r">{named}{"".join(parts)}</robot>'


def sdf_joint(name, parent, child, inside='', kind='revolute', xyz='0 0 1'):
    """Return a joint of an SDFormat file about an axis."""
    ends = f'<parent>{parent}</parent><child>{child}</child>'
    axis = f'<axis><xyz>{xyz}</xyz></axis>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}{axis}</joint>'


def sdf(content, version='1.9', attributes=''):
    """Return an SDFormat file with one model."""
    return f'<sdf version="{version}"><model name="r"{attributes}>{content}</model></sdf>'
