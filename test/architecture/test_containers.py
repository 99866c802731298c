"""Files of containers name packages, launch files and commands that exist; none is built."""

import json
import re


def instructions(repository):
    """Return the instructions of the Dockerfile as (name, words)."""
    text = (repository / 'Dockerfile').read_text()
    lines = [line for line in text.splitlines() if not line.startswith('#')]
    joined = '\n'.join(lines).replace('\\\n', ' ')
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def test_image_starts_an_existing_launch_file(repository):
    """`docker run` without a command runs the node."""
    found = dict(instructions(repository))
    command = json.loads(found['CMD'])
    assert command[:3] == ['ros2', 'launch', 'ik_node']
    assert (repository / 'launch' / command[3]).is_file()
    assert 'ik_node' in (repository / 'launch' / command[3]).read_text()


def test_image_does_not_run_as_root(repository):
    """The last user is one that the image creates."""
    found = instructions(repository)
    (user,) = [words for name, words in found if name == 'USER']
    assert any(f'useradd --create-home {user}' in words for name, words in found if name == 'RUN')


def test_image_and_devcontainer_have_the_same_base(repository):
    """Both are ROS 2 Jazzy, for which there are locks."""
    devcontainer = json.loads((repository / '.devcontainer' / 'devcontainer.json').read_text())
    assert dict(instructions(repository))['FROM'] == devcontainer['image']
    (distro,) = re.findall(r'^ros:(\w+)-', devcontainer['image'])
    assert (repository / 'requirements' / f'{distro}.txt').is_file()
    (target,) = re.findall(r'make (\w+)', devcontainer['postCreateCommand'])
    assert f'\n{target}:' in (repository / 'Makefile').read_text()
