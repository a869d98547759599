package targettest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target"
)

// Capability names one capability of package target.
type Capability string

// The capabilities.
const (
	Halter  Capability = "Halter"
	Memory  Capability = "Memory"
	Flasher Capability = "Flasher"
	Runner  Capability = "Runner"
)

// Case is an implementation under test.
type Case struct {
	// New makes a target with nothing loaded. It is called for each check, and
	// the suite closes what it returns.
	New func(t *testing.T) target.Target
	// Must lists the capabilities the implementation has to have.
	Must []Capability
	// At is where the program may be loaded: memory that is executable and
	// writable.
	At uint32
	// Arch is the architecture of the program.
	Arch image.Arch
	// Flash is the address of a flash sector that may be erased; used where the
	// target is a Flasher.
	Flash uint32
	// Deterministic is true where two runs must be the same to the cycle.
	Deterministic bool
}

// patience bounds how long anything may take before the check fails.
const patience = 30 * time.Second

// Run checks an implementation.
func Run(t *testing.T, c Case) {
	t.Run("Capabilities", c.capabilities)
	t.Run("Base", c.base)
	d := c.with(t, func(*fixture) {})
	if d[Halter] {
		t.Run("Halter", c.halter)
	}
	if d[Memory] {
		t.Run("Memory", c.memory)
	}
	if d[Flasher] {
		t.Run("Flasher", c.flasher)
	}
	if d[Runner] && d[Halter] {
		t.Run("Runner", c.runner)
	}
}

// fixture is one target with the program.
type fixture struct {
	*testing.T
	ctx  context.Context
	t    target.Target
	p    *Program
	desc target.Description
}

// with makes a target, lets f use it and returns the capabilities it has.
func (c Case) with(t *testing.T, f func(*fixture)) map[Capability]bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tg := c.New(t)
	defer func() {
		if err := tg.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()
	f(&fixture{T: t, ctx: ctx, t: tg, p: ProgramFor(c.Arch, c.At), desc: tg.Describe()})
	return has(tg)
}

func has(t target.Target) map[Capability]bool {
	m := map[Capability]bool{}
	_, m[Halter] = t.(target.Halter)
	_, m[Memory] = t.(target.Memory)
	_, m[Flasher] = t.(target.Flasher)
	_, m[Runner] = t.(target.Runner)
	return m
}

func (c Case) capabilities(t *testing.T) {
	got := c.with(t, func(*fixture) {})
	for _, want := range c.Must {
		if !got[want] {
			t.Errorf("the target lacks the capability %s, which its list says it must have", want)
		}
	}
	for k, ok := range got {
		if ok && !slices.Contains(c.Must, k) {
			t.Errorf("the target has the capability %s, which is not in its list: add it there", k)
		}
	}
}

// base checks what every target promises.
func (c Case) base(t *testing.T) {
	t.Run("Describe", func(t *testing.T) {
		c.with(t, func(f *fixture) { f.describe(c.Arch) })
	})
	t.Run("LoadTwice", func(t *testing.T) {
		c.with(t, func(f *fixture) {
			for range 2 {
				if err := f.t.Load(f.ctx, f.p.Image); err != nil {
					f.Fatalf("Load: %v", err)
				}
			}
		})
	})
	t.Run("LoadNowhere", func(t *testing.T) {
		c.with(t, func(f *fixture) {
			bad := *f.p.Image
			bad.Segments = []image.Segment{{Addr: 0x6fff0000, Data: []byte{1, 2, 3, 4}, Name: "segment 0"}}
			bad.Entry = bad.Segments[0].Addr
			if err := f.t.Load(f.ctx, &bad); err == nil {
				f.Error("an image for an address without memory was loaded without an error")
			}
			if err := f.t.Load(f.ctx, f.p.Image); err != nil {
				f.Errorf("a good image cannot be loaded after a bad one: %v", err)
			}
		})
	})
	t.Run("Close", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		tg := c.New(t)
		for i := range 2 {
			if err := tg.Close(); err != nil {
				t.Errorf("Close, call %d: %v", i+1, err)
			}
		}
		if err := tg.Load(ctx, ProgramFor(c.Arch, c.At).Image); err == nil {
			t.Error("Load works after Close")
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Error("a call after Close hangs")
		}
	})
}

// describe checks that a description makes sense.
func (f *fixture) describe(arch image.Arch) {
	d := f.desc
	if d.Name == "" {
		f.Error("Name is empty")
	}
	if d.Arch != arch {
		f.Errorf("Arch is %q, the case says %q", d.Arch, arch)
	}
	if len(d.Cores) == 0 {
		f.Error("there are no cores")
	}
	for i, core := range d.Cores {
		if core.ID != i || core.Name == "" {
			f.Errorf("core %d is %+v: cores are numbered from 0 and have names", i, core)
		}
	}
	var end uint64
	for i, r := range d.Memory {
		if r.Size == 0 || r.Name == "" || r.Kind == "" {
			f.Errorf("memory region %d is incomplete: %+v", i, r)
		}
		if uint64(r.Base) < end {
			f.Errorf("memory region %q at %#x overlaps the one before, or the map is not sorted", r.Name, r.Base)
		}
		end = uint64(r.Base) + uint64(r.Size)
		if end > 1<<32 {
			f.Errorf("memory region %q goes over the end of the address space", r.Name)
		}
		if r.Kind == target.RegionFlash && r.Sector == 0 {
			f.Errorf("flash region %q has no sector size", r.Name)
		}
	}
	nums, names := map[int]bool{}, map[string]bool{}
	for _, r := range d.Registers {
		if nums[r.Num] || names[r.Name] {
			f.Errorf("register %d %q is there twice", r.Num, r.Name)
		}
		if r.Bits <= 0 || r.Feature == "" {
			f.Errorf("register %q has no size or no feature", r.Name)
		}
		nums[r.Num], names[r.Name] = true, true
	}
	if _, ok := f.t.(target.Halter); ok && !nums[f.p.PC] {
		f.Errorf("the program counter, register %d, is not described", f.p.PC)
	}
}
