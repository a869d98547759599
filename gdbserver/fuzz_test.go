package gdbserver

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/target"
)

// FuzzSession feeds requests to a connection with a fake target: it must end
// when the client goes, whatever was asked, and send no packet that is longer
// than gdb reads. Requests are separated by newlines; one that begins with '!'
// goes to the wire as it is, the others are framed.
func FuzzSession(f *testing.F) {
	for _, s := range []string{
		"qSupported:swbreak+;hwbreak+\nQStartNoAckMode\n?\nqfThreadInfo\nHg2\ng\np341\nP1=00000000\nqC",
		"Z0,10000000,2\nvCont;c\n!\x03\nz0,10000000,2\nvCont;r10000000,10000004:1;c:-1\ns\nc20000000\n?\nm20000000,8",
		"vFlashErase:10000000,2000\nvFlashWrite:10000ffe:abcd\nvFlashDone\nqCRC:20000000,ffffffff\nX20000000,3:abc\nM40120000,1:00",
		"qXfer:features:read:target.xml:0,ffffffff\nqXfer:threads:read::0,10\nqSymbol::\nqSymbol:20000000:7078437572726e7454434273\nqSymbol:20000000:7078526561647954",
		"vFile:open:6e6f746573,201,1b6\nvFile:pwrite:3,7fff,x\nvFile:pread:3,ffff,0\nvFile:fstat:3\nvFile:close:3\nvRun;\nvAttach;1\n!-\n!$?#00",
		"qRcmd,726573657420696e6974\nqRcmd,68656c70\nk\n!\nk\nR00\nD\n?",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		// A file that grows by a write far behind its end is the host's matter.
		if len(script) > 4096 {
			return
		}
		dir := folder{"notes": {data: []byte("some notes")}}
		srv, err := New(Options{
			Target: newFake(), RTOS: "auto", ELFPath: "/p/app.elf", Files: bounded{dir},
			Protect: []target.Region{{Name: "OTP", Base: 0x40120000, Size: 0x20000}},
			Log:     io.Discard,
		})
		if err != nil {
			t.Fatal(err)
		}
		near, far := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			srv.ServeConn(context.Background(), far)
		}()
		answers := make(chan int)
		go func() {
			longest, here := 0, 0
			p := make([]byte, 4096)
			for {
				n, err := near.Read(p)
				for _, b := range p[:n] {
					here++
					if b == '$' {
						here = 0
					}
					longest = max(longest, here)
				}
				if err != nil {
					answers <- longest
					return
				}
			}
		}()
		for _, line := range bytes.Split(script, []byte{'\n'}) {
			if raw, ok := bytes.CutPrefix(line, []byte{'!'}); ok {
				line = raw
			} else {
				line = appendPacket(nil, line)
			}
			if _, err := near.Write(line); err != nil {
				break // the session has ended in good order
			}
		}
		_ = near.Close()
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Fatal("the session does not end")
		}
		if n := <-answers; n > maxPacket+8 {
			t.Errorf("a packet of %d bytes", n)
		}
	})
}

// bounded keeps a folder's files small.
type bounded struct{ folder }

func (d bounded) Open(name string, flags int, mode uint32) (File, error) {
	f, err := d.folder.Open(name, flags, mode)
	if err != nil {
		return nil, err
	}
	return boundedFile{f}, nil
}

type boundedFile struct{ File }

func (f boundedFile) WriteAt(p []byte, off int64) (int, error) {
	if off > 1<<16 {
		return 0, io.ErrShortWrite
	}
	return f.File.WriteAt(p, off)
}
