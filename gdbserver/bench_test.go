package gdbserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/gdbserver"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/target"
)

// client speaks the protocol as gdb does, without acknowledgements.
type client struct {
	b  *testing.B
	nc net.Conn
	r  *bufio.Reader
}

func dial(b *testing.B, network, address string) *client {
	b.Helper()
	var nc net.Conn
	var err error
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if nc, err = net.Dial(network, address); err == nil || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	c := &client{b, nc, bufio.NewReader(nc)}
	b.Cleanup(func() { _ = nc.Close() })
	c.ask("qSupported:swbreak+;hwbreak+;vContSupported+")
	c.ask("QStartNoAckMode")
	_, _ = nc.Write([]byte{'+'})
	// QEMU knows its registers only for a client that has read this.
	c.ask("qXfer:features:read:target.xml:0,ff0")
	return c
}

// ask sends a packet and returns the answer to it.
func (c *client) ask(packet string) string {
	c.b.Helper()
	if _, err := c.nc.Write(framed(packet)); err != nil {
		c.b.Fatal(err)
	}
	p, err := c.r.ReadString('#')
	if err == nil {
		_, err = c.r.Discard(2)
	}
	if err != nil {
		c.b.Fatalf("%q: %v", packet, err)
	}
	return strings.TrimLeft(p[:len(p)-1], "+$")
}

// ours serves the simulated board on a Unix socket.
func ours(b *testing.B) *client {
	b.Helper()
	tg, err := sim.New(sim.Options{Machine: sim.MachineRP2350, Debug: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = tg.Close() })
	if err := tg.Reset(context.Background(), target.ResetHalt); err != nil {
		b.Fatal(err)
	}
	srv, err := gdbserver.New(gdbserver.Options{Target: tg, RTOS: "none"})
	if err != nil {
		b.Fatal(err)
	}
	socket := filepath.Join(b.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(ctx, l)
	}()
	b.Cleanup(func() { cancel(); <-done })
	return dial(b, "unix", socket)
}

// qemus serves QEMU's virt machine by QEMU's own stub.
func qemus(b *testing.B) *client {
	b.Helper()
	qemu, err := exec.LookPath("qemu-system-riscv32")
	if err != nil {
		b.Skip("qemu-system-riscv32 is not installed: no comparison")
	}
	socket := filepath.Join(b.TempDir(), "s")
	cmd := exec.Command(qemu, "-M", "virt", "-display", "none", "-monitor", "none", "-serial", "none", "-bios", "none", "-S",
		"-chardev", "socket,path="+socket+",server=on,wait=off,id=g", "-gdb", "chardev:g")
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return dial(b, "unix", socket)
}

// stubs are the servers that are compared, each with RAM to work in.
var stubs = []struct {
	name string
	open func(*testing.B) *client
	ram  uint32
}{
	{"stem-hw", ours, 0x20000000},
	{"qemu", qemus, 0x80000000},
}

// BenchmarkStep is what gdb's stepi costs on the wire: a step of one core, its
// stop, and all registers. The program is a long run of nops and a jump back.
func BenchmarkStep(b *testing.B) {
	for _, s := range stubs {
		b.Run(s.name, func(b *testing.B) {
			c := s.open(b)
			code := append(bytes.Repeat([]byte{0x13, 0, 0, 0}, 64), 0x6f, 0xf0, 0x1f, 0xf0) // nop..., j -256
			c.want(fmt.Sprintf("M%x,%x:%s", s.ram, len(code), hex.EncodeToString(code)), "OK")
			c.want("Hg1", "OK")
			c.want("P20="+word(s.ram), "OK")
			for b.Loop() {
				if stop := c.ask("vCont;s:1"); !strings.HasPrefix(stop, "T05") {
					b.Fatalf("step: %q", stop)
				}
				c.ask("g")
			}
			if pc := c.ask("p20"); len(pc) != 8 || pc[4:] != word(s.ram)[4:] {
				b.Fatalf("the steps went to %q", pc)
			}
		})
	}
}

// BenchmarkLoad writes 256 KiB to RAM as gdb's load does where a server takes
// no binary packets: QEMU 7.2 takes none.
func BenchmarkLoad(b *testing.B) {
	const size = 256 << 10
	for _, s := range stubs {
		b.Run(s.name, func(b *testing.B) {
			c := s.open(b)
			const piece = 0x700 // fits in both servers' packets, escapes included
			data := make([]byte, piece)
			for i := range data {
				data[i] = byte(i * 7)
			}
			digits := hex.EncodeToString(data)
			b.SetBytes(size)
			for b.Loop() {
				for off := uint32(0); off < size; off += piece {
					c.want(fmt.Sprintf("M%x,%x:%s", s.ram+off, piece, digits), "OK")
				}
			}
		})
	}
}

// BenchmarkLoadFlash writes 256 KiB to flash; every round has other contents.
func BenchmarkLoadFlash(b *testing.B) {
	const size, base, piece = 256 << 10, 0x10000000, 0x1800
	c := ours(b)
	data := make([]byte, size)
	b.SetBytes(size)
	for round := byte(1); b.Loop(); round++ {
		for i := range data {
			data[i] = byte(i*7) ^ round
		}
		c.want(fmt.Sprintf("vFlashErase:%x,%x", base, size), "OK")
		for off := 0; off < size; off += piece {
			c.want(fmt.Sprintf("vFlashWrite:%x:%s", base+off, data[off:min(off+piece, size)]), "OK")
		}
		c.want("vFlashDone", "OK")
	}
}

func (c *client) want(packet, want string) {
	c.b.Helper()
	if got := c.ask(packet); got != want {
		c.b.Fatalf("%.40q is answered by %q, want %q", packet, got, want)
	}
}

// word is a register value on the wire.
func word(v uint32) string {
	return fmt.Sprintf("%02x%02x%02x%02x", byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}
