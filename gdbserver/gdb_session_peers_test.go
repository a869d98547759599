//go:build peers

package gdbserver_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// talk is a gdb that is driven line by line.
type talk struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser

	mu   sync.Mutex
	out  bytes.Buffer
	seen int
}

// Write collects gdb's output.
func (k *talk) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.out.Write(p)
}

// start begins a session on a board.
func (b *board) start(g gdb, args ...string) *talk {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	b.t.Cleanup(cancel)
	cmd := b.command(ctx, g, true, "echo \\n")
	// Interactive: no -batch, and no commands of the caller.
	cmd.Args = append(append([]string(nil), cmd.Args[:1]...), filter(cmd.Args[1:], "-batch")...)
	cmd.Args = append(cmd.Args, args...)
	k := &talk{t: b.t, cmd: cmd}
	var err error
	if k.in, err = cmd.StdinPipe(); err != nil {
		b.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = k, k
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return k
}

func filter(args []string, without string) []string {
	var out []string
	for _, a := range args {
		if a != without {
			out = append(out, a)
		}
	}
	return out
}

// say types a line.
func (k *talk) say(line string) {
	k.t.Helper()
	if _, err := io.WriteString(k.in, line+"\n"); err != nil {
		k.t.Fatalf("gdb is gone: %v\n%s", err, k.text())
	}
}

func (k *talk) text() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.out.String()
}

// wait waits for text behind what was waited for before.
func (k *talk) wait(want string) {
	k.t.Helper()
	for end := time.Now().Add(limit / 2); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		all := k.text()
		if i := strings.Index(all[k.seen:], want); i >= 0 {
			k.seen += i + len(want)
			return
		}
	}
	k.t.Fatalf("gdb never printed %q:\n%s", want, k.text())
}

// interrupt is ctrl-c.
func (k *talk) interrupt() { _ = syscall.Kill(-k.cmd.Process.Pid, syscall.SIGINT) }

func each(t *testing.T, f func(t *testing.T, g gdb)) {
	for _, g := range gdbs(t) {
		t.Run(g.name, func(t *testing.T) { f(t, g) })
	}
}

func TestPeerGdbInterrupt(t *testing.T) {
	each(t, func(t *testing.T, g gdb) {
		k := serve(t, debugme).start(g)
		k.say("break spin")
		k.say("continue")
		k.wait("hit Breakpoint")
		k.say("delete")
		for range 3 {
			k.say("continue")
			k.wait("Continuing")
			time.Sleep(200 * time.Millisecond)
			k.interrupt()
			k.wait("SIGINT")
		}
		// A breakpoint while it runs: gdb stops it, sets it, and goes on.
		k.say("break exit")
		k.wait("Breakpoint 2")
		k.say("set var go = 1")
		k.say("continue")
		k.wait("hit Breakpoint 2")
		k.say("continue")
		k.wait("exited normally")
	})
}

func TestPeerGdbSecondClient(t *testing.T) {
	each(t, func(t *testing.T, g gdb) {
		b := serve(t, debugme)
		k := b.start(g)
		k.say("break main")
		k.say("continue")
		k.wait("hit Breakpoint 1")
		out := b.run(g, "info threads")
		if !strings.Contains(out, "another gdb is attached") {
			t.Errorf("the second gdb is not told why:\n%s", out)
		}
		b.waitNote("refused a second gdb")
		// The first one does not notice.
		k.say("break spin")
		k.say("continue")
		k.wait("hit Breakpoint 2")
	})
}

func TestPeerGdbDetachAndBack(t *testing.T) {
	each(t, func(t *testing.T, g gdb) {
		b := serve(t, debugme)
		out := b.run(g, "break spin\ncontinue\ndetach")
		inOrder(t, out, "hit Breakpoint 1", "detached")
		b.waitNote("the program runs on")
		out = b.run(g, "bt\nset var go = 1\ncontinue")
		inOrder(t, out, "spin", "main", "total 212", "exited normally")
	})
}

func TestPeerGdbKill(t *testing.T) {
	each(t, func(t *testing.T, g gdb) {
		b := serve(t, debugme)
		inOrder(t, b.run(g, "break spin\ncontinue\nkill"), "hit Breakpoint 1", "killed")
		// The chip was reset and waits.
		inOrder(t, b.run(g, "print/x $pc\nprint total\nbreak tour\ncontinue"), "$1 = 0x7dfc", "hit Breakpoint 1, tour")
	})
}

func TestPeerGdbRunAgain(t *testing.T) {
	each(t, func(t *testing.T, g gdb) {
		b := serve(t, debugme)
		out := b.run(g, "disconnect\ntarget extended-remote "+b.address+
			"\nset remote exec-file /\nbreak tour\ncontinue\nrun\nprint total")
		inOrder(t, out, "hit Breakpoint 1, tour", "hit Breakpoint 1, tour", "$1 = 0")
	})
}

func TestPeerGdbKilled(t *testing.T) {
	each(t, func(t *testing.T, g gdb) {
		b := serve(t, debugme)
		k := b.start(g)
		k.say("break place_2")
		k.say("continue")
		k.wait("hit Breakpoint 1")
		k.say("continue")
		k.wait("Continuing")
		_ = syscall.Kill(-k.cmd.Process.Pid, syscall.SIGKILL)
		b.waitNote("gone without a word")
		// Its breakpoints are gone, the target is halted, and a new one is served.
		out := b.run(g, "monitor reset halt\nmaintenance flush register-cache\nbreak tour\ncontinue\ncontinue&\ninterrupt")
		inOrder(t, out, "hit Breakpoint 1, tour")
	})
}

