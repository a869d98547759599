package semihost

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// Error numbers that programs find in errno (newlib's and picolibc's values).
const (
	ePerm   = 1
	eNoEnt  = 2
	eIO     = 5
	eBadF   = 9
	eAccess = 13
	eFault  = 14
	eExist  = 17
	eIsDir  = 21
	eInval  = 22
	eMFile  = 24
	eFBig   = 27
	eNoSpc  = 28
	eNoSys  = 88
)

// maxHandles bounds what a program may hold open.
const maxHandles = 64

// features is the contents of the file ":semihosting-features": the magic
// bytes and one byte of bits: SYS_EXIT_EXTENDED, and ":tt" opened for append
// is standard error.
var features = []byte{'S', 'H', 'F', 'B', 0x03}

type handleKind uint8

const (
	kindFile handleKind = iota
	kindIn              // console, for reading
	kindOut             // console, for writing
	kindFeatures
)

type handle struct {
	kind   handleKind
	file   *File
	pos    int64
	append bool
	write  bool
	read   bool
}

func (f *handle) close() {
	if f.file != nil {
		f.file.Close()
	}
}

// mode is a mode of SYS_OPEN as the flags of C's fopen.
type mode struct {
	read, write, create, truncate, append bool
}

// modes are r, r+, w, w+, a, a+; each comes twice, as text and as binary.
var modes = [6]mode{
	{read: true},
	{read: true, write: true},
	{write: true, create: true, truncate: true},
	{read: true, write: true, create: true, truncate: true},
	{write: true, create: true, append: true},
	{read: true, write: true, create: true, append: true},
}

func (h *Host) openFile(c Core, addr, m, n uint32) uint32 {
	name, ok := h.name(c, addr, n)
	if !ok {
		return failed
	}
	if m >= 2*uint32(len(modes)) {
		return h.fail(eInval)
	}
	md := modes[m/2]
	if len(h.open) >= maxHandles {
		return h.fail(eMFile)
	}
	var f *handle
	switch name {
	case ":tt":
		f = &handle{kind: kindOut, write: true}
		if md.read && !md.write {
			f = &handle{kind: kindIn, read: true}
		}
	case ":semihosting-features":
		if md.write {
			return h.fail(eAccess)
		}
		f = &handle{kind: kindFeatures, read: true}
	default:
		if h.files == nil {
			h.notice("the program wanted to open a file, but no folder was given for files")
			return h.fail(eAccess)
		}
		file, err := h.files.openMode(name, md)
		if err != nil {
			return h.fail(errnoOf(err))
		}
		f = &handle{kind: kindFile, file: file, read: md.read, write: md.write, append: md.append}
	}
	for id := uint32(1); ; id++ {
		if h.open[id] == nil {
			h.open[id] = f
			return id
		}
	}
}

func (h *Host) closeFile(id uint32) uint32 {
	f := h.open[id]
	if f == nil {
		return h.fail(eBadF)
	}
	delete(h.open, id)
	f.close()
	return 0
}

// write returns the number of bytes that were not written.
func (h *Host) write(c Core, id, addr, n uint32) uint32 {
	f := h.open[id]
	if f == nil || !f.write {
		h.errno = eBadF
		return n
	}
	for n > 0 {
		p := h.buffer(min(n, chunk))
		if !c.Read(addr, p) {
			h.errno = eFault
			return n
		}
		if f.kind == kindOut {
			h.opt.Console.Put(p)
		} else {
			if f.append {
				size, err := f.file.Size()
				if err != nil {
					h.errno = errnoOf(err)
					return n
				}
				f.pos = size
			}
			done, err := f.file.WriteAt(p, f.pos)
			f.pos += int64(done)
			if err != nil {
				h.errno = errnoOf(err)
				return n - uint32(done)
			}
		}
		addr += uint32(len(p))
		n -= uint32(len(p))
	}
	return 0
}

// read returns the number of bytes that were not read; again means that the
// console has nothing yet.
func (h *Host) read(c Core, block uint32) (v uint32, again bool) {
	w, ok := words(c, block, 3)
	if !ok {
		return h.fail(eFault), false
	}
	id, addr, n := w[0], w[1], w[2]
	f := h.open[id]
	if f == nil || !f.read {
		h.errno = eBadF
		return failed, false
	}
	for n > 0 {
		p := h.buffer(min(n, chunk))
		var got int
		switch f.kind {
		case kindIn:
			var closed bool
			got, closed = h.opt.Console.Get(p)
			if got == 0 && !closed {
				return 0, true
			}
		case kindFeatures:
			got = copy(p, features[min(f.pos, int64(len(features))):])
		default:
			var err error
			got, err = f.file.ReadAt(p, f.pos)
			if err != nil && !errors.Is(err, io.EOF) {
				h.errno = errnoOf(err)
				return failed, false
			}
		}
		if !c.Write(addr, p[:got]) {
			h.errno = eFault
			return failed, false
		}
		f.pos += int64(got)
		n -= uint32(got)
		addr += uint32(got)
		// A console gives a line at a time, a file all there is.
		if got < len(p) || f.kind == kindIn {
			break
		}
	}
	return n, false
}

func (h *Host) isTTY(id uint32) uint32 {
	f := h.open[id]
	if f == nil {
		return h.fail(eBadF)
	}
	if f.kind == kindIn || f.kind == kindOut {
		return 1
	}
	return 0
}

func (h *Host) seek(id, pos uint32) uint32 {
	f := h.open[id]
	if f == nil {
		return h.fail(eBadF)
	}
	if f.kind == kindIn || f.kind == kindOut {
		return h.fail(eInval)
	}
	f.pos = int64(pos)
	return 0
}

func (h *Host) length(id uint32) uint32 {
	f := h.open[id]
	switch {
	case f == nil:
		return h.fail(eBadF)
	case f.kind == kindFeatures:
		return uint32(len(features))
	case f.kind != kindFile:
		return h.fail(eInval)
	}
	n, err := f.file.Size()
	if err != nil {
		return h.fail(errnoOf(err))
	}
	return uint32(min(n, 0x7fffffff))
}

func (h *Host) buffer(n uint32) []byte {
	if uint32(cap(h.buf)) < n {
		h.buf = make([]byte, n)
	}
	return h.buf[:n]
}

// errnoOf maps an error of the file system to the program's errno.
func errnoOf(err error) int32 {
	switch {
	case errors.Is(err, errQuota):
		return eFBig
	case errors.Is(err, errRefused):
		return eAccess
	case errors.Is(err, fs.ErrNotExist):
		return eNoEnt
	case errors.Is(err, fs.ErrExist):
		return eExist
	case errors.Is(err, fs.ErrPermission):
		return eAccess
	case errors.Is(err, syscall.EISDIR):
		return eIsDir
	case errors.Is(err, syscall.ENOSPC):
		return eNoSpc
	}
	return eIO
}
