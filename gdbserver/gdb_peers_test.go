//go:build peers

package gdbserver_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/gdbserver"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/semihost"
	"github.com/stem-hw/stem-hw/sim"
	"github.com/stem-hw/stem-hw/target"
)

// gdb is one gdb to test with.
type gdb struct {
	name string
	// command begins the command line.
	command []string
}

// gdbs finds gdb-multiarch of this machine, and Debian 13's from a root.
func gdbs(t *testing.T) []gdb {
	t.Helper()
	var found []gdb
	if path, err := exec.LookPath("gdb-multiarch"); err == nil {
		found = append(found, gdb{"host", []string{path}})
	}
	root, err := filepath.Abs("../scripts/root")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(root, "path", "gdb").CombinedOutput(); err != nil {
		t.Logf("no gdb from a root: %v\n%s", err, out)
	} else {
		found = append(found, gdb{"root", []string{root, "exec", "gdb", "gdb-multiarch"}})
	}
	if len(found) == 0 {
		t.Skip("gdb-multiarch is not installed")
	}
	return found
}

// board is a simulated board behind a server.
type board struct {
	t       *testing.T
	target  target.Target
	server  *gdbserver.Server
	address string
	elf     string

	mu    sync.Mutex
	notes []string
}

func (b *board) note(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, text)
}

// waitNote waits until the server said something that contains text.
func (b *board) waitNote(text string) {
	b.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		b.mu.Lock()
		all := strings.Join(b.notes, "\n")
		b.mu.Unlock()
		if strings.Contains(all, text) {
			return
		}
	}
	b.t.Fatalf("the server never said %q; it said %q", text, b.notes)
}

