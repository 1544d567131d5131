# The one-file program and the Debian package, described in README.md beside this file. They end up in dist.

VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' fswizard/__init__.py)
ZIPAPP = dist/fswizard-$(VERSION).pyz
DEB = dist/fswizard_$(VERSION)_amd64.deb
DEB_ROOT = build/deb
TOOLS = build/tools
PYTHONS = 3.10 3.11 3.12 3.13 3.14
OLDEST ?= $(firstword $(PYTHONS))
NEWEST ?= $(lastword $(PYTHONS))
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2> /dev/null || stat --format=%Y pyproject.toml)

.PHONY: packages slow-packages

packages: $(ZIPAPP) $(DEB) ## Build the one-file program and the Debian package, into dist. Needs dpkg-deb

.PHONY: $(ZIPAPP) $(DEB)
$(ZIPAPP): $(TOOLS)/.ready
	rm -rf build/zipapp $(ZIPAPP)
	mkdir -p build/zipapp/all dist
	$(TOOLS)/bin/uv pip compile --quiet --python-version $(OLDEST) --constraint requirements-dev.txt \
		--generate-hashes --output-file build/zipapp/requirements.txt pyproject.toml
	set -e; for version in $(PYTHONS); do \
		$(TOOLS)/bin/uv pip install --quiet --python-version $$version --python-platform x86_64-manylinux_2_28 \
			--only-binary :all: --require-hashes --requirements build/zipapp/requirements.txt --target build/zipapp/$$version; \
		cp -r build/zipapp/$$version/. build/zipapp/all; \
	done
	$(TOOLS)/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/zipapp .
	$(TOOLS)/bin/python -m zipfile --extract build/zipapp/fswizard-$(VERSION)-py3-none-any.whl build/zipapp/all
	cp $(TOOLS)/lib/python*/site-packages/shiv-*.dist-info/LICENSE \
		build/zipapp/all/fswizard-$(VERSION).dist-info/licenses/LICENSE.shiv
	rm -rf build/zipapp/all/bin build/zipapp/all/*.data
	$(TOOLS)/bin/shiv --reproducible --compressed --site-packages build/zipapp/all --entry-point fswizard.__main__:main \
		--python '/usr/bin/env python3' --output-file $(ZIPAPP)

# For Debian and Ubuntu, with the one-file program inside.
$(DEB): $(ZIPAPP)
	rm -rf $(DEB_ROOT) $(DEB)
	install -D $(ZIPAPP) $(DEB_ROOT)/usr/bin/fswizard
	cp -r packaging/share $(DEB_ROOT)/usr/share
	gzip -9 --no-name $(DEB_ROOT)/usr/share/man/man1/fswizard.1
	install -D --mode=644 --target-directory $(DEB_ROOT)/usr/share/doc/fswizard packaging/debian/copyright
	gzip -9 --no-name < CHANGELOG.md > $(DEB_ROOT)/usr/share/doc/fswizard/changelog.gz
	mkdir $(DEB_ROOT)/DEBIAN
	sed 's/VERSION/$(VERSION)/' packaging/debian/control > $(DEB_ROOT)/DEBIAN/control
	chmod -R u=rwX,go=rX $(DEB_ROOT)
	find $(DEB_ROOT) -exec touch --date=@$(SOURCE_DATE_EPOCH) {} +
	dpkg-deb --root-owner-group -Zxz --build $(DEB_ROOT) $(DEB)

# Both built twice are the same byte by byte; units and screens pass with the oldest packages and Python that
# pyproject.toml allows, and with the newest.
slow-packages: $(TOOLS)/.ready
	$(MAKE) packages
	sha256sum $(ZIPAPP) $(DEB) > build/first.sha256
	$(MAKE) packages
	sha256sum --check --quiet build/first.sha256
	set -e; for each in '$(OLDEST) lowest-direct' '$(NEWEST) highest'; do set -- $$each; \
		$(TOOLS)/bin/uv venv --quiet --clear --seed --python $$1 build/bounds-$$2; \
		$(TOOLS)/bin/uv pip install --quiet --resolution $$2 --python build/bounds-$$2 --editable '.[dev]'; \
		build/bounds-$$2/bin/pytest --numprocesses $(WORKERS) --dist loadgroup tests/unit tests/tui $(ARGS); \
	done

$(TOOLS)/.ready: packaging/requirements.txt
	$(PYTHON) -m venv --clear $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	@touch $@
