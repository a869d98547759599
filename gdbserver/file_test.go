package gdbserver

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// folder is a file system of one folder in memory.
type folder map[string]*text

type text struct {
	data   []byte
	closed int
	broken bool
}

func (d folder) Open(name string, flags int, _ uint32) (File, error) {
	f := d[name]
	if f == nil && flags&0x200 == 0 {
		return nil, errors.New("no such file")
	}
	if f == nil {
		f = &text{}
		d[name] = f
	}
	return f, nil
}

func (d folder) Remove(name string) error {
	if d[name] == nil {
		return errors.New("no such file")
	}
	delete(d, name)
	return nil
}

func (f *text) ReadAt(p []byte, off int64) (int, error) {
	if f.broken {
		return 0, errors.New("broken")
	}
	return program(f.data).ReadAt(p, off)
}

func (f *text) WriteAt(p []byte, off int64) (int, error) {
	if f.broken {
		return 0, errors.New("broken")
	}
	for int64(len(f.data)) < off+int64(len(p)) {
		f.data = append(f.data, 0)
	}
	return copy(f.data[off:], p), nil
}

func (f *text) Close() error {
	f.closed++
	if f.broken {
		return errors.New("broken")
	}
	return nil
}

func (f *text) Size() (int64, error) {
	if f.broken {
		return 0, errors.New("broken")
	}
	return int64(len(f.data)), nil
}

func TestFiles(t *testing.T) {
	dir := folder{"notes": {data: []byte("some notes")}, "bad": {broken: true}}
	elf := []byte("\x7fELF and more than that")
	s := newSession(t, newFake(), func(o *Options) { o.Files, o.ELF, o.ELFPath = dir, elf, "/p/app.elf" })
	open := func(name string, flags int) string {
		return fmt.Sprintf("vFile:open:%s,%x,1b6", hexOf(name), flags)
	}
	// The program's own file, read only.
	s.want(open("/p/app.elf", 0), "F3")
	s.want("vFile:pread:3,4,1", "F4;ELF ")
	s.want("vFile:pread:3,1000,5", "F12;and more than that")
	s.want("vFile:pread:3,10,7fffffffffffffff", "F0;")
	s.want("vFile:pread:3,10,ffffffffffffffff", "F-1,9")
	s.want("vFile:fstat:3", "F40;…")
	s.want("vFile:pwrite:3,0,x", "F-1,d")
	s.want(open("/p/app.elf", 1), "F-1,d")
	// The folder.
	s.want(open("notes", 0), "F4")
	s.want("vFile:pread:4,4,0", "F4;some")
	s.want(open("new", 0x201), "F5")
	s.want("vFile:pwrite:5,2,a,b;c#}", "F7")
	if got := string(dir["new"].data); got != "\x00\x00a,b;c#}" {
		t.Errorf("written %q", got)
	}
	s.want(open("missing", 0), "F-1,d")
	s.want("vFile:close:4", "F0")
	s.want("vFile:close:4", "F-1,9")
	s.want("vFile:unlink:"+hexOf("notes"), "F0")
	s.want("vFile:unlink:"+hexOf("notes"), "F-1,d")
	// Errors of the host.
	s.want(open("bad", 2), "F4")
	s.want("vFile:pread:4,1,0", "F-1,16")
	s.want("vFile:pwrite:4,0,x", "F-1,d")
	s.want("vFile:fstat:4", "F-1,16")
	s.want("vFile:close:4", "F-1,16")
	// No more than the limit, and all are closed at the end.
	for i := 2; i < maxOpenFiles; i++ {
		if got := s.ask(open("new", 0)); !strings.HasPrefix(got, "F") || strings.HasPrefix(got, "F-") {
			t.Fatalf("file %d: %s", i, got)
		}
	}
	s.want(open("new", 0), "F-1,18")
	s.leave()
	if got, want := dir["new"].closed, maxOpenFiles; got != want {
		t.Errorf("closed %d times, want %d", got, want)
	}
}
