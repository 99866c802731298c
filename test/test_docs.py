"""The commands, files and code blocks of the pages in docs/ work."""

import re
import subprocess
import sys

from ik_node.cli.main import main
from ik_node.description.sidecars.closures_yaml import read_closures
import pytest
import yaml

# What makes each line of the table of errors in "Bring your robot": file, text, its replacement;
# or another name of a file.
MISTAKES = {
    "there is no link 'coupl'": ('yaml', 'link: coupler', 'link: coupl'),
    "type 'hing' is not known": ('yaml', 'hinge', 'hing'),
    "the key 'typ' is not known": ('yaml', 'type:', 'typ:'),
    'this is xacro': (
        'xml',
        '<robot name="rocker">',
        '<robot name="rocker" xmlns:xacro="x"><xacro:a/>',
    ),
    'not well-formed XML': ('xml', '</robot>', ''),
    "closure 'pin' is 0.1 m": ('yaml', '[1.1, 0, 0]', '[1.1, 0, 0.1]'),
    "closure 'pin' is 0.329 m": ('xml', 'lower="0.5"', 'lower="2.5"'),
    'turns about 1 0 0 in rocker': ('yaml', '[0.9, 0, 0]', '[0.9, 0, 0], rpy: [0, 1.5708, 0]'),
    'opposite': ('yaml', '[1.1, 0, 0]', '[1.1, 0, 0], rpy: [3.14159, 0, 0]'),
    'this is a CAD file': ('name', 'rocker.yaml', 'rocker.step'),
    'no loops': ('name', 'rocker.closures.yaml', 'rocker_loops.yaml'),
    'look like degrees': ('xml', 'lower="0.2" upper="2.8"', 'lower="0" upper="180"'),
    'is 400 m from its parent': ('xml', '0.4 0 0', '400 0 0'),
    'lower and upper are both 0': ('xml', 'lower="0.2" upper="2.8"', 'lower="0" upper="0"'),
    "warning: loop 'pin' is": ('xml', 'xyz="0.4 0 0"', 'xyz="-0.4 0 0"'),
    'joint middle turns about': (
        'xml',
        'xyz="0.4 0 0"/>\n    <axis xyz="0 0 1"/>',
        'xyz="0.4 0 0"/>\n    <axis xyz="1 0 0"/>',
    ),
    'joints can move with a tolerance': (
        'xml',
        'xyz="0.4 0 0"/>\n    <axis xyz="0 0 1"/>',
        'xyz="0.4 0 0"/>\n    <axis xyz="1 0 500"/>',
    ),
    'no <axis>, taken': ('xml', '<axis xyz="0 0 1"/>', ''),
    'contradicts': (
        'xml',
        'lower="0.5" upper="3" effort="5" velocity="6"/>',
        'lower="0.5" upper="3" effort="5" velocity="6"/> <mimic joint="drive"/>',
    ),
    'in no loop': (
        'xml',
        '</robot>',
        '<link name="rocker2"/><joint name="rock2" type="continuous"><parent link="ground"/>'
        '<child link="rocker2"/><axis xyz="0 0 1"/></joint></robot>',
    ),
    'no motors': ('yaml', 'actuated: [drive]', ''),
    'no <limit>': ('xml', '<limit lower="0.2" upper="2.8" effort="5" velocity="3"/>', ''),
    'it is continuous': ('xml', 'drive" type="revolute"', 'drive" type="continuous"'),
    'taken as no limit': ('xml', 'lower="0.2" upper="2.8"', 'lower="-1e16" upper="1e16"'),
}


def pages(repository):
    """Return all pages without the dated records of decisions."""
    found = sorted((repository / 'docs').rglob('*.md'))
    return [path for path in found if path.parent.name not in ('decisions', 'generated', 'api')]


def page_of(repository, page):
    """Return the text of a page."""
    return (repository / 'docs' / f'{page}.md').read_text()


def blocks(repository, page, language):
    """Return a page's code blocks of one language."""
    pattern = rf'^```{language}\n(.*?)^```'
    return re.findall(pattern, page_of(repository, page), flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def example(repository, tmp_path):
    """Save the files of "Bring your robot" as the page says, and return their folder."""
    (urdf,) = blocks(repository, 'bring_your_robot', 'xml')
    closures, _, parameters = blocks(repository, 'bring_your_robot', 'yaml')
    (tmp_path / 'rocker.urdf').write_text(urdf)
    (tmp_path / 'rocker.closures.yaml').write_text(closures)
    (tmp_path / 'rocker.yaml').write_text(parameters)
    return tmp_path


def python(repository, folder, *words):
    """Run Python in a folder, with the package of the checkout."""
    program = f'import sys; sys.path.insert(0, {str(repository)!r}); '
    if words[0] == '-m':
        program += (
            f'import runpy; sys.argv = {[*words[1:]]!r}; '
            f'runpy.run_module({words[1]!r}, run_name="__main__")'
        )
    else:
        program += words[1]
    run = [sys.executable, '-c', program]
    return subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)


def test_paths_on_pages_exist(repository):
    """Files that pages name exist."""
    for page in pages(repository):
        if page.stem == 'architecture':  # it has a test of its own
            continue
        for path in re.findall(r'`((?:config|launch|test|urdf)/[\w./]+)`', page.read_text()):
            assert (repository / path).exists(), f'{page.name}: {path}'


def test_launch_commands_name_existing_files_and_arguments(repository):
    """Each `ros2 launch ik_node` names an existing file and its arguments."""
    general = (repository / 'launch' / 'ik_node.launch.py').read_text()
    for page in pages(repository):
        for name, words in re.findall(r'ros2 launch ik_node (\S+)(.*)', page.read_text()):
            known = general + (repository / 'launch' / name).read_text()
            for argument in re.findall(r'(\w+):=', words):
                assert f"'{argument}'," in known, f'{page.name}: {argument}'


