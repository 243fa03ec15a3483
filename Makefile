# `make test` is everything that must pass: it installs what tests need where it may.
.PHONY: test check format documentation features check-static nightly faults fuzz bench simulations install-test-tools

CARGO ?= cargo
# Tests need what a build may leave out.
ALL := --features seekstone/all

# Clippy compiles our crates for the tests: one compilation lints and builds.
ifneq ($(shell command -v clippy-driver),)
LINTING := RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__
else
LINTING := echo "skipped: lints: there is no clippy (rustup component add clippy)" &&
endif

# `suite` builds every test, runs them, says how long both took, and ends with a count.
test: install-test-tools format check-static
	@$(LINTING) $(CARGO) xtask suite

# Without the tests. `test` lints as it builds, and finds what tidy finds by a test; what it leaves
# to this and to CI are the links of the documentation and the build without features, which
# compile all crates once more.
check: format documentation features
	$(CARGO) clippy --workspace --all-targets $(ALL) --locked -- -D warnings
	$(CARGO) xtask tidy

format:
	$(CARGO) fmt --all --check

documentation:
	@RUSTDOCFLAGS="-D warnings" .ci/timed documentation \
		$(CARGO) doc --workspace $(ALL) --no-deps --locked --quiet

# Tests are built with everything that a build may leave out; here are one without, and the first
# build.
features:
	@.ci/timed "no features" \
		$(CARGO) check --workspace --no-default-features --locked --quiet
	@.ci/timed "first build" $(CARGO) check --locked --quiet

# Only `cargo xtask package` builds the static program: here its code is checked, and SQLite compiled.
STATIC := x86_64-unknown-linux-musl
check-static:
	@if ! rustup target list --installed 2>/dev/null | grep -qx $(STATIC); then \
		echo "skipped: check-static: rustup has no target $(STATIC)"; \
	elif ! command -v musl-gcc >/dev/null; then \
		echo "skipped: check-static: there is no musl-gcc"; \
	else \
		$(CARGO) check --locked -p seekstone --features all --target $(STATIC); \
	fi

# The acceptance tests of the statistics in full: minutes, not seconds.
nightly:
	$(CARGO) test --release -p stats -p engine -p sim -p procedure -- --ignored --nocapture
	$(CARGO) test --release -p validation --test classic_and_modern --test detection -- --ignored --nocapture
	$(CARGO) test --release -p seekstone --test interface --test measure --test fio -- --ignored --nocapture

# An attack on the safety promises: kills, damaged archives, limits, signals, broken storage, swapped
# files. Ends with a table of what was tried. SEEKSTONE_FAULTS_SEED=N tries other instants,
# SEEKSTONE_FAULTS_SWAPS=N as many swaps of each kind for each command.
FAULTS := $(CURDIR)/target/faults.txt
faults: export SEEKSTONE_FAULTS = full
faults: export SEEKSTONE_FAULTS_TABLE = $(FAULTS)
faults: install-test-tools
	@mkdir -p target && rm -f $(FAULTS)
	$(CARGO) test --release -p seekstone --no-fail-fast --test campaign -- \
		--test-threads=2; ended=$$?; cat $(FAULTS); exit $$ended

# Each reader of text from outside, one after the other; fuzz/README.md says what that needs.
SECONDS ?= 60
fuzz:
	fuzz/run $(SECONDS)

# What documents show under their commands in virtual time, their pictures, and the tables of
# docs/traps.md, docs/abilities.md and docs/gate.md, written anew. Look at the difference.
simulations:
	SEEKSTONE_WRITE_SIMULATIONS=1 $(CARGO) test --release -p seekstone --test interface simulations:: -- \
		--include-ignored --test-threads=1
	SEEKSTONE_WRITE_SIMULATIONS=1 $(CARGO) test --release -p seekstone --test measure -- traps::no_trap \
		abilities::every_kind_has
	SEEKSTONE_WRITE_SIMULATIONS=1 $(CARGO) test --release -p seekstone --test interface \
		baselines::the_documents

# Beside fio, in one interleaved run; needs fio and an otherwise quiet machine.
bench:
	$(CARGO) build --release
	$(CARGO) xtask bench

# What tests of faults, file systems and comparisons use. Without root or apt they are skipped by name.
install-test-tools:
	@.ci/install-test-tools
	@.ci/fio-source >/dev/null || echo "not fetched: the sources of fio; tests that need them are skipped"
