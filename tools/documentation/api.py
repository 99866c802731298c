"""The pages of the public names in Python, whose text Sphinx takes from the docstrings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import inspect

import ik_node as ik

# Every name of `ik_node.__all__` is in one group; a test compares. Names with a dot are classes of
# objects that methods return.
GROUPS: Mapping[str, Sequence[str]] = {
    'Robots': ('load_robot', 'from_dh', 'combine', 'Robot', 'check', 'plot', 'view'),
    'Solving': (
        'Solver',
        'SolverOptions',
        'tracking',
        'solver.solver.PreparedSolve',
        'Solution',
        'SolveResult',
        'PoseError',
        'Status',
        'STATUS_NAMES',
        'AsyncSolver',
        'solver.background.SolveFuture',
        'VelocitySolution',
        'TwistError',
    ),
    'Batches and paths': (
        'BatchSolution',
        'PathSolution',
        'solver.batch.batch_solution.PathsSolution',
        'PoseErrors',
    ),
    'Mechanisms from objects': (
        'Frame',
        'Link',
        'Joint',
        'Closure',
        'Goal',
        'UserGoal',
        'DOF',
        'DOF_NAMES',
        'find_roots',
        'save_rest_pose',
    ),
    'Analysis': (
        'Mobility',
        'ReachVolume',
        'BasePlacement',
        'transmission.transmission.Transmission',
        'transmission.transmission.PreparedTransmission',
        'transmission.state.TransmissionState',
        'transmission.state.Singularity',
        'transmission.state.JointBounds',
        'transmission.state.Polytope',
    ),
    'Collisions': (
        'Collisions',
        'Distance',
        'Box',
        'Sphere',
        'Capsule',
        'Cylinder',
        'Hull',
        'Mesh',
        'HalfSpace',
    ),
    'Names and values of closed-chain-ik': (
        'robot_to_ik_root',
        'set_ik_from_urdf',
        'set_urdf_from_ik',
    ),
    'Errors': (
        'IkError',
        'DescriptionError',
        'EngineError',
        'OptionError',
        'PlanError',
        'ShapeError',
        'TopologyError',
        'UnknownFrameError',
        'UnsupportedElementError',
    ),
}


def api_pages() -> dict[str, str]:
    """Return the pages of the groups, by file name, and the index of them."""
    index = [
        '# Python API',
        '',
        'Each name below is imported on first use: `import ik_node as ik`.',
        '',
    ]
    pages, order = {}, []
    for title, names in GROUPS.items():
        file = title.lower().replace(' ', '_').replace('-', '_')
        order.append(file)
        index += [f'* [{title}]({file}.md): ' + ', '.join(f'`{n.split(".")[-1]}`' for n in names)]
        body = [f'# {title}', '', '```{eval-rst}']
        for name in names:
            body += ['', *directive(name)]
        pages[f'{file}.md'] = '\n'.join([*body, '```', ''])
    toctree = ['', '```{toctree}', ':hidden:', *order, '```', '']
    return {'index.md': '\n'.join([*index, *toctree]), **pages}


def directive(name: str) -> list[str]:
    """Return the lines that let Sphinx document a name of ik_node."""
    full = f'ik_node.{name}'
    if '.' in name:
        return [f'.. autoclass:: {full}']
    value = getattr(ik, name)
    if inspect.isclass(value):
        lines = [f'.. autoclass:: {full}']
        if value.__bases__ == (object,):
            return lines
        # Robot consists of classes without a page of their own.
        inner = any(
            base.__module__.startswith('ik_node') and not hasattr(ik, base.__name__)
            for base in value.__bases__
        )
        return [*lines, '   :inherited-members:' if inner else '   :show-inheritance:']
    if callable(value):
        return [f'.. autofunction:: {full}']
    values = ', '.join(f'``{each}``' for each in value)
    return [f'.. py:data:: {full}', '', f'   {values}']
