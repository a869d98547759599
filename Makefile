# stem-hw: build, run, test. `make help` lists the targets.

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

SHELL  := /bin/sh
GO     ?= go
PREFIX ?= /usr/local
DESTDIR ?=

# USB needs cgo with libusb and libudev; all the rest does without. Where they
# are missing everything but USB is built, as with CGO_ENABLED=0. The variable
# is looked up anew for each command, since scripts/setup may install them.
ifeq ($(origin CGO_ENABLED),undefined)
CGO_ENABLED = $(shell scripts/setup has-usb && echo 1 || echo 0)
export STEM_HW_WANT_USB := 1
endif
export CGO_ENABLED
# Podman's bindings are linked with these tags; without them sessions run on the
# host alone. -tags on a command line takes the place of the one in GOFLAGS.
TAGS := containers_image_openpgp,exclude_graphdriver_btrfs
override GOFLAGS := -tags=$(TAGS) $(GOFLAGS)
export GOFLAGS

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
BIN     := bin/stem-hw

# Every tier but test-board stays on the simulated board, whatever is plugged in.
test test-peers test-rig soak bench fuzz peers run: export STEM_HW_BOARD = sim

# The QEMU of Debian 12 is too old for the RISC-V extensions.
test-peers soak: export STEM_QEMU_RISCV32 ?= $(CURDIR)/scripts/root exec qemu qemu-system-riscv32

CITOOL := $(GO) run ./internal/citool
CACHE  := $${XDG_CACHE_HOME:-$$HOME/.cache}/stem-hw

GOLANGCI_VERSION := v2.15.0
GOLANGCI := $(CACHE)/tools/golangci-lint-$(GOLANGCI_VERSION)

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

.PHONY: build
build: setup-run ## build bin/stem-hw
	@$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/stem-hw

.PHONY: run
run: build ## run the main example on the simulated board
	@$(BIN) run -b sim examples/hello/hello.elf

.PHONY: test
test: setup-test ## unit and integration tests: no root, no VM
	@$(CITOOL) test -- $(GO) test -json $(TESTFLAGS) ./...

# BOARD is one on the USB, STEM_HW_TEST_PROBE a probe with one behind it. The
# transcript has every command that a board was given.
.PHONY: test-board
test-board: setup-test ## the conformance suite on a real board (BOARD=, or behind STEM_HW_TEST_PROBE), with a transcript
	@[ -n "$(BOARD)$(STEM_HW_TEST_PROBE)" ] || { echo 'usage: make test-board BOARD=serial-number (or usb:3-1.2), or STEM_HW_TEST_PROBE=serial-number; stem-hw list shows them' >&2; exit 2; }
	@mkdir -p build
	@f=build/test-board-$$(date +%Y%m%d-%H%M%S).txt; \
		STEM_HW_BOARD='$(BOARD)' bash -o pipefail -c '$(GO) test -tags "$(TAGS),board" -count 1 -v -run "^TestBoard" $(TESTFLAGS) \
		$(if $(BOARD),./bootsel) $(if $(STEM_HW_TEST_PROBE),./probe) 2>&1 | tee "$$0"' "$$f"; \
		rc=$$?; echo "transcript: $$f"; exit $$rc

.PHONY: test-peers
test-peers: setup-peers ## tests against other people's tools, from apt and mmdebstrap
	@scripts/root path qemu >/dev/null
	@$(CITOOL) test-peers -- $(GO) test -json -tags peers,$(TAGS) -timeout 30m -p 1 -run '^TestPeer' $(TESTFLAGS) ./...

PKG ?= ./...
RUN ?= ^TestRig
.PHONY: test-rig
test-rig: setup-rig ## tests in a virtual machine with a USB stack (PKG=, RUN=)
	@$(CITOOL) $(RIGVERBOSE) test-rig -- $(GO) run ./internal/rig/runner -run '$(RUN)' $(RIGFLAGS) $(PKG)

.PHONY: rig
rig: setup-rig ## build that machine, outside the clone
	@scripts/rig path

