"""Building models beside the running one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import threading

from ik_node.errors import IkError
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.loading.model_request import ModelRequest


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
