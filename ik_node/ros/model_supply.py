"""From descriptions that arrive to the model that ticks."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses

from ik_node.ros.loaded_model import LoadedModel
from ik_node.ros.model_builder import ModelBuilder
from ik_node.ros.model_request import ModelRequest
from ik_node.ros.settings import Settings


class ModelSupply:
    """
    Decide when a model is built, and hand over each one that is good.

    A description that is refused changes nothing: the last good model stays. Goals that change
    what is solved are built into a new model of the same robot.

    Parameters
    ----------
    build : callable
        ModelRequest -> LoadedModel; raises IkError.

    Attributes
    ----------
    refused : str
        Why the last description was refused; '' if it was not.

    """

    def __init__(self, build: Callable[[ModelRequest], LoadedModel]) -> None:
        self.refused = ''
        self._builder = ModelBuilder(build)
        self._accepted: ModelRequest | None = None
        self._wanted: ModelRequest | None = None

    @property
    def busy(self) -> bool:
        """Whether a model is being built."""
        return self._builder.busy

    def describe(self, text: str, settings: Settings) -> bool:
        """Ask for a model of a description; False if it is the present one again."""
        request = ModelRequest(text, settings.closures, settings.active_goals, settings.options)
        if self._wanted is self._accepted and request.builds_same(self._accepted):
            self.refused = ''
            return False
        if request.builds_same(self._wanted) and not self.refused:
            return False
        self._submit(request)
        return True

    def set_goals(self, settings: Settings) -> None:
        """Ask for a model with other goals, if these differ in what is solved."""
        if self._wanted is None:
            return
        request = dataclasses.replace(
            self._wanted, goals=settings.active_goals, options=settings.options
        )
        if not request.builds_same(self._wanted):
            self._submit(request)

    def take(self) -> LoadedModel | None:
        """Return a model that is ready; after a refusal `refused` says why."""
        outcome = self._builder.take()
        if outcome is None:
            return None
        request, model = outcome
        if isinstance(model, LoadedModel):
            self._accepted = request
            self.refused = ''
            return model
        self.refused = ' '.join(str(model).split())
        if request is self._wanted and self._accepted is not None:
            self._wanted = self._accepted
        return None

    def _submit(self, request: ModelRequest) -> None:
        self._wanted = request
        self._builder.submit(request)
