# make run    sets everything up and serves the site until Ctrl-C
# make test   sets up what the tests need and runs every check and test

.PHONY: run test lint fast slow setup setup-dev browser clean-test

PYTHON ?= python3
BIN := .venv/bin

run: .venv/.run-stamp
	@LOCAL_DEFAULTS=$${LOCAL_DEFAULTS:-on} exec $(BIN)/python manage.py runhelpcenter

test: .venv/.test-stamp
	@tests/run

# The virtual environment, made and filled again only when what it needs has changed.

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or later is needed; set PYTHON to one." >&2; exit 1; }
	@$(PYTHON) -m venv .venv \
		|| { rm -rf .venv; echo "The venv module is missing: apt install python3-venv" >&2; exit 1; }

.venv/.run-stamp: requirements.txt | .venv/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

.venv/.test-stamp: requirements.txt requirements-dev.txt | .venv/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@ .venv/.run-stamp
