"""Decides when a model is built, and builds it in a background thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
import threading

from ik_node.errors import IkError
from ik_node.ros.loading.loaded_model import LoadedModel, ModelRequest
from ik_node.ros.parameters.settings import Settings


class ModelBuilder:
    """
    A background builder of models, so that the node keeps ticking.

    A request that arrives during a build waits, and replaces an earlier waiting request. The
    caller collects results with `take`, from the thread that ticks. `build`: ModelRequest ->
    LoadedModel; raises IkError if it refuses the description.
    """

    def __init__(self, build: Callable[[ModelRequest], LoadedModel]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self._waiting: ModelRequest | None = None
        self._running = False
        self.outcomes: deque[tuple[ModelRequest, LoadedModel | Exception]] = deque()

    @property
    def busy(self) -> bool:
        """Return True while a model is being built."""
        with self._lock:
            return self._running

    def submit(self, request: ModelRequest) -> None:
        """Request a model; this replaces a request that still waits."""
        with self._lock:
            if self._running:
                self._waiting = request
                return
            self._running = True
        threading.Thread(
            target=self._work, args=(request,), name='model builder', daemon=True
        ).start()

    def take(self) -> tuple[ModelRequest, LoadedModel | Exception] | None:
        """Return the oldest result not yet collected: a request with its model or its error."""
        return self.outcomes.popleft() if self.outcomes else None

    def _work(self, first: ModelRequest) -> None:
        request: ModelRequest | None = first
        while request is not None:
            outcome = (request, self._attempt(request))
            # Both change under one lock, so that no caller sees the last result and a busy
            # builder.
            with self._lock:
                self.outcomes.append(outcome)
                request, self._waiting = self._waiting, None
                self._running = request is not None

    def _attempt(self, request: ModelRequest) -> LoadedModel | Exception:
        try:
            return self._build(request)
        except Exception as error:  # noqa: BLE001
            return as_refusal(error)


def as_refusal(error: Exception) -> Exception:
    """
    Return the error to report when there is no model.

    A defect of this package or of the middleware must not end a thread or the node. It is
    reported like a refused description, and the node keeps its model.
    """
    if isinstance(error, IkError):
        return error
    return RuntimeError(f'internal error, please report: {type(error).__name__}: {error}')


class ModelSupply:
    """
    The supply of models: it decides when one is built, and hands over each valid one.

    A refused description changes nothing: the last valid model stays. Goals that need a new solver
    lead to a new model of the same robot. `build`: ModelRequest -> LoadedModel; raises IkError.
    """

    def __init__(self, build: Callable[[ModelRequest], LoadedModel]) -> None:
        self.refused = ''  # Why the last description was refused; '' if it was accepted.
        self.refusals = 0  # Number of refused descriptions since the start.
        self._builder = ModelBuilder(build)
        # Models that wait for `take`, or the reasons why there are none.
        self.finished: Collection[object] = self._builder.outcomes
        self._accepted: ModelRequest | None = None
        self._wanted: ModelRequest | None = None

    @property
    def busy(self) -> bool:
        """Return True while a model is being built."""
        return self._builder.busy

    def describe(self, text: str, settings: Settings) -> bool:
        """Request a model of a description; return False if it is the present one."""
        request = ModelRequest.of(text, settings)
        if self._wanted is self._accepted and request.builds_same(self._accepted):
            self.refused = ''
            return False
        if request.builds_same(self._wanted) and not self.refused:
            return False
        self._submit(request)
        return True

    def apply(self, settings: Settings) -> None:
        """Request a model with other goals or another root, if they need a new solver."""
        if self._wanted is None:
            return
        request = self._wanted.changed(settings)
        # The description may have been refused because of joint names or options.
        again = self.refused and self._accepted is None and request != self._wanted
        if again or not request.builds_same(self._wanted):
            self._submit(request)

    def take(self, adopt: Callable[[LoadedModel], None]) -> None:
        """
        Hand over a finished model; after a refusal, `refused` gives the reason.

        `adopt` starts to use the model. If it raises, it has kept the old model, and the new one
        is refused.
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
        self.refusals += 1
        if request is self._wanted and self._accepted is not None:
            self._wanted = self._accepted

    def _submit(self, request: ModelRequest) -> None:
        self._wanted = request
        self._builder.submit(request)