// TestPeerGdbMidPacket cuts the connection within a packet, and sends rubbish.
func TestPeerGdbMidPacket(t *testing.T) {
	b := serve(t, debugme)
	for _, wire := range []string{"$m2000", "$X20000000,100:abc", "\x00\xff$$$", "$qSupported#37$Z0,", strings.Repeat("$", 5000), "$" + strings.Repeat("x", 20000)} {
		c, err := net.Dial("tcp", b.address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, wire); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
	for _, g := range gdbs(t) {
		inOrder(t, b.run(g, "monitor reset halt\nmaintenance flush register-cache\nbreak tour\ncontinue"), "hit Breakpoint 1, tour")
	}
}

// TestPeerGdbLoad loads a 1 MiB image into flash by gdb's load.
func TestPeerGdbLoad(t *testing.T) {
	each(t, func(t *testing.T, g gdb) {
		b := serve(t, debugme)
		dir, err := filepath.Abs("../build")
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		big := filepath.Join(dir, "load-"+g.name+".elf")
		t.Cleanup(func() { _ = os.Remove(big) })
		const base, size = 0x10100000, 1 << 20
		data := make([]byte, size)
		x := uint32(1)
		for i := range data {
			x = x*1664525 + 1013904223
			data[i] = byte(x >> 24)
		}
		if err := os.WriteFile(big, elfOf(base, data), 0o644); err != nil {
			t.Fatal(err)
		}
		out := b.run(g, "load "+big+"\nfile "+big+"\ncompare-sections\nx/2xw 0x10100000\nload "+big)
		inOrder(t, out, "Loading section .data, size 0x100000", "Transfer rate", "matched", "Transfer rate")
		b.waitNote("256 of 256 sectors changed")
		b.waitNote("0 of 256 sectors changed")
		// What was there before still is.
		inOrder(t, b.run(g, "monitor reset halt\nmaintenance flush register-cache\ncompare-sections\nbreak tour\ncontinue"), "matched", "tour")
	})
}

// elfOf makes a RISC-V ELF with one section.
func elfOf(base uint32, data []byte) []byte {
	le := binary.LittleEndian
	const head, ph, sh = 52, 32, 40
	names := "\x00.data\x00.shstrtab\x00"
	dataOff := uint32(head + ph)
	namesOff := dataOff + uint32(len(data))
	shOff := (namesOff + uint32(len(names)) + 3) &^ 3
	out := make([]byte, shOff+3*sh)
	copy(out, "\x7fELF\x01\x01\x01")
	put16 := func(off int, v uint16) { le.PutUint16(out[off:], v) }
	put := func(off uint32, vs ...uint32) {
		for i, v := range vs {
			le.PutUint32(out[off+uint32(4*i):], v)
		}
	}
	put16(16, 2)
	put16(18, 243)
	put(20, 1, base, head, shOff, 0)
	for i, v := range []uint16{head, ph, 1, sh, 3, 2} {
		put16(40+2*i, v)
	}
	put(head, 1, dataOff, base, base, uint32(len(data)), uint32(len(data)), 6, 4)
	copy(out[dataOff:], data)
	copy(out[namesOff:], names)
	put(shOff+sh, 1, 1, 3, base, dataOff, uint32(len(data)), 0, 0, 4, 0)
	put(shOff+2*sh, 7, 3, 0, 0, namesOff, uint32(len(names)), 0, 0, 1, 0)
	return out
}

// TestPeerGdbWithoutFile starts gdb without a program: it fetches it.
func TestPeerGdbWithoutFile(t *testing.T) {
	each(t, func(t *testing.T, g gdb) {
		b := serve(t, debugme)
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		out, _ := b.command(ctx, g, false, "break place_4\ncontinue\nbt").CombinedOutput()
		inOrder(t, string(out), "Breakpoint 1, place_4", "tour", "main")
	})
}

// TestPeerGdbTasks shows the tasks of an RTOS as threads.
func TestPeerGdbTasks(t *testing.T) {
	each(t, func(t *testing.T, g gdb) {
		b := serve(t, "../examples/tasks/tasks.elf")
		out := b.run(g, "break main\ncontinue\ninfo threads\nbreak heartbeat\ncontinue\ninfo threads\n"+
			"thread apply all bt 3\nthread name\ncontinue\ninfo threads\nset var pxReadyTasksLists[2].xListEnd.pxNext = 0x99\n"+
			"set var xDelayedTaskList1.xListEnd.pxNext->pxNext = xDelayedTaskList1.xListEnd.pxNext\ncontinue")
		inOrder(t, out, "hart 0", "hart 1", "hit Breakpoint 2, heartbeat")
		for _, k := range []string{"main, running on core 0, priority 2", "IDLE1, running on core 1", "IDLE0, ready, priority 0",
			"radio, ready, priority 2", "sensor, blocked, priority 3", "logger, suspended, priority 1"} {
			inOrder(t, out, k)
		}
		inOrder(t, out, "wait_for_bus", "sensor_task")
	})
}