def test_node_accepts_parameter_files_on_pages(repository):
    """The node accepts the YAML of each page."""
    from ik_node.ros.parameters.parameter_table import parameter_table
    from ik_node.ros.parameters.settings import Settings

    known = {spec.name for spec in parameter_table()}
    for page in pages(repository):
        for text in re.findall(r'^```yaml\n(.*?)^```', page.read_text(), re.DOTALL | re.MULTILINE):
            content = yaml.safe_load(text)
            if '/**' not in content:
                continue
            values = flattened(content['/**']['ros__parameters'])
            assert Settings.from_values(values).active_goals, page.name
            for name in values:
                assert re.sub(r'^(goals|output)\.\w+\.', r'\1.<name>.', name) in known, page.name


def flattened(tree, above=''):
    """Return nested parameters by their full names."""
    found = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            found.update(flattened(value, f'{above}{name}.'))
        else:
            found[above + name] = value
    return found


def test_closure_annotations_on_page_are_read(repository):
    """The reader accepts the annotations and their keys."""
    text = blocks(repository, 'bring_your_robot', 'yaml')[0]
    loops = read_closures(yaml.safe_load(text), 'docs')
    assert [loop.name for loop in loops.loops] == ['pin']
    assert loops.actuated == ['drive']


def test_check_prints_lines_shown_on_page(repository, example):
    """The output equals the page line by line, except for lines replaced by dots."""
    shown = blocks(repository, 'bring_your_robot', 'console')[0].splitlines()
    done = python(repository, example, '-m', *shown[0].removeprefix('$ ').split())
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    head, tail = shown[1 : shown.index('...')], shown[shown.index('...') + 1 :]
    assert said[: len(head)] == head
    assert said[-len(tail) :] == tail


def test_python_block_runs(repository, example):
    """The code runs in the folder of the files that the page lists."""
    (code,) = blocks(repository, 'bring_your_robot', 'python')
    done = python(repository, example, '-c', f'exec({code!r})')
    assert done.returncode == 0, done.stderr
    assert "'drive': 0." in done.stdout


@pytest.mark.parametrize('said', MISTAKES)
def test_check_prints_error_shown_for_each_mistake(repository, example, said, monkeypatch, capsys):
    """The command prints the line that the table shows for the mistake."""
    table = page_of(repository, 'bring_your_robot').split('| what it says |')[1]
    rows = re.findall(r'^\| `(.*?)` \|', table.split('\n\n')[0], flags=re.MULTILINE)
    (row,) = (row for row in rows if said in row)
    assert len(rows) == len(MISTAKES)
    kind, right, wrong = MISTAKES[said]
    robot = 'rocker.urdf'
    if kind == 'name':
        (example / right).rename(example / wrong)
        robot = wrong if wrong.endswith('.step') else robot
    else:
        path = example / {'xml': robot, 'yaml': 'rocker.closures.yaml'}[kind]
        assert right in path.read_text()
        path.write_text(path.read_text().replace(right, wrong, 1))
    monkeypatch.chdir(example)
    main(['check', robot])
    printed = capsys.readouterr()
    assert row in printed.out + printed.err


def test_pasted_commands_have_no_prompt_in_a_continued_line(repository):
    """A shell would read the prompt as a word of the command."""
    pages = [repository / 'README.md', *sorted((repository / 'docs').glob('*.md'))]
    found = [path.name for path in pages if re.search(r'\\\n\$ ', path.read_text())]
    assert found == []


def test_every_path_on_the_architecture_page_exists(repository):
    """Paths count from the repository or from ik_node/; a name alone may stand in any folder."""
    text = re.sub(r'```.*?```', '', page_of(repository, 'architecture'), flags=re.DOTALL)
    paths = set(re.findall(r'`([\w/.]+(?:\.(?:py|md|yaml)|/))`', text))
    assert len(paths) > 40
    package = repository / 'ik_node'
    tops = (package, repository / 'test', repository / 'benchmark')
    everywhere = {path.name for top in tops for path in top.rglob('*')}

    def exists(path):
        name = path.strip('/')
        alone = '/' not in name and name in everywhere
        return alone or any(
            (top / path).exists() for top in (repository, package, repository / 'docs')
        )

    assert [path for path in sorted(paths) if 'NAME' not in path and not exists(path)] == []


def test_make_targets_and_tests_that_pages_name_exist(repository):
    """On pages for users and for maintainers."""
    top = [repository / name for name in ('README.md', 'CONTRIBUTING.md', 'SECURITY.md')]
    makefile = (repository / 'Makefile').read_text()
    tests = ''.join(each.read_text() for each in (repository / 'test').rglob('test_*.py'))
    for page in (*top, repository / 'QUALITY_DECLARATION.md', *pages(repository)):
        text = page.read_text()
        for target in re.findall(r'(?:^|`)make ([a-z][a-z-]*)', text, flags=re.MULTILINE):
            assert f'\n{target}:' in makefile, f'{page.name}: {target}'
        for name in re.findall(r'`(test_\w+)`', text):
            assert f'def {name}(' in tests, f'{page.name}: {name}'


def test_every_combination_of_the_support_table_is_locked(repository):
    """`tools/test_all.sh` knows each combination that the table names."""
    named = re.findall(r'((?:kilted|jazzy)-py3\.\d+)', page_of(repository, 'support'))
    assert len(named) == 5
    for combination in named:
        distro = combination.partition('-')[0]
        assert (repository / 'requirements' / f'{distro}.txt').is_file()
    assert all(each in (repository / 'tools' / 'test_all.sh').read_text() for each in named)
