# Two commands matter: `make demo` and `make test`. Both set up what they need, once.
# With PYTHON=python3.12 and DISTRO=jazzy, .venv is made anew for that Python and those wheels.

DISTRO :=
ROBOT := hexapod
SECONDS :=
RUNS :=
TARGETS :=
COMBINATIONS :=
KEEP :=
ARGS :=

# `make test-all` and .ci/run have environments of their own below .venvs.
VENV := $(or $(IK_NODE_VENV),.venv)
RUN := tools/run
# No other ROS 2 process may be heard in a test, and no message field may hold a wrong type. Tests
# start hundreds of processes: Python keeps its bytecode, even where the environment forbids it.
RUN_TEST := ROS_DOMAIN_ID= ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_LOG_DIR= \
            ROS_PYTHON_CHECK_FIELDS=1 PYTHONDONTWRITEBYTECODE= $(RUN) python -m pytest

# Three processes for two cores, as tests of nodes mostly wait; each has a ROS domain of its own that
# no other process may hear. With a domain that may be listened to, one process. Files begin in the
# order of test/conftest.py.
PARALLEL := $(if $(IK_NODE_TEST_DOMAIN),,-n 3 --dist loadfile --no-loadscope-reorder)

.PHONY: help setup native native-drills native-all wheels dist dist-try demo view test test-all soak fuzz edits mutants coverage lint \
        format types bench bench-track bench-peers docs numbers gallery gallery-moving screenshots colcon lock \
        licences clean

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 13

setup: ## Make .venv with the locked versions [DISTRO=kilted|jazzy] [PYTHON=python3.12]
	@tools/setup.sh $(DISTRO)

native: setup ## Build libik_node, the compiled kernels [TARGETS='x86_64 aarch64']
	@$(RUN) python -m ik_node warm $(if $(TARGETS),--targets $(TARGETS))

native-drills: setup ## Compare bits of Numba, library and C, check memory and indices; ten minutes
	@$(RUN_TEST) -s --timeout 0 test/native/drill_same_bits.py test/native/drill_memory.py
	@IK_NODE_CHECK_BOUNDS=1 $(RUN_TEST) $(PARALLEL) test/solver test/test_truth.py test/test_scenarios.py

native-all: ## Build the library with Numba 0.58 and later on Python 3.10 to 3.13, and compare answers
	@tools/native_all.sh $(ARGS)

wheels: setup ## Build wheels for all Pythons that are found, into dist/ [TARGETS='x86_64 aarch64']
	@tools/wheels.sh $(or $(TARGETS),x86_64 aarch64)

dist: ## Build sdist and wheels from it, and check what an index would refuse [TARGETS='x86_64']
	@tools/dist.sh $(or $(TARGETS),x86_64 aarch64)

dist-try: ## Move the hexapod with what `make dist` made, in empty environments [DISTRO=kilted|jazzy]
	@tools/try_dist.sh $(or $(DISTRO),kilted)

demo: setup ## Move a robot on the real node [ROBOT=hexapod] [SECONDS=10] [ROS_DOMAIN_ID=0]
	@$(RUN) python -m ik_node demo $(ROBOT) $(if $(SECONDS),--seconds $(SECONDS))

view: setup ## Show a robot in the browser [ROBOT=hexapod] [ARGS='--port 8090']
	@$(RUN) python -m ik_node view --demo $(ROBOT) $(ARGS)

test: setup ## Run all tests [ARGS='-k hexapod']
	@$(RUN_TEST) $(PARALLEL) $(ARGS)

test-all: ## Run all tests for every Python and ROS 2 there are wheels for [COMBINATIONS=jazzy-py3.12]
	@tools/test_all.sh $(COMBINATIONS) -- $(ARGS)

soak: setup ## Run the node under injected faults and check every message it publishes [SECONDS=600]
	@SOAK_SECONDS=$(or $(SECONDS),600) $(RUN_TEST) -s --timeout 0 test/ros/drill_soak.py $(ARGS)

fuzz: setup ## Feed damaged descriptions to the readers [RUNS=10000] [ARGS='urdf.urdf sdf.sdf']
	@tools/fuzz.sh $(or $(RUNS),10000) $(ARGS)

edits: setup ## Edit robots at random and check every answer; 40 minutes [EDITS=100000]
	@IK_NODE_EDITS=$(or $(EDITS),100000) $(RUN_TEST) -n 2 --dist load -k edited_robot \
	    test/solver/test_edits.py $(ARGS)

mutants: setup ## Change the code at random places, see whether tests notice [ARGS='model --count 9']
	@$(RUN) python tools/mutants.py $(ARGS)

coverage: setup ## Count the lines that tests reach: kernels as plain Python, nodes as they run
	@IK_NODE_KERNELS=python $(RUN_TEST) --cov --cov-report= --ignore test/ros --ignore test/ros_client $(ARGS)
	@$(RUN_TEST) --cov --cov-append --cov-report=term-missing:skip-covered test/ros test/ros_client

lint: setup ## Check style and the direction of imports
	@$(RUN_TEST) -q test/architecture/test_layers.py test/architecture/test_linters.py -k 'not types'

format: setup ## Fix what ruff can fix
	@$(RUN) python -m ruff check --fix .
	@$(RUN) python -m ruff format .

types: setup ## Check types
	@$(RUN) python -m mypy

bench: setup ## Measure speed, beside the peers that are installed [ARGS='arms --help']
	@$(RUN) python -m ik_node bench $(ARGS)

bench-track: setup ## Fail if slower than an earlier wheel by 10 % [ARGS='dist/NAME.whl --keep']
	@$(RUN) python -m ik_node bench track $(ARGS)

bench-peers: setup ## Install the peers for `make bench` below .venvs/peers [ARGS='rtb placo']
	@$(RUN) python benchmark/set_up_peers.py $(ARGS)

docs: setup ## Build the documentation site in build/docs, and run its notebooks
	@tools/docs.sh

numbers: setup ## Write the kept runs of benchmarks into the pages [KEEP=engines]
	@$(RUN) python -m tools.measured $(KEEP)

gallery: setup ## Draw docs/gallery/*.png anew [ARGS='delta gripper']
	@$(RUN) python -m tools.pictures $(ARGS)

gallery-moving: setup ## Draw docs/gallery/*.webp anew, ten minutes [ARGS='delta gripper']
	@$(RUN) python -m tools.pictures --moving $(ARGS)

screenshots: setup ## Take pictures of ten robots on the page anew, docs/pictures/page_*; five minutes
	@$(RUN_TEST) -s --timeout 0 test/viewer/drill_screenshots.py $(ARGS)

colcon: setup ## Build and test as a ROS 2 workspace does, below .venv
	@$(RUN) tools/colcon.sh

lock: setup ## Write the locks requirements/*.txt anew [ARGS=--upgrade]
	@$(RUN) python tools/lock.py $(ARGS)

licences: setup ## Write THIRD_PARTY.md, the licences of all locked packages
	@$(RUN) python tools/licences.py

clean: ## Remove .venv and everything else that was made
	rm -rf .venv .venvs build install log *.egg-info .coverage
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
