"""The launch files: they compile everywhere, and run where launch is installed."""

import importlib.util

import pytest

FILES = ('ik_node.launch.py', 'hexapod.launch.py')


@pytest.mark.parametrize('name', FILES)
def test_compiles(repository, name):
    """The file is Python and has the function that launch looks for."""
    path = repository / 'launch' / name
    code = compile(path.read_text(), str(path), 'exec')
    assert 'generate_launch_description' in code.co_names


@pytest.mark.parametrize('name', FILES)
def test_arguments_are_described(repository, name):
    """Executed with launch, it declares arguments, each with a description."""
    launch = pytest.importorskip('launch', reason='launch comes with ROS 2 only')
    pytest.importorskip('launch_ros')
    spec = importlib.util.spec_from_file_location('launched', repository / 'launch' / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    description = module.generate_launch_description()
    assert isinstance(description, launch.LaunchDescription)
    arguments = description.get_launch_arguments()
    assert {argument.name for argument in arguments} >= {'namespace', 'use_sim_time', 'rviz'}
    for argument in arguments:
        assert argument.description.endswith('.')


def test_hexapod_parameters_are_parameters(repository):
    """config/hexapod.yaml sets nothing that does not exist, and names a link of the hexapod."""
    yaml = pytest.importorskip('yaml')
    from ik_node.ros.settings import Settings

    values = yaml.safe_load((repository / 'config' / 'hexapod.yaml').read_text())
    values = values['/**']['ros__parameters']
    goals = values.pop('goals')
    for goal, fields in goals.items():
        values.update({f'goals.{goal}.{key}': value for key, value in fields.items()})
    settings = Settings.from_values(values)
    assert settings.rate == 250.0
    assert [goal.link for goal in settings.active_goals] == ['platform_link']
    assert 'name="platform_link"' in (repository / 'urdf' / 'hexapod.urdf').read_text()
