# make run    sets everything up and serves the site until Ctrl-C
# make test   sets up what the tests need and runs every check and every test
# make proof  breaks the core and looks whether a test notices, and tries long what tests try briefly
# make bench  measures; some measurements need the corpora in ../shared

.PHONY: run test proof bench

PYTHON ?= python3
PIP = .venv/bin/python -m pip install --quiet --disable-pip-version-check

run: .venv/.run-stamp
	@LOCAL_DEFAULTS=$${LOCAL_DEFAULTS:-on} exec .venv/bin/python manage.py runhelpcenter

test: .venv/.test-stamp
	@.venv/bin/python -m tests.run

proof: .venv/.test-stamp
	@.venv/bin/python -m proof.run

bench: .venv/.test-stamp
	@set -e; for script in bench/*.py; do echo "=== $$script"; .venv/bin/python $$script; done

# The virtual environment is made once (pip comes last, so one that was interrupted is made again),
# and filled again when what it has to hold changes.

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or later is needed: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null \
		|| { echo "Python's venv module is needed: apt install python3-venv" >&2; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/.run-stamp: requirements.txt | .venv/bin/pip
	@echo "Installing what requirements.txt names"
	@$(PIP) -r requirements.txt
	@touch $@

.venv/.test-stamp: requirements.txt requirements-dev.txt | .venv/bin/pip
	@echo "Installing what requirements-dev.txt names"
	@$(PIP) -r requirements-dev.txt
	@touch .venv/.run-stamp $@
