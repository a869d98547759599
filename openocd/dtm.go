package openocd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/dap"
	"github.com/stem-hw/stem-hw/probe/mem"
	"github.com/stem-hw/stem-hw/probe/swd"
)

// Access ports of the chip (RP2350 datasheet 3.5.2).
const (
	apROMTable    uint32 = 0x00000
	apDebugModule uint32 = 0x0a000
	apRP          uint32 = 0x80000
)

// DTM is the chip's Debug Module behind a probe, presented as a RISC-V JTAG
// transport to a remote_bitbang client on a Unix socket.
type DTM struct {
	probe  *dap.Probe
	port   *swd.Port
	ap     *mem.AP
	l      net.Listener
	socket string
	cancel context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex // the port is used by one at a time
	lost error
}

// OpenDTM opens a probe, which belongs to it from here on, also after an error, and
// listens in a folder of mode 0700. clock is in Hz.
func OpenDTM(ctx context.Context, t dap.Transport, clock uint32, folder string) (d *DTM, err error) {
	p, err := dap.Open(ctx, t, dap.Options{})
	if err != nil {
		return nil, err
	}
	d = &DTM{probe: p, port: swd.New(p, swd.Options{Clock: clock}), done: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if err := d.port.Connect(ctx); err != nil {
		return nil, err
	}
	if err := d.port.PowerUp(ctx); err != nil {
		return nil, err
	}
	if d.ap, err = mem.Open(ctx, d.port, apDebugModule, mem.APB, false); err != nil {
		return nil, err
	}
	if st, err := os.Stat(folder); err != nil || !st.IsDir() || st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%q is no folder of one's own", folder)
	}
	d.socket = filepath.Join(folder, "jtag")
	_ = os.Remove(d.socket)
	if d.l, err = net.Listen("unix", d.socket); err != nil {
		return nil, err
	}
	serving, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	go d.serve(serving)
	return d, nil
}

// Socket is the path of the socket.
func (d *DTM) Socket() string { return d.socket }

// serve serves one client after the other.
func (d *DTM) serve(ctx context.Context) {
	defer close(d.done)
	for {
		c, err := d.l.Accept()
		if err != nil {
			return
		}
		drop := context.AfterFunc(ctx, func() { _ = c.Close() })
		_ = serveBitbang(c, &tap{dmi: dmiOver{ctx, d}})
		drop()
		_ = c.Close()
	}
}

// Present says which architecture the cores have now.
func (d *DTM) Present(ctx context.Context) (a [probe.Count]image.Arch, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost != nil {
		return a, d.lost
	}
	err = d.port.Retry(ctx, func() error {
		v, err := d.port.Do(ctx, []swd.Access{{Addr: apROMTable}, {Addr: apROMTable + 4}})
		for i := range v {
			a[i] = image.ArchRISCV
			if v[i]&1 != 0 {
				a[i] = image.ArchARM
			}
		}
		return err
	})
	return a, err
}

// Rescue resets the chip through the RP-AP.
func (d *DTM) Rescue(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.port.Do(ctx, []swd.Access{{Addr: apRP, Write: true, Value: 1 << 31}, {Addr: apRP, Write: true}})
	return err
}

// Close ends the server and gives the probe back.
func (d *DTM) Close() error {
	d.cancel()
	err := d.l.Close()
	<-d.done
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if d.lost == nil {
		_ = d.port.Disconnect(ctx)
	}
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(err, d.probe.Close())
}

// dmiOver is the Debug Module through the probe. A register is at four times its
// number on the access port.
type dmiOver struct {
	ctx context.Context
	d   *DTM
}

func (m dmiOver) do(f func() error) bool {
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	if m.d.lost != nil {
		return false
	}
	err := f()
	if errors.Is(err, dap.ErrLost) || errors.Is(err, dap.ErrSilent) {
		m.d.lost = err
	}
	return err == nil
}

// read implements dmi.
func (m dmiOver) read(addr uint32) (v uint32, ok bool) {
	ok = m.do(func() (err error) {
		v, err = m.d.ap.ReadWord(m.ctx, 4*addr)
		return err
	})
	return v, ok
}

// write implements dmi.
func (m dmiOver) write(addr, v uint32) bool {
	return m.do(func() error {
		return m.d.ap.Write(m.ctx, 4*addr, []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
	})
}

// dmi is a Debug Module.
type dmi interface {
	read(addr uint32) (v uint32, ok bool)
	write(addr, v uint32) (ok bool)
}

// serveBitbang serves OpenOCD's remote_bitbang for JTAG: one character for each
// step (OpenOCD, doc/manual/jtag/drivers/remote_bitbang.txt). Answers are sent
// when nothing more was asked yet.
func serveBitbang(rw io.ReadWriter, t *tap) error {
	r, w := bufio.NewReader(rw), bufio.NewWriter(rw)
	for {
		if r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
		c, err := r.ReadByte()
		if err != nil {
			return err
		}
		switch {
		case c >= '0' && c <= '7':
			t.pins(c-'0' >= 4, (c-'0')&2 != 0, (c-'0')&1 != 0)
		case c == 'R':
			out := byte('0')
			if t.out() {
				out = '1'
			}
			if err := w.WriteByte(out); err != nil {
				return err
			}
		case c >= 'r' && c <= 'u':
			if c >= 't' { // TRST
				t.reset()
			}
		case c == 'Q':
			return w.Flush()
		}
	}
}
