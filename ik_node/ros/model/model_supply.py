"""From descriptions that arrive to the model that ticks."""

from __future__ import annotations

from collections.abc import Callable

from ik_node.errors import IkError
from ik_node.ros.model.loaded_model import LoadedModel
from ik_node.ros.model.model_builder import ModelBuilder
from ik_node.ros.model.model_request import ModelRequest
from ik_node.ros.parameters.settings import Settings


class ModelSupply:
    """
    Decide when a model is built, and hand over each one that is good.

    A description that is refused changes nothing: the last good model stays. Goals that change
    what is solved are built into a new model of the same robot.

    Parameters
    ----------
    build : callable
        ModelRequest -> LoadedModel; raises IkError.
    check : callable
        (LoadedModel, Settings) -> None; raises IkError where the settings do not fit the robot.

    Attributes
    ----------
    refused : str
        Why the last description was refused; '' if it was not.

    """

    def __init__(
        self,
        build: Callable[[ModelRequest], LoadedModel],
        check: Callable[[LoadedModel, Settings], None],
    ) -> None:
        self._check = check
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
        request = ModelRequest.of(text, settings)
        if self._wanted is self._accepted and request.builds_same(self._accepted):
            self.refused = ''
            return False
        if request.builds_same(self._wanted) and not self.refused:
            return False
        self._submit(request)
        return True

    def apply(self, settings: Settings) -> None:
        """Ask for a model with other goals or another root, if these differ in what is solved."""
        if self._wanted is None:
            return
        request = self._wanted.changed(settings)
        # What was refused may have been for names of joints or for options.
        again = self.refused and self._accepted is None and request != self._wanted
        if again or not request.builds_same(self._wanted):
            self._submit(request)

    def take(self, settings: Settings) -> LoadedModel | None:
        """Return a model that is ready; after a refusal `refused` says why."""
        outcome = self._builder.take()
        if outcome is None:
            return None
        request, model = outcome
        if isinstance(model, LoadedModel):
            try:
                # Parameters may have changed while it was built.
                self._check(model, settings)
            except IkError as error:
                model = error
            else:
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
