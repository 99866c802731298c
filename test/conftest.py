"""Fixtures of all tests: a separate ROS 2 domain, and the folder of models and truth data."""

import os
from pathlib import Path
import signal
import tempfile

from hypothesis import HealthCheck, settings
import pytest
from support.ros_domain import take_domain

# How long an example takes says how busy the machine is, and nothing of what is tested.
settings.register_profile('untimed', deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile('untimed')

# Also where pytest is not started by `make test`: no other process on this machine is heard, be it
# a robot or another run of the tests, and a message field of the wrong type is an error.
DOMAIN = os.environ.get('IK_NODE_TEST_DOMAIN')
if DOMAIN is None:
    DOMAIN, LOCK = take_domain()
os.environ['ROS_DOMAIN_ID'] = str(DOMAIN)
os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
os.environ.setdefault('ROS_PYTHON_CHECK_FIELDS', '1')
os.environ.setdefault('ROS_LOG_DIR', os.path.join(tempfile.gettempdir(), 'ik_node_test_log'))

# A shell without job control starts what it puts in the background deaf to Ctrl-C, and so would be
# every process that is started here.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header(config: pytest.Config) -> str:
    """Report the ROS domain of this run."""
    if config.getoption('numprocesses', None):
        return 'ROS_DOMAIN_ID: one for each process; IK_NODE_TEST_DOMAIN=57 for one to listen in'
    return f'ROS_DOMAIN_ID: {DOMAIN}'


# The files that take longest begin first: none of them is left over for a single process.
LONGEST = (
    'test_browser.py',
    'test_browser_node.py',
    'test_linters.py',
    'test_edits.py',
    'test_browser_ends.py',
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, and mark tests that start nodes by their fixtures."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
    for item in items:
        if {'context', 'graph', 'lasting_graph'} & {*getattr(item, 'fixturenames', ())}:
            item.add_marker('ros')


REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope='session')
def repository() -> Path:
    """Return the root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope='session')
def shared() -> Path:
    """Return the folder of models, truth data and scenarios next to the checkout."""
    folder = REPOSITORY.parent / 'shared'
    if not folder.is_dir():
        if os.environ.get('IK_NODE_REQUIRE_SHARED') == '1':
            pytest.fail(f'IK_NODE_REQUIRE_SHARED=1, but there is no folder {folder}')
        pytest.skip(f'no folder {folder}')
    return folder