SOAK ?= 1000000
.PHONY: soak
soak: setup-peers ## long random tests, SOAK rounds or instructions each
	@scripts/root path qemu >/dev/null
	@STEM_HW_SOAK=$(SOAK) STEM_LOCKSTEP=$(SOAK) $(CITOOL) soak -- $(GO) test -json -tags peers,$(TAGS) -timeout 12h -count 1 -p 1 \
		-run '^(TestSoak|TestPeerSoak|TestPeerLockstep|TestPeerRandom)' $(TESTFLAGS) ./...

FUZZTIME ?= 20s
.PHONY: fuzz
fuzz: setup-test ## every fuzz test for FUZZTIME
	@scripts/fuzz $(FUZZTIME)

.PHONY: bench
bench: setup-bench ## benchmarks
	@$(GO) test -run '^$$' -bench . -benchmem $(TESTFLAGS) ./...

.PHONY: lint
lint: setup-run $(if $(NOGOLANGCI),,golangci) ## gofmt, vet, golangci-lint, shell scripts
	@scripts/lint "$(GOLANGCI)"

# Built from source with the module proxy's checksums, once per version, outside
# the clone.
.PHONY: golangci
golangci:
	@[ -x "$(GOLANGCI)" ] || scripts/golangci "$(GOLANGCI)" $(GOLANGCI_VERSION)

.PHONY: examples
examples: ## build the example firmware (needs a RISC-V gcc 14 or a trixie root)
	@scripts/examples build

.PHONY: peers
peers: ## run every firmware of DIR against its expect.tsv
	@[ -n "$(DIR)" ] || { echo 'usage: make peers DIR=folder-with-expect.tsv' >&2; exit 2; }
	@$(GO) run ./internal/peers $(PEERSFLAGS) "$(DIR)"

.PHONY: judges
judges: setup-test ## let the OpenOCDs of OPENOCD, and the riscv-tests of SUITE, judge the debug port; compare flashing
	@[ -n "$(OPENOCD)$(SUITE)" ] || { echo 'usage: make judges OPENOCD="/path/to/openocd …" SUITE=/path/to/riscv-tests' >&2; exit 2; }
	@[ -z "$(SUITE)" ] || scripts/setup go suite
	@OPENOCD="$(OPENOCD)" SUITE="$(SUITE)" $(GO) test -tags judges,$(TAGS) -count 1 -timeout 2h -v -run '^TestJudges' ./sim/debugport $(if $(OPENOCD),./probe)

.PHONY: openocd-verbs
openocd-verbs: setup-test ## every verb through the OpenOCDs of OPENOCD, on both architectures
	@[ -n "$(OPENOCD)" ] || { echo 'usage: make openocd-verbs OPENOCD="/path/to/openocd …"' >&2; exit 2; }
	@OPENOCD="$(OPENOCD)" $(GO) test -tags judges,$(TAGS) -count 1 -timeout 2h -v -run '^TestJudges(OpenOCDVerbs|Conformance)' ./openocd ./cmd/stem-hw

.PHONY: docs
docs: setup-run ## write the generated man pages, docs/cli and udev rules again
	@STEM_HW_DOCS=write $(GO) test -count 1 -run '^TestGenerated' ./cmd/stem-hw ./udev-rules

.PHONY: install
install: build ## install to PREFIX (DESTDIR for packagers)
	@scripts/install "$(BIN)" "$(DESTDIR)" "$(PREFIX)"

.PHONY: uninstall
uninstall: ## remove what install put there
	@scripts/install -u "$(DESTDIR)" "$(PREFIX)"

.PHONY: clean
clean: ## remove what was built (not the caches outside the clone)
	@rm -rf bin build

.PHONY: setup-run setup-test setup-bench setup-peers setup-rig
setup-run:
	@scripts/setup go run
setup-test:
	@scripts/setup go test
setup-bench:
	@scripts/setup go bench
setup-peers:
	@scripts/setup go peers
setup-rig:
	@scripts/setup go rig
