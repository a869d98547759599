# stem-hw: build, run, test. `make help` lists the targets.

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.NOTPARALLEL:

SHELL  := /bin/sh
GO     ?= go
PREFIX ?= /usr/local
DESTDIR ?=

# No package needs cgo yet; set CGO_ENABLED=1 to let the go command decide.
export CGO_ENABLED ?= 0
export GOFLAGS ?=

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)
BIN     := bin/stem-hw

# Every tier but test-board stays on the simulated board, whatever is plugged in.
test test-peers soak bench fuzz peers run: export STEM_HW_BOARD = sim

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

.PHONY: test-peers
test-peers: setup-peers ## tests against other people's tools, from apt and mmdebstrap
	@scripts/root path qemu >/dev/null
	@$(CITOOL) test-peers -- $(GO) test -json -tags peers -timeout 30m -p 1 -run '^TestPeer' $(TESTFLAGS) ./...

SOAK ?= 1000000
.PHONY: soak
soak: setup-peers ## long random tests, SOAK rounds or instructions each
	@scripts/root path qemu >/dev/null
	@STEM_HW_SOAK=$(SOAK) STEM_LOCKSTEP=$(SOAK) $(CITOOL) soak -- $(GO) test -json -tags peers -timeout 12h -count 1 -p 1 \
		-run '^(TestSoak|TestPeerSoak|TestPeerLockstep|TestPeerRandom)' $(TESTFLAGS) ./...

FUZZTIME ?= 20s
.PHONY: fuzz
fuzz: setup-test ## every fuzz test for FUZZTIME
	@scripts/fuzz $(FUZZTIME)

.PHONY: bench
bench: setup-test ## benchmarks
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
judges: setup-test ## let the OpenOCDs of OPENOCD attach to the simulated debug port
	@[ -n "$(OPENOCD)" ] || { echo 'usage: make judges OPENOCD="/path/to/openocd …"' >&2; exit 2; }
	@OPENOCD="$(OPENOCD)" $(GO) test -tags judges -count 1 -timeout 1h -v -run '^TestJudges$$' ./sim/debugport

.PHONY: docs
docs: setup-run ## write the generated man pages and docs/cli again
	@STEM_HW_DOCS=write $(GO) test -count 1 -run '^TestGenerated' ./cmd/stem-hw

.PHONY: install
install: build ## install to PREFIX (DESTDIR for packagers)
	@scripts/install "$(BIN)" "$(DESTDIR)" "$(PREFIX)"

.PHONY: uninstall
uninstall: ## remove what install put there
	@scripts/install -u "$(DESTDIR)" "$(PREFIX)"

.PHONY: clean
clean: ## remove what was built (not the caches outside the clone)
	@rm -rf bin build

.PHONY: setup-run setup-test setup-peers
setup-run:
	@scripts/setup go run
setup-test:
	@scripts/setup go test
setup-peers:
	@scripts/setup go peers
