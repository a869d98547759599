//go:build unix

package image

import (
	"errors"
	"runtime/debug"
	"syscall"

	"github.com/stem-hw/stem-hw/faults"
)

// With opens an image for the time of use. A large file is mapped instead of
// read, so that only what is looked at costs time and memory. The image must
// not be kept: its contents are gone when use returns. A file that shrinks
// meanwhile is a fault.
func With(path string, opt Options, use func(*Image) error) (err error) {
	f, size, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if size < 256*1024 {
		im, err := OpenWith(path, opt)
		if err != nil {
			return err
		}
		return use(im)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		im, err := OpenWith(path, opt)
		if err != nil {
			return err
		}
		return use(im)
	}
	defer func() { _ = syscall.Munmap(data) }()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		var fault interface{ Addr() uintptr }
		if e, ok := r.(error); !ok || !errors.As(e, &fault) {
			panic(r)
		}
		err = &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusImage,
			Summary: path + ": the file changed while it was read", Try: []string{"the same command again"}}
	}()
	if opt.Format == "" {
		// Tell the format by the beginning alone, as OpenWith does.
		if opt.Format, err = detect(path, data[:min(len(data), headSize)]); err != nil {
			return err
		}
	}
	parse := Parse
	if opt.Format == FormatUF2 {
		// A stream needs half the room of the file.
		parse = func(path string, _ []byte, opt Options) (*Image, error) { return OpenWith(path, opt) }
	}
	im, err := parse(path, data, opt)
	if err != nil {
		return err
	}
	return use(im)
}
