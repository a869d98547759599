//go:build peers

package hazard3_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/sim/hazard3"
)

// qemuCPU is the common instruction set: Hazard3's without its own extensions.
const qemuCPU = "rv32,d=off,f=off,zfa=off,zawrs=off,zcb=on,zcmp=on,zbkb=on,zbc=on"

// TestPeerLockstep runs random programs on this core, in its plain loop and
// its fast one, and on QEMU, and compares all registers, the data memory and
// the log of traps after each. STEM_QEMU_RISCV32 is the command to start QEMU
// with (10 or newer), STEM_LOCKSTEP the number of instructions,
// STEM_LOCKSTEP_SEED the first seed.
//
// Where QEMU and Hazard3 differ by design, programs do not go there:
//   - misaligned loads and stores: QEMU performs them, Hazard3 traps
//     (hazard3_core.v, x_unaligned_addr);
//   - c.addi4spn with a zero immediate: illegal in QEMU, executed by Hazard3
//     (hazard3_instr_decompress.v);
//   - cm.mvsa01 with one register twice is reserved, Hazard3 executes it;
//   - mtval: Hazard3 has it always 0 (hazard3_csr.v);
//   - slt x0, x0, x0 and slt x0, x0, x1: h3.block and h3.unblock.
func TestPeerLockstep(t *testing.T) {
	q := startQEMU(t)
	total := 50_000
	if s := os.Getenv("STEM_LOCKSTEP"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		total = n
	}
	seed := uint64(1)
	if s := os.Getenv("STEM_LOCKSTEP_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	plain, fast := newRandRig(hazard3.Testbench()), newRandRig(hazard3.Testbench())
	plain.Plain = true
	q.boot()
	ran, traps := uint64(0), 0
	for ; ran < uint64(total); seed++ {
		p := newRandProg(seed)
		p.zbc = true
		code := bytes.Clone(p.program(100, rpCode))
		s := randState(p.r)
		before := plain.Instret()
		for _, g := range []*rig{plain, fast} {
			g.setUp(code, s)
			g.Run(g.Cycle + 100_000)
			if g.PC() != rpEnd {
				t.Fatalf("seed %d: did not end but stands at 0x%08x", seed, g.PC())
			}
		}
		q.setUp(code, s)
		q.cont()
		ran += plain.Instret() - before
		traps += int(le32(plain.word(rpSave+8))-rpLog) / 8
		diff := q.compare(plain)
		if d := compareRigs(plain, fast); diff == "" && d != "" {
			diff = "the fast loop against the plain one: " + d
		}
		if diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
			q.bisect(t, plain, code, s)
			return
		}
	}
	t.Logf("%d instructions, %d traps equal", ran, traps)
}

// compareRigs names the first difference between two rigs.
func compareRigs(a, b *rig) string {
	for i := range a.X {
		if a.X[i] != b.X[i] {
			return fmt.Sprintf("x%d is 0x%08x and 0x%08x", i, a.X[i], b.X[i])
		}
	}
	if !bytes.Equal(a.ram, b.ram) {
		return "memory differs"
	}
	return ""
}