// serve loads an ELF on a simulated board and serves it on the loopback
// interface, which a gdb in a root reaches too.
func serve(t *testing.T, elf string) *board {
	t.Helper()
	elf, err := filepath.Abs(elf)
	if err != nil {
		t.Fatal(err)
	}
	img, err := image.Open(elf)
	if err != nil {
		t.Fatal(err)
	}
	tg, err := sim.New(sim.Options{Machine: sim.MachineRP2350, Debug: true, Semihosting: &semihost.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tg.Close() })
	if err := tg.Load(context.Background(), img); err != nil {
		t.Fatal(err)
	}
	b := &board{t: t, target: tg, elf: elf}
	b.server, err = gdbserver.New(gdbserver.Options{
		Target: tg, ELF: img.ELF, ELFPath: elf, RTOS: "auto", Notify: b.note,
		Protect: []target.Region{{Name: "OTP", Base: 0x40120000, Size: 0x20000}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.address = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = b.server.Serve(ctx, l)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return b
}

// limit bounds one gdb session.
const limit = 90 * time.Second

// command returns gdb with the program and the script.
func (b *board) command(ctx context.Context, g gdb, file bool, script string) *exec.Cmd {
	args := append([]string(nil), g.command[1:]...)
	args = append(args, "-q", "-nx", "-batch", "-iex", "set osabi none", "-iex", "set confirm off",
		"-iex", "set pagination off", "-iex", "set style enabled off")
	if file {
		args = append(args, "-ex", "file "+b.elf)
	}
	args = append(args, "-ex", "target remote "+b.address)
	if strings.Contains(script, "while ") {
		// A block of commands must come from a file, in which an error ends all.
		args = append(args, "-x", b.scriptFile(script))
	} else {
		for _, line := range strings.Split(strings.TrimSpace(script), "\n") {
			args = append(args, "-ex", strings.TrimSpace(line))
		}
	}
	cmd := exec.CommandContext(ctx, g.command[0], args...)
	root, err := filepath.Abs("..")
	if err != nil {
		b.t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "STEM_HW_ROOT_BIND="+root, "LC_ALL=C.UTF-8")
	return cmd
}

// scriptFile writes a script where a gdb in a root sees it too.
func (b *board) scriptFile(script string) string {
	b.t.Helper()
	dir, err := filepath.Abs("../build")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	f, err := os.CreateTemp(dir, "gdb-*.gdb")
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = os.Remove(f.Name()) })
	_, err = f.WriteString(script + "\n")
	if cerr := f.Close(); err != nil || cerr != nil {
		b.t.Fatal(err, cerr)
	}
	return f.Name()
}

// run lets gdb execute the script and returns what it printed.
func (b *board) run(g gdb, script string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, err := b.command(ctx, g, true, script).CombinedOutput()
	if ctx.Err() != nil {
		b.t.Fatalf("gdb did not end within %v:\n%s", limit, out)
	}
	if err != nil {
		b.t.Logf("gdb: %v", err)
	}
	return string(out)
}

// inOrder checks that out holds all of want, one after the other.
func inOrder(t *testing.T, out string, want ...string) {
	t.Helper()
	rest := out
	for _, w := range want {
		_, after, found := strings.Cut(rest, w)
		if !found {
			t.Fatalf("%q is missing, or not at its place, in:\n%s", w, out)
		}
		rest = after
	}
}

const debugme = "../examples/debugme/debugme.elf"

// scenarios are gdb sessions on debugme, each on a board of its own.
var scenarios = []struct {
	name   string
	script string
	want   []string
	never  []string
}{
	{
		name:   "breakpoint at main, backtrace, finish",
		script: "break main\ncontinue\nbt\nbreak place_3\ncontinue\nbt\nfinish\nprint total",
		want:   []string{"Breakpoint 1, main", "#0  main", "Breakpoint 2, place_3", "#1", "in tour", "#2", "in main", "in tour", "$1 = 6"},
	},
	{
		name:   "threads, registers, CSRs",
		script: "break main\ncontinue\ninfo threads\nprint/x $misa\nprint/x $mhartid\nthread 2\nprint/x $mhartid\nprint/x $mvendorid\nset var $s5 = 0x1234\nprint/x $s5\nprint $priv",
		want:   []string{"hart 0", "hart 1", "0x40901105", "$2 = 0x0", "$3 = 0x1", "$4 = 0x493", "$5 = 0x1234", "$6 = 3"},
	},
	{
		name: "twenty breakpoints",
		script: "break main\ncontinue\n" + breakTwenty() +
			strings.Repeat("continue\n", 20) + "print total",
		want: append(hitTwenty(), "$1 = 190"),
	},
	{
		name:   "a breakpoint in RAM and one that is deleted",
		script: "break main\ncontinue\nbreak place_1\nbreak place_2\ndelete 2\ncontinue\ninfo breakpoints\nbreak *&patch\ncontinue\nx/2i $pc",
		want:   []string{"Breakpoint 3, place_2", "breakpoint already hit", "Breakpoint 4", "patch", "a0,a0,1", "ret"},
		never:  []string{"Breakpoint 2, place_1"},
	},
	{
		name:   "watchpoints hit by the other core",
		script: "break tour\ncontinue\nwatch shared\ncontinue\nthread\nprint shared\ncontinue\nprint shared",
		want:   []string{"ardware watchpoint 2: shared", "Thread 2 hit", "New value = 7", "Current thread is 2", "$1 = 7", "New value = 8", "$2 = 8"},
	},
	{
		name:   "registers are those of the core that stopped",
		script: "break tour\ncontinue\nwatch shared\ncontinue\nprint $mhartid\nprint/x $sp < 0x20081000\nbt 1\nset scheduler-locking step\nstepi\nprint $mhartid",
		want:   []string{"Thread 2 hit", "$1 = 1", "core1", "$3 = 1"},
	},
	{
		name:   "read and access watchpoints",
		script: "break tour\ncontinue\nrwatch shared\ncontinue\nbt 1\ndelete\nawatch core1_turns\ncontinue\ncontinue",
		want:   []string{"ardware read watchpoint 2: shared", "Value = 7", "core1", "access (read/write) watchpoint 3: core1_turns"},
	},
	{
		name:   "stepping over wfi",
		script: "break nap\ncontinue\nnext\nnext\nnext\nprint total",
		want:   []string{"Breakpoint 1, nap", "main ()", "$1 = 211"},
	},
	{
		name:   "stepi on wfi itself, and on with an interrupt",
		script: "break nap\ncontinue\ntbreak wait_for_interrupt\nadvance wait_for_interrupt\nstepi\nstepi\nstepi\nbreak rang\ncontinue\nbt",
		want:   []string{"nap", "Breakpoint", "rang", "#1"},
	},
	{
		name:   "ecall, into the handler and back",
		script: "break call_machine\ncontinue\nbreak on_exception\ncontinue\nprint $mcause\nnext\nnext\nnext\nprint ecalls\nprint ecall_cause",
		want:   []string{"call_machine", "Breakpoint 2, on_exception", "$1 = 11", "$2 = 1", "$3 = 11"},
	},
	{
		name:   "stepi over ecall ends in the handler",
		script: "break call_machine\ncontinue\ndisplay/i $pc\nwhile *(unsigned int*)$pc != 0x73\nstepi\nend\nstepi\nbt 2\nprint $mcause",
		want:   []string{"ecall", "on_exception", "$1 = 11"},
	},
	{
		name:   "stepping through a trap handler to mret",
		script: "break on_exception\ncontinue\ndisplay/i $pc\nwhile *(unsigned int*)$pc != 0x30200073\nstepi\nend\nstepi\nbt 1",
		want:   []string{"mret", "call_machine"},
	},
	{
		name:   "cm.push and cm.popret",
		script: "break depth if n == 3\ncontinue\nbt\nfinish\nstepi\nstepi\nstepi\ndelete\nbreak spin\ncontinue\nprint result",
		want:   []string{"n@entry=3)", "n@entry=4)", "n@entry=5)", "main", "Value returned is $1 = 6", "Breakpoint 2, spin", "$2 = 15"},
	},
	{
		name:   "stepi over a whole cm.popret",
		script: "break *&depth\ncontinue\ndelete\nset $top = $sp\nstepi\nprint $top > $sp\nbreak spin\ncontinue\nprint result",
		want:   []string{"$1 = 1", "spin", "$2 = 15"},
	},
	{
		name:   "self-modified code",
		script: "break run_patch\ncontinue\nx/i &patch\ncontinue\nx/i &patch\nstepi 12\nbreak depth\ncontinue\nprint result",
		want:   []string{"a0,a0,1", "a0,a0,2", "depth", "$1 = 42"},
	},
	{
		name:   "a step into sleep_ms and over it",
		script: "break longer_nap\ncontinue\nstep\nbt 2\nfinish\nnext\nprint total >= 211",
		want:   []string{"longer_nap", "sleep_ms", "longer_nap", "$1 = 1"},
	},
	{
		name:   "range stepping over a long loop",
		script: "break longer_nap\ncontinue\nnext\nnext\nprint total",
		want:   []string{"longer_nap", "$1 = 212"},
	},
	{
		name:   "memory and peripherals",
		script: "break main\ncontinue\nset var go = 0x11223344\nx/4bx &go\nx/wx 0x40000000\nx/8bx 0x10000000\nx/x 0x60000000\nset var *(int*)0x40120000 = 1\nset var *(int*)0x10000000 = 1",
		want:   []string{"0x44\t0x33\t0x22\t0x11", "0x20004927", "Cannot access memory at address 0x60000000", "Cannot access memory at address 0x40120000", "Writing to flash memory forbidden"},
	},
	{
		name:   "monitor",
		script: "monitor help\nmonitor info\nbreak main\ncontinue\nmonitor stats\nmonitor reset halt\nmaintenance flush register-cache\nprint/x $pc\ncontinue\nmonitor reset init\nmaintenance flush register-cache\nprint/x $pc\nmonitor reset run\ncontinue\nmonitor nonsense\nmonitor reset sideways",
		want:   []string{"monitor commands", "rp2350 (simulated, riscv)", "flash", "Breakpoint 1, main", "cycles", "$1 = 0x7dfc", "Breakpoint 1, main", "$2 = 0x7dfc", "Breakpoint 1, main", "unknown monitor command", "reset knows halt, init and run"},
	},
	{
		name:   "one core alone",
		script: "break spin\ncontinue\nset scheduler-locking on\nthread 2\nprint core1_turns\nstepi\nstepi\nthread 1\nstepi\ndelete\nset var go = 1\nset scheduler-locking off\ncontinue",
		want:   []string{"spin", "$1 = 2", "exited normally"},
	},
	{
		name:   "the end of the program",
		script: "break spin\ncontinue\ndelete\nset var go = 1\ncontinue\ninfo threads",
		want:   []string{"spin", "total 212, core 1 turned 2 times, 1 ecall", "exited normally", "No threads."},
	},
	{
		name:   "compare-sections",
		script: "compare-sections",
		want:   []string{".text", "matched"},
		never:  []string{"MIS-MATCHED"},
	},
	{
		name:   "call a function",
		script: "break spin\ncontinue\nprint depth(4)\nprint self_modify()\nbt 1",
		want:   []string{"spin", "$1 = 10", "$2 = 42", "spin"},
	},
}

func breakTwenty() string {
	var b strings.Builder
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(&b, "break place_%d\n", i)
	}
	return b.String()
}

func hitTwenty() []string {
	var hits []string
	for i := 1; i <= 20; i++ {
		hits = append(hits, fmt.Sprintf("place_%d ()", i))
	}
	return hits
}

// TestPeerGdb runs every scenario with every gdb.
func TestPeerGdb(t *testing.T) {
	for _, g := range gdbs(t) {
		for _, s := range scenarios {
			t.Run(g.name+"/"+s.name, func(t *testing.T) {
				out := serve(t, debugme).run(g, s.script)
				inOrder(t, out, s.want...)
				for _, n := range s.never {
					if strings.Contains(out, n) {
						t.Errorf("%q appears in:\n%s", n, out)
					}
				}
			})
		}
	}
}
