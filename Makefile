# Two commands matter: `make demo` and `make test`. Both set up what they need, once.
# With PYTHON=python3.12 and DISTRO=jazzy, .venv is made anew for that Python and those wheels.
# What maintainers need besides is in tools/, see CONTRIBUTING.md and docs/releasing.md.

DISTRO :=
ROBOT := hexapod
SECONDS :=
TARGETS :=
ARGS :=

# tools/test_all.sh and .ci/run have environments of their own below .venvs.
VENV := $(or $(IK_NODE_VENV),.venv)
RUN := tools/run

# Three processes for two cores, as tests of nodes mostly wait; each has a ROS domain of its own that
# no other process may hear. With a domain that may be listened to, one process. Files begin in the
# order of test/conftest.py.
PARALLEL := $(if $(IK_NODE_TEST_DOMAIN),,-n 3 --dist loadfile --no-loadscope-reorder)

.PHONY: help setup native demo view test lint format bench docs clean

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 9

setup: ## Make .venv with the locked versions [DISTRO=kilted|jazzy] [PYTHON=python3.12]
	@tools/setup.sh $(DISTRO)

native: setup ## Build libik_node, the compiled kernels [TARGETS='x86_64 aarch64']
	@$(RUN) python -m ik_node warm $(if $(TARGETS),--targets $(TARGETS))

demo: setup ## Move a robot on the real node [ROBOT=hexapod] [SECONDS=10] [ROS_DOMAIN_ID=0]
	@$(RUN) python -m ik_node demo $(ROBOT) $(if $(SECONDS),--seconds $(SECONDS))

view: setup ## Show a robot in the browser [ROBOT=hexapod] [ARGS='--port 8090']
	@$(RUN) python -m ik_node view --demo $(ROBOT) $(ARGS)

test: setup ## Run all tests [ARGS='-k hexapod']
	@tools/test $(PARALLEL) $(ARGS)

lint: setup ## Check style, types and the direction of imports
	@tools/test -q test/architecture/test_layers.py test/architecture/test_linters.py

format: setup ## Fix what ruff can fix
	@$(RUN) python -m ruff check --fix .
	@$(RUN) python -m ruff format .

bench: setup ## Measure speed, beside the peers that are installed [ARGS='arms --help']
	@$(RUN) python -m ik_node bench $(ARGS)

docs: setup ## Build the documentation site in build/docs, and run its notebooks
	@tools/docs.sh

clean: ## Remove .venv and everything else that was made
	rm -rf .venv .venvs build install log *.egg-info .coverage
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
