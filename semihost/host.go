package semihost

import (
	"time"
)

// Core is a core that makes a call.
type Core interface {
	// Args are the operation and its parameter.
	Args() (op, param uint32)
	// SetResult sets the register of the result.
	SetResult(v uint32)
	// Read fills p from addr and Write stores p at addr as the core sees
	// memory; false means that not all of it could be reached.
	Read(addr uint32, p []byte) bool
	Write(addr uint32, p []byte) bool
}

// Console is what a program prints on and reads from.
type Console interface {
	// Put prints.
	Put(p []byte)
	// Get takes input. It returns 0 and closed when none will come, 0 and not
	// closed when none is there yet; it never waits.
	Get(p []byte) (n int, closed bool)
}

// Options describe the host's side.
type Options struct {
	// Console is needed.
	Console Console
	// Dir is the folder whose files a program may open; empty means no files.
	Dir string
	// CommandLine is what SYS_GET_CMDLINE answers.
	CommandLine string
	// Elapsed is the time since the program was started, as the program
	// measures it; nil stands still.
	Elapsed func() time.Duration
	// Start is the calendar time at which Elapsed was zero.
	Start time.Time
	// Heap are heap base, heap limit, stack base and stack limit for
	// SYS_HEAPINFO. Zeros tell the program to use its own.
	Heap [4]uint32
	// Notice receives a remark for the person, each one once; may be nil.
	Notice func(text string)
}

// Result is what became of a call.
type Result struct {
	// Again: the call waits for input; nothing was changed, and it is to be
	// made again when there is some.
	Again bool
	// Exit: the program wants to end, with Code as its status. How says by
	// which operation.
	Exit bool
	Code int
	How  string
}

// Host serves the calls of one program. It is used by one goroutine.
type Host struct {
	opt     Options
	files   *Files
	open    map[uint32]*handle
	errno   int32
	noticed map[string]bool
	buf     []byte
}

// New returns a host. It fails if Dir cannot be opened.
func New(opt Options) (*Host, error) {
	if opt.Elapsed == nil {
		opt.Elapsed = func() time.Duration { return 0 }
	}
	h := &Host{opt: opt, open: map[uint32]*handle{}, noticed: map[string]bool{}}
	if opt.Dir != "" {
		f, err := OpenDir(opt.Dir)
		if err != nil {
			return nil, err
		}
		h.files = f
	}
	return h, nil
}

// Reset closes every file the program left open, for a program that starts
// again.
func (h *Host) Reset() {
	for n, f := range h.open {
		f.close()
		delete(h.open, n)
	}
	h.errno = 0
}

// Close closes the files and the folder.
func (h *Host) Close() error {
	h.Reset()
	if h.files == nil {
		return nil
	}
	err := h.files.Close()
	h.files = nil
	return err
}

func (h *Host) notice(text string) {
	if h.opt.Notice == nil || h.noticed[text] {
		return
	}
	h.noticed[text] = true
	h.opt.Notice(text)
}

// fail sets errno and returns the result of a failed call.
func (h *Host) fail(errno int32) uint32 {
	h.errno = errno
	return failed
}
