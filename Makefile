.DEFAULT_GOAL := help
.PHONY: help demo serve test check fix fuzz bench lock clean

APP := .venv/bin/python -m app

help: ## Show this list
	@echo "Debugger Insights. Needs git, make and Python 3.11 or newer; everything else is set up in .venv."
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## Make the demo jobs, convert them, and open the dashboard on http://127.0.0.1:8050
	@scripts/setup.sh runtime
	@$(APP) serve --check
	@$(APP) demo --out var/demo
	@$(APP) convert var/demo
	@exec $(APP) serve var/demo

serve: ## Open the dashboard on your own profiler output: make serve SOURCE=<folder>
	@scripts/setup.sh runtime
	@exec $(APP) serve $(if $(SOURCE),"$(SOURCE)")

test: ## Run all tests, with those in a browser
	@scripts/setup.sh dev
	@CHROMIUM="$$(scripts/browser.sh)" && export CHROMIUM && exec .venv/bin/python -m pytest $(ARGS)

check: ## Check style (ruff), types (mypy) and layers (import-linter)
	@scripts/setup.sh dev
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports

fix: ## Format, and mend what ruff can mend
	@scripts/setup.sh dev
	@.venv/bin/ruff check --fix .
	@.venv/bin/ruff format .

fuzz: ## Damage files of every format and read them: make fuzz ARGS="--count 20000 --seed 1"
	@scripts/setup.sh dev
	@.venv/bin/python -m tests.fuzz $(ARGS)

bench: ## Measure conversion and queries, printed as ratios
	@scripts/setup.sh dev
	@.venv/bin/python -m bench $(ARGS)

lock: ## Pin again what requirements*.txt bring with them (needs uv)
	@uv pip compile --quiet --universal --python-version 3.11 --no-annotate --custom-compile-command "make lock" \
		requirements-dev.txt --output-file constraints.txt

clean: ## Remove the environment and everything written under var/
	@rm -rf .venv var
