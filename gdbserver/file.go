package gdbserver

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Files is the host's file system as far as a client may see it (gdb's
// "remote get|put|delete"). Its rules are those of semihosting.
type Files interface {
	// Open opens a file; flags are those of gdb's File-I/O protocol.
	Open(name string, flags int, mode uint32) (File, error)
	// Remove deletes a file.
	Remove(name string) error
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Size is the present size in bytes.
	Size() (int64, error)
}

// Error numbers of gdb's File-I/O protocol (GDB manual, "Errno Values").
const (
	errnoNoEnt  = 2
	errnoBadF   = 9
	errnoAccess = 13
	errnoInval  = 22
	errnoMFile  = 24
	errnoNoSys  = 88
)

// maxOpenFiles bounds what one client may hold open.
const maxOpenFiles = 16

// openFiles are the files a client holds open, by descriptor.
type openFiles map[int]File

func (o *openFiles) add(f File) int {
	if *o == nil {
		*o = make(openFiles)
	}
	for fd := 3; fd < 3+maxOpenFiles; fd++ {
		if (*o)[fd] == nil {
			(*o)[fd] = f
			return fd
		}
	}
	return -1
}

func (o openFiles) closeAll() {
	for fd, f := range o {
		_ = f.Close()
		delete(o, fd)
	}
}

// file serves the vFile requests: the program's own file, read only, and what
// Options.Files offers.
func (c *conn) file(req string) error {
	op, arg, _ := strings.Cut(req, ":")
	switch op {
	case "setfs":
		return c.sendString("F0")
	case "open":
		return c.fileOpen(arg)
	case "close":
		fd, ok := parseHex(arg, 31)
		f := c.files[int(fd)]
		if !ok || f == nil {
			return c.fileError(errnoBadF)
		}
		delete(c.files, int(fd))
		if f.Close() != nil {
			return c.fileError(errnoInval)
		}
		return c.sendString("F0")
	case "pread":
		return c.filePread(arg)
	case "pwrite":
		return c.filePwrite(arg)
	case "fstat":
		return c.fileStat(arg)
	case "unlink":
		name, ok := unhex(arg)
		if !ok || c.s.opt.Files == nil || c.s.opt.Files.Remove(string(name)) != nil {
			return c.fileError(errnoAccess)
		}
		return c.sendString("F0")
	}
	return c.sendString("")
}

func (c *conn) fileError(errno int) error {
	return c.sendString(fmt.Sprintf("F-1,%x", errno))
}

func (c *conn) fileOpen(arg string) error {
	p := strings.Split(arg, ",")
	if len(p) != 3 {
		return c.fileError(errnoInval)
	}
	name, ok := unhex(p[0])
	flags, ok2 := parseHex(p[1], 32)
	mode, ok3 := parseHex(p[2], 32)
	if !ok || !ok2 || !ok3 {
		return c.fileError(errnoInval)
	}
	var f File
	switch {
	case len(c.s.opt.ELF) > 0 && string(name) == c.s.opt.ELFPath && flags&3 == 0:
		f = program(c.s.opt.ELF)
	case c.s.opt.Files != nil:
		opened, err := c.s.opt.Files.Open(string(name), int(flags), uint32(mode))
		if err != nil {
			return c.fileError(errnoAccess)
		}
		f = opened
	default:
		return c.fileError(errnoNoEnt)
	}
	fd := c.files.add(f)
	if fd < 0 {
		_ = f.Close()
		return c.fileError(errnoMFile)
	}
	return c.sendString(fmt.Sprintf("F%x", fd))
}

func (c *conn) filePread(arg string) error {
	p := strings.Split(arg, ",")
	if len(p) != 3 {
		return c.fileError(errnoInval)
	}
	fd, ok1 := parseHex(p[0], 31)
	n, ok2 := parseHex(p[1], 31)
	off, ok3 := parseHex(p[2], 63)
	f := c.files[int(fd)]
	if !ok1 || !ok2 || !ok3 || f == nil {
		return c.fileError(errnoBadF)
	}
	// Escaping may double the data.
	buf := make([]byte, min(int(n), maxPacket/2-32))
	got, err := f.ReadAt(buf, int64(off))
	if err != nil && !errors.Is(err, io.EOF) {
		return c.fileError(errnoInval)
	}
	return c.send(append(fmt.Appendf(nil, "F%x;", got), buf[:got]...))
}

func (c *conn) filePwrite(arg string) error {
	p := strings.SplitN(arg, ",", 3)
	if len(p) != 3 {
		return c.fileError(errnoInval)
	}
	fd, ok1 := parseHex(p[0], 31)
	off, ok2 := parseHex(p[1], 63)
	f := c.files[int(fd)]
	if !ok1 || !ok2 || f == nil {
		return c.fileError(errnoBadF)
	}
	n, err := f.WriteAt([]byte(p[2]), int64(off))
	if err != nil {
		return c.fileError(errnoAccess)
	}
	return c.sendString(fmt.Sprintf("F%x", n))
}

// fileStat serves fstat: 64 bytes, big-endian, of which gdb uses the size
// (GDB manual, "struct stat").
func (c *conn) fileStat(arg string) error {
	fd, ok := parseHex(arg, 31)
	f := c.files[int(fd)]
	if !ok || f == nil {
		return c.fileError(errnoBadF)
	}
	size, err := f.Size()
	if err != nil {
		return c.fileError(errnoInval)
	}
	const sizeOffset = 28
	st := make([]byte, 64)
	for i := range 8 {
		st[sizeOffset+i] = byte(size >> (56 - 8*i))
	}
	return c.send(append([]byte("F40;"), st...))
}

// program is the program's own file.
type program []byte

func (p program) ReadAt(b []byte, off int64) (int, error) {
	if off >= int64(len(p)) {
		return 0, io.EOF
	}
	n := copy(b, p[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (p program) WriteAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }
func (p program) Close() error                       { return nil }
func (p program) Size() (int64, error)               { return int64(len(p)), nil }
