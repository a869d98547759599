//go:build judges

package probe_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/internal/probed"
)

// TestJudgesFlashSpeed counts what each OpenOCD of $OPENOCD that knows the RP2350
// takes for the same 256 KiB at the same simulated probe.
func TestJudgesFlashSpeed(t *testing.T) {
	programs := strings.Fields(os.Getenv("OPENOCD"))
	if len(programs) == 0 {
		t.Skip("no OpenOCD was given: make judges OPENOCD=\"/path/to/openocd …\"")
	}
	file := filepath.Join(t.TempDir(), "noise.bin")
	if err := os.WriteFile(file, noise(), 0o600); err != nil {
		t.Fatal(err)
	}
	ours := ourEffort(t)
	for _, program := range programs {
		t.Run(program, func(t *testing.T) {
			r := probed.New(t, probed.Board{Arch: image.ArchARM})
			flash := watchFlash(r)
			host, port, err := net.SplitHostPort(r.Listen())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, program,
				"-c", "gdb_port disabled; tcl_port disabled; telnet_port disabled",
				"-c", "adapter driver cmsis-dap; cmsis-dap backend tcp; cmsis-dap tcp host "+host+"; cmsis-dap tcp port "+port,
				"-c", "transport select swd; adapter speed 5000; set USE_CORE {cm0 cm1}", "-f", "target/rp2350.cfg",
				"-c", "init; reset init; targets rp2350.cm0; flash write_image erase "+file+" 0x10000000; echo WRITTEN; shutdown").CombinedOutput()
			if says := string(out); err != nil && (strings.Contains(says, "rp2350.cfg") || strings.Contains(says, "cmsis-dap tcp")) {
				t.Skipf("it cannot: %s", out)
			}
			if err != nil || !strings.Contains(string(out), "WRITTEN") {
				t.Fatalf("%v: %s", err, out)
			}
			theirs := effort{r.Packets, r.Probe.Took(), *flash}
			if theirs.packets == 0 || theirs.flash == 0 {
				t.Fatalf("nothing was counted: %+v\n%s", theirs, out)
			}
			compare(t, ours, theirs)
		})
	}
}
