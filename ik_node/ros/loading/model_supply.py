"""From descriptions that arrive to the model that ticks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import threading

from ik_node.errors import IkError
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.loading.model_request import ModelRequest
from ik_node.ros.parameters.settings import Settings


class ModelBuilder:
    """
    Build models in a thread of its own, so that the node ticks on meanwhile.

    Requests that arrive during a build wait, and only the last of them is built. Outcomes are
    collected with `take`, from the thread that ticks.

    Parameters
    ----------
    build : callable
        ModelRequest -> LoadedModel; raises IkError for a description that is refused.

    """

    def __init__(self, build: Callable[[ModelRequest], LoadedModel]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self._waiting: ModelRequest | None = None
        self._running = False
        self._outcomes: deque[tuple[ModelRequest, LoadedModel | Exception]] = deque()

    @property
    def busy(self) -> bool:
        """Whether a build is under way."""
        with self._lock:
            return self._running

    def submit(self, request: ModelRequest) -> None:
        """Ask for a model; replaces a request that still waits."""
        with self._lock:
            if self._running:
                self._waiting = request
                return
            self._running = True
        threading.Thread(
            target=self._work, args=(request,), name='model builder', daemon=True
        ).start()

    def take(self) -> tuple[ModelRequest, LoadedModel | Exception] | None:
        """Return the oldest outcome not yet taken: a model, or why there is none."""
        return self._outcomes.popleft() if self._outcomes else None

    def _work(self, first: ModelRequest) -> None:
        request: ModelRequest | None = first
        while request is not None:
            outcome = (request, self._attempt(request))
            # Together, so that who has taken the last outcome is not told that there is more.
            with self._lock:
                self._outcomes.append(outcome)
                request, self._waiting = self._waiting, None
                self._running = request is not None

    def _attempt(self, request: ModelRequest) -> LoadedModel | Exception:
        try:
            return self._build(request)
        except Exception as error:  # noqa: BLE001
            return as_refusal(error)


def as_refusal(error: Exception) -> Exception:
    """
    Return why there is no model.

    A defect of ours, or of the middleware, must not end a thread or the node: it is reported like
    a refusal, and the node goes on with the model it has.
    """
    if isinstance(error, IkError):
        return error
    return RuntimeError(f'internal error, please report: {type(error).__name__}: {error}')


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

    def take(self, adopt: Callable[[LoadedModel], None]) -> None:
        """
        Hand over a model that is ready; after a refusal `refused` says why.

        Parameters
        ----------
        adopt : callable
            Goes on with the model from now on; if it raises, it goes on with the one before, and
            the model is refused.

        """
        outcome = self._builder.take()
        if outcome is None:
            return
        request, model = outcome
        if isinstance(model, LoadedModel):
            try:
                adopt(model)
            except Exception as error:  # noqa: BLE001
                model = as_refusal(error)
            else:
                self._accepted = request
                self.refused = ''
                return
        self.refused = ' '.join(str(model).split())
        if request is self._wanted and self._accepted is not None:
            self._wanted = self._accepted

    def _submit(self, request: ModelRequest) -> None:
        self._wanted = request
        self._builder.submit(request)
