"""Models are built aside, and bad ones change nothing."""

from ik_node.errors import DescriptionError
from ik_node.ros.loading import LoadedModel, ModelSupply
from ik_node.ros.parameters.settings import Settings
import numpy as np
import pytest
from support.waiting import wait_until


class Builder:
    """Builds models of nothing; 'bad' is refused, 'broken' is a defect."""

    def __init__(self):
        self.built = []

    def __call__(self, request):
        """Build, as a node would."""
        self.built.append(request)
        if request.text.startswith('bad'):
            raise DescriptionError('not a\nrobot')
        if request.text == 'broken':
            raise ZeroDivisionError('oops')
        return LoadedModel(
            request, None, None, np.zeros(1), ('a',), np.zeros(1), np.zeros(1), np.zeros(1)
        )


@pytest.fixture
def builder():
    return Builder()


@pytest.fixture
def supply(builder):
    return ModelSupply(builder)


def settings(link='tip', **more):
    return Settings.from_values({'goal_names': ('a',), 'goals.a.link': link, **more})


def outcome(supply):
    """Wait for the builder and return what it built, None if that was refused."""
    wait_until(lambda: not supply.busy, 'the builder')
    return taken(supply)


def taken(supply):
    models = []
    supply.take(models.append)
    return models[0] if models else None


def test_other_goals_are_built_for_the_accepted_robot(supply, builder):
    """After a refusal new goals apply to the running robot, not to the bad description."""
    supply.apply(settings())
    assert builder.built == []
    supply.describe('good', settings())
    outcome(supply)
    supply.describe('bad', settings())
    outcome(supply)
    supply.apply(settings(link='other'))
    assert outcome(supply).request.text == 'good'


@pytest.mark.parametrize('error', [DescriptionError('no nose'), RuntimeError('no nose')])
def test_a_model_that_cannot_be_adopted_is_refused(supply, error):
    supply.describe('good', settings())
    assert outcome(supply) is not None
    supply.describe('other', settings())

    def adopt(model):
        raise error

    wait_until(lambda: not supply.busy, 'the builder')
    supply.take(adopt)
    assert 'no nose' in supply.refused
    supply.apply(settings(link='elbow'))
    assert outcome(supply).request.text == 'good'


def test_new_joint_names_retry_the_first_description(supply, builder):
    """Without a robot they try the description again; with a robot they build nothing."""
    supply.describe('bad', settings())
    outcome(supply)
    supply.apply(settings())
    assert not supply.busy
    supply.apply(settings(locked_joints=('a',)))
    assert outcome(supply) is None
    assert len(builder.built) == 2
    supply.describe('good', settings())
    outcome(supply)
    supply.apply(settings(locked_joints=('b',)))
    assert not supply.busy
    assert len(builder.built) == 3
