//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// tags are those of the binaries.
const tags = "rig,containers_image_openpgp,exclude_graphdriver_btrfs"

// systemd is the flavour of boot with systemd as process 1.
const systemd = "systemd"

// suite is one test binary in one flavour of boot.
type suite struct {
	pkg     string // import path
	dir     string // in the clone
	binary  string // in the shared folder
	flavour string
}

func of(suites []suite, flavour string) (some []suite) {
	for _, s := range suites {
		if s.flavour == flavour {
			some = append(some, s)
		}
	}
	return some
}

// builder builds what the guest runs.
type builder struct {
	ctx     context.Context
	top, io string
	events  *events
}

// goTool runs the go command with cgo.
func (b *builder) goTool(cgo string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(b.ctx, "go", args...)
	cmd.Dir = b.top
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.Stderr, fmt.Errorf("go %s: %w", args[0], err)
	}
	return out, err
}

func (b *builder) build(o *options) ([]suite, error) {
	if out, err := b.goTool("0", "build", "-ldflags", "-s -w", "-o", filepath.Join(b.io, "agent"), "./internal/rig/agent"); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(b.io, "bin"), 0o755); err != nil {
		return nil, err
	}
	if out, err := b.goTool("1", "build", "-tags", tags, "-o", filepath.Join(b.io, "bin")+"/", "./cmd/stem-hw"); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	script, err := os.ReadFile(filepath.Join(b.top, "internal/rig/guest/init.sh"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(b.io, "init"), script, 0o755); err != nil { //nolint:gosec // the guest executes it
		return nil, err
	}
	found, err := b.find(o.packages)
	if err != nil {
		return nil, err
	}
	var suites []suite
	built := map[string]string{}
	for i, s := range found {
		if s.binary = built[s.pkg]; s.binary != "" {
			suites = append(suites, s)
			continue
		}
		s.binary = fmt.Sprintf("%d.test", i)
		built[s.pkg] = s.binary
		out, err := b.goTool("1", "test", "-c", "-tags", tags, "-o", filepath.Join(b.io, s.binary), s.pkg)
		if err != nil {
			b.events.notBuilt(s.pkg, string(out))
			continue
		}
		fmt.Fprintf(os.Stderr, "rig: built %s\n", s.pkg)
		suites = append(suites, s)
	}
	return suites, nil
}

var rigTest = regexp.MustCompile(`(?m)^func (TestRig\w*)\(`)

// kinds says which boots the tests of a file want.
func kinds(src []byte) (plain, init bool) {
	for _, m := range rigTest.FindAllSubmatch(src, -1) {
		if strings.HasPrefix(string(m[1]), "TestRigSystemd") {
			init = true
		} else {
			plain = true
		}
	}
	return plain, init
}

// find lists the packages that have such tests.
func (b *builder) find(patterns []string) (suites []suite, err error) {
	type listed struct {
		ImportPath, Dir           string
		TestGoFiles, XTestGoFiles []string
	}
	out, err := b.goTool("1", append([]string{"list", "-tags", tags, "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}, patterns...)...)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return suites, nil
		} else if err != nil {
			return nil, err
		}
		plain, init := false, false
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			src, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			p, i := kinds(src)
			plain, init = plain || p, init || i
		}
		dir, err := filepath.Rel(b.top, p.Dir)
		if err != nil {
			return nil, err
		}
		if plain {
			suites = append(suites, suite{pkg: p.ImportPath, dir: dir})
		}
		if init {
			suites = append(suites, suite{pkg: p.ImportPath, dir: dir, flavour: systemd})
		}
	}
}

// machine returns the folder of the virtual machine, which is made if need be.
func machine(ctx context.Context, top string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(top, "scripts/rig"), "path")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("scripts/rig: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
