//go:build peers || judges

package debugport_test

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/internal/built"
)

func TestMain(m *testing.M) { os.Exit(built.Main(m)) }

// board starts a simulated board and returns the host and port of its server
// called way.
func board(t *testing.T, way string, args ...string) (host, port string) {
	t.Helper()
	cmd := exec.Command(built.StemHW(t), append([]string{"sim", "board", "--" + way, ":0"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var talk bytes.Buffer
	cmd.Stderr = &talk
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) == 2 && f[0] == way {
			host, port, err = net.SplitHostPort(f[1])
			if err != nil {
				t.Fatal(err)
			}
			go func() { // what the program prints
				for lines.Scan() {
				}
			}()
			return host, port
		}
	}
	t.Fatalf("the board does not say where it is: %s", talk.String())
	return "", ""
}

// example is the path of an example's program.
func example(t *testing.T, name string) string {
	t.Helper()
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "examples", name, name+".elf")
}

// jtagConfig lets a stock OpenOCD reach both harts through the chain that exists
// in the simulation alone.
const jtagConfig = `
gdb_port disabled
tcl_port disabled
telnet_port disabled
adapter driver remote_bitbang
remote_bitbang host HOST
remote_bitbang port PORT
adapter speed 10000
jtag newtap rp2350 rv -irlen 5 -expected-id 0xdeadbeef
target create rp2350.rv0 riscv -chain-position rp2350.rv -coreid 0 -rtos hwthread
target create rp2350.rv1 riscv -chain-position rp2350.rv -coreid 1
rp2350.rv0 configure -work-area-phys 0x20010000 -work-area-size 0x10000
target smp rp2350.rv0 rp2350.rv1
riscv set_enable_virt2phys off
proc want {name got value} {
	if {$got ne $value} { echo "MISMATCH $name: $got, want $value" } else { echo "OK $name" }
}
proc value {reg} { return [format 0x%x [lindex [get_reg -force $reg] 1]] }
`

// config writes an OpenOCD configuration for a server.
func config(t *testing.T, text, host, port string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "board.cfg")
	text = strings.NewReplacer("HOST", host, "PORT", port).Replace(text)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// openocd runs a program and returns what it says.
func openocd(t *testing.T, program string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed (scripts/setup peers)", program)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s does not come to an end: %v\n%s", program, err, out)
	}
	return string(out)
}

// judge fails for every MISMATCH and if not all n comparisons were made.
func judge(t *testing.T, out string, n int) {
	t.Helper()
	ok := strings.Count("\n"+out, "\nOK ")
	if strings.Contains(out, "MISMATCH") || ok != n {
		t.Errorf("%d of %d comparisons came out right:\n%s", ok, n, out)
	}
}