// qemu is a QEMU behind its gdb stub.
type qemu struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func startQEMU(t *testing.T) *qemu {
	command := strings.Fields(os.Getenv("STEM_QEMU_RISCV32"))
	if len(command) == 0 {
		command = []string{"qemu-system-riscv32"}
	}
	out, err := exec.Command(command[0], append(command[1:], "--version")...).CombinedOutput()
	if err != nil {
		t.Skipf("%s does not run: %v", command[0], err)
	}
	var major int
	if _, err := fmt.Sscanf(string(out), "QEMU emulator version %d", &major); err != nil || major < 9 {
		t.Skipf("need QEMU 9 or newer with Zcb and Zcmp, found %q (name another with STEM_QEMU_RISCV32)",
			strings.SplitN(string(out), "\n", 2)[0])
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	cmd := exec.Command(command[0], append(command[1:], "-M", "virt", "-cpu", qemuCPU, "-m", "16M", "-bios", "none",
		"-display", "none", "-monitor", "none", "-serial", "none", "-S", "-gdb", "tcp:"+addr)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Skipf("%s does not start: %v", command[0], err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	q := &qemu{t: t}
	for range 200 {
		if q.conn, err = net.Dial("tcp", addr); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil {
		t.Skipf("QEMU's gdb stub does not answer: %v; %s", err, stderr.String())
	}
	t.Cleanup(func() { q.conn.Close() })
	q.in = bufio.NewReader(q.conn)
	return q
}

// ask sends a packet and returns the answer.
func (q *qemu) ask(packet string) string {
	q.t.Helper()
	var sum byte
	for i := range len(packet) {
		sum += packet[i]
	}
	fmt.Fprintf(q.conn, "$%s#%02x", packet, sum)
	q.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	for {
		c, err := q.in.ReadByte()
		if err != nil {
			q.t.Fatalf("QEMU's gdb stub on %.20q: %v", packet, err)
		}
		if c == '$' {
			break
		}
	}
	s, err := q.in.ReadString('#')
	if err != nil {
		q.t.Fatal(err)
	}
	q.in.Discard(2)
	q.conn.Write([]byte("+"))
	return strings.TrimSuffix(s, "#")
}

func (q *qemu) must(packet string) {
	q.t.Helper()
	if r := q.ask(packet); r != "OK" {
		q.t.Fatalf("QEMU answers %q to %.40q", r, packet)
	}
}

func (q *qemu) write(addr uint32, b []byte) {
	for len(b) > 0 {
		n := min(len(b), 1024)
		q.must(fmt.Sprintf("M%x,%x:%x", addr, n, b[:n]))
		addr, b = addr+uint32(n), b[n:]
	}
}

func (q *qemu) read(addr uint32, n int) []byte {
	var out []byte
	for n > 0 {
		k := min(n, 1024)
		b, err := hex.DecodeString(q.ask(fmt.Sprintf("m%x,%x", addr, k)))
		if err != nil || len(b) != k {
			q.t.Fatalf("QEMU does not read 0x%x", addr)
		}
		out, addr, n = append(out, b...), addr+uint32(k), n-k
	}
	return out
}

func (q *qemu) setRegs(x [32]uint32, pc uint32) {
	b := make([]byte, 33*4)
	for i, v := range x {
		put32(b[4*i:], v)
	}
	put32(b[128:], pc)
	q.must(fmt.Sprintf("G%x", b))
}

func (q *qemu) regs() (x [32]uint32, pc uint32) {
	b, err := hex.DecodeString(q.ask("g"))
	if err != nil || len(b) < 33*4 {
		q.t.Fatalf("QEMU's registers: %d bytes", len(b))
	}
	for i := range x {
		x[i] = le32(b[4*i:])
	}
	return x, le32(b[128:])
}

// boot sets the trap vector and the breakpoint at the programs' end.
func (q *qemu) boot() {
	q.ask("?")
	q.write(rpHandler, handlerCode())
	var a asm
	a.w(0x305<<20 | 5<<15 | 1<<12 | 0x73) // csrw mtvec, x5
	a.w(encJ(0, rpEnd-rpCode-4))
	q.write(rpCode, a.b)
	q.must(fmt.Sprintf("Z0,%x,4", uint32(rpEnd)))
	q.setRegs([32]uint32{5: rpHandler}, rpCode)
	q.cont()
}

func (q *qemu) setUp(code []byte, s rpState) {
	var ptr [4]byte
	put32(ptr[:], rpLog)
	q.write(rpSave+8, ptr[:])
	q.write(rpCode, code)
	q.write(rpData, s.data)
	q.setRegs(s.x, rpCode)
}

func (q *qemu) cont() {
	if r := q.ask("c"); !strings.HasPrefix(r, "T05") {
		q.t.Fatalf("QEMU stopped with %q", r)
	}
}

// compare names the first difference to a rig.
func (q *qemu) compare(g *rig) string {
	x, pc := q.regs()
	if pc != g.PC() {
		return fmt.Sprintf("pc is 0x%08x, QEMU has 0x%08x", g.PC(), pc)
	}
	for i := range x {
		if x[i] != g.X[i] {
			return fmt.Sprintf("x%d is 0x%08x, QEMU has 0x%08x", i, g.X[i], x[i])
		}
	}
	if d := firstDiff(g.ram[rpData-rpRAM:], q.read(rpData, rpDataLen)); d >= 0 {
		return fmt.Sprintf("memory differs at 0x%08x", rpData+d)
	}
	n := int(le32(g.word(rpSave+8)) - rpLog)
	if d := firstDiff(g.ram[rpSave-rpRAM:], q.read(rpSave, 12)); d >= 0 {
		return "the number of traps differs"
	}
	if d := firstDiff(g.ram[rpLog-rpRAM:], q.read(rpLog, n)); n > 0 && d >= 0 {
		return fmt.Sprintf("trap %d differs", d/8)
	}
	return ""
}

func firstDiff(a, b []byte) int {
	for i := range b {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// bisect runs the program again, one instruction at a time, and prints the
// first difference.
func (q *qemu) bisect(t *testing.T, g *rig, code []byte, s rpState) {
	g.setUp(code, s)
	q.setUp(code, s)
	for range 2000 {
		pc := g.PC()
		raw, size, _ := g.RawAt(pc)
		was := g.X
		g.Step(true)
		g.Resume()
		g.Run(g.Cycle + 1000)
		g.Step(false)
		g.Resume()
		q.ask("s")
		if d := q.compare(g); d != "" {
			x, qpc := q.regs()
			t.Errorf("at 0x%08x, instruction 0x%0*x: %s\nbefore %08x\nhere   %08x pc %08x\nQEMU   %08x pc %08x",
				pc, 2*int(size), raw, d, was, g.X, g.PC(), x, qpc)
			return
		}
		if g.PC() == rpEnd {
			return
		}
	}
}
