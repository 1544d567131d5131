# Packages, each by one target; README.md beside this file tells of them. They end up in dist.

VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' fswizard/__init__.py)
WHEEL = dist/fswizard-$(VERSION)-py3-none-any.whl
SDIST = dist/fswizard-$(VERSION).tar.gz
ZIPAPP = dist/fswizard-$(VERSION).pyz
TOOLS = build/tools
PYTHONS = 3.10 3.11 3.12 3.13 3.14
OLDEST ?= $(firstword $(PYTHONS))
NEWEST ?= $(lastword $(PYTHONS))
DEBIAN_SOURCE = tar xf fswizard-$(VERSION).tar.gz; mv fswizard-$(VERSION).tar.gz fswizard_$(VERSION).orig.tar.gz; \
	cd fswizard-$(VERSION); cp -r packaging/debian .
LINTIAN = lintian --allow-root --fail-on error,warning --info ../*.changes
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2> /dev/null || stat --format=%Y pyproject.toml)

.PHONY: packages sdist zipapp deb deb-zipapp rpm arch test-packages test-deb test-bounds

packages: sdist zipapp deb deb-zipapp rpm arch ## Build every package

sdist: $(TOOLS)/.ready ## Build wheel and sdist
	$(TOOLS)/bin/python -m build --no-isolation --outdir dist .
	$(TOOLS)/bin/twine check --strict $(WHEEL) $(SDIST)

zipapp: sdist ## Build one file that runs with Python alone, on x86-64
	rm -rf build/zipapp $(ZIPAPP)
	mkdir -p build/zipapp/all
	$(TOOLS)/bin/uv pip compile --quiet --python-version $(OLDEST) --constraint requirements-dev.txt \
		--generate-hashes --output-file build/zipapp/requirements.txt pyproject.toml
	set -e; for version in $(PYTHONS); do \
		$(TOOLS)/bin/uv pip install --quiet --python-version $$version --python-platform x86_64-manylinux_2_28 \
			--only-binary :all: --require-hashes --requirements build/zipapp/requirements.txt --target build/zipapp/$$version; \
		cp -r build/zipapp/$$version/. build/zipapp/all; \
	done
	$(TOOLS)/bin/python -m zipfile --extract $(WHEEL) build/zipapp/all
	cp $(TOOLS)/lib/python*/site-packages/shiv-*.dist-info/LICENSE \
		build/zipapp/all/fswizard-$(VERSION).dist-info/licenses/LICENSE.shiv
	rm -rf build/zipapp/all/bin build/zipapp/all/*.data
	$(TOOLS)/bin/shiv --reproducible --compressed --site-packages build/zipapp/all --entry-point fswizard.__main__:main \
		--python '/usr/bin/env python3' --output-file $(ZIPAPP)

deb: sdist ## Build a package for Debian unstable, with Debian's own Python packages
	$(call in_debian,unstable,$(SDIST),build-essential debhelper dh-python lintian pybuild-plugin-pyproject python3-all python3-babel \
		python3-hatchling,$(DEBIAN_SOURCE); dpkg-buildpackage --unsigned-source --unsigned-changes; $(LINTIAN); \
		cp ../*.deb /out)

deb-zipapp: zipapp ## Build a package for Debian 12 and 13, with the zipapp inside
	$(call in_debian,bookworm,$(SDIST) $(ZIPAPP),build-essential debhelper lintian,$(DEBIAN_SOURCE); \
		cat packaging/debian-zipapp/copyright >> debian/copyright; \
		cd packaging/debian-zipapp; cp control lintian-overrides rules ../../debian; cd ../..; \
		cp ../*.pyz fswizard.pyz; dpkg-buildpackage --build=binary --unsigned-changes; $(LINTIAN); cp ../*.deb /out)

rpm: zipapp ## Build a package for Fedora and openSUSE, with the zipapp inside
	$(call in_debian,trixie,$(SDIST) $(ZIPAPP) packaging/fswizard.spec,rpm,rpmbuild -bb \
		--define "_sourcedir /src" --define "_rpmdir /out" --define "_buildhost localhost" \
		--define "use_source_date_epoch_as_buildtime 1" --define "build_mtime_policy clamp_to_source_date_epoch" \
		--define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" \
		fswizard.spec)

arch: zipapp ## Build a package for Arch Linux, with the zipapp inside
	$(call in_debian,trixie,$(SDIST) $(ZIPAPP) packaging/PKGBUILD,file libarchive-tools makepkg pacman-package-manager \
		zstd,pacman --database --check; chown -R nobody .; \
		PKGEXT=.pkg.tar.zst setpriv --reuid nobody --clear-groups makepkg --nodeps; cp *.pkg.tar.zst /out)

test-packages: ## Build every package twice: they are the same byte by byte
	$(MAKE) packages
	cd dist && sha256sum *$(VERSION)* > ../build/first.sha256
	$(MAKE) packages
	cd dist && sha256sum --check --quiet ../build/first.sha256

test-deb: deb ## Run the tests of Debian's package, installed in a fresh Debian unstable
	$(call in_debian,unstable,$(SDIST) dist/fswizard_$(VERSION)-1_all.deb,autopkgtest,$(DEBIAN_SOURCE); \
		autopkgtest --no-built-binaries ../fswizard_$(VERSION)-1_all.deb . -- null)

test-bounds: $(TOOLS)/.ready ## Units and screens with the oldest packages and Python that pyproject.toml allows, and the newest
	set -e; for each in '$(OLDEST) lowest-direct' '$(NEWEST) highest'; do set -- $$each; \
		$(TOOLS)/bin/uv venv --quiet --clear --seed --python $$1 build/bounds-$$2; \
		$(TOOLS)/bin/uv pip install --quiet --resolution $$2 --python build/bounds-$$2 --editable '.[dev]'; \
		build/bounds-$$2/bin/pytest --numprocesses $(WORKERS) --dist loadgroup tests/unit tests/tui $(ARGS); \
	done

test-roots: packages ## Try each way to install on fresh Debian systems, and write TRIALS.md. Needs root and mmdebstrap
	$(PYTHON) packaging/trials.py $(ARGS)

define in_debian
rm -rf build/src && mkdir -p build/src && cp $2 build/src
packaging/in_debian $1 "$3" '$4'
endef

$(TOOLS)/.ready: packaging/requirements.txt
	$(PYTHON) -m venv --clear $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	@touch $@
