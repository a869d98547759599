//go:build cgo

package umockdev_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/internal/built"
	"github.com/stem-hw/stem-hw/usb/umockdev"
	"github.com/stem-hw/stem-hw/usb/usbtest"
)

// person is who calls stem-hw on the made-up machine.
type person struct {
	t    *testing.T
	exe  string
	env  []string
	dir  string
	cred *syscall.Credential
}

func newPerson(t *testing.T, tb *umockdev.Testbed) *person {
	t.Helper()
	p := &person{t: t, exe: built.WithUSB(t), dir: t.TempDir()}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "STEM_HW_") && !strings.HasPrefix(kv, "XDG_") && !strings.HasPrefix(kv, "HOME=") && !strings.HasPrefix(kv, "UMOCKDEV_DIR=") {
			p.env = append(p.env, kv)
		}
	}
	p.env = append(p.env, "HOME="+p.dir, "XDG_RUNTIME_DIR="+p.dir, "UMOCKDEV_DIR="+tb.Root())
	return p
}

func (p *person) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.exe, args...)
	cmd.Env, cmd.Dir = p.env, p.dir
	if p.cred != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.cred}
	}
	return cmd
}

// run runs stem-hw and wants an exit status and words in what it says.
func (p *person) run(status int, words string, args ...string) string {
	p.t.Helper()
	var out, errs bytes.Buffer
	cmd := p.command(p.t.Context(), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	if code := cmd.ProcessState.ExitCode(); code != status || !strings.Contains(out.String()+errs.String(), words) {
		p.t.Errorf("stem-hw %s: exit status %d, want %d and %q\n%s%s", strings.Join(args, " "), code, status, words, out.String(), errs.String())
	}
	return out.String()
}

// TestAmbiguity: two candidates are never guessed between.
func TestAmbiguity(t *testing.T) {
	tb, _ := machine(t,
		usbtest.Bootsel("1-1", 2, "A1B2C3D4E5F60718", "sda"),
		usbtest.Bootsel("1-2", 3, "A1B2FFFF00001111", "sdb"),
		usbtest.Stdio("1-3", 4, "EEEEEEEEEEEEEEEE", "ttyACM0"),
		usbtest.Stdio("1-4", 5, "EEEEEEEEEEEEEEEE", "ttyACM1"),
		usbtest.Probe("1-5", 6, "E6633861A355B82C", "ttyACM2"),
	)
	p := newPerson(t, tb)
	out := p.run(0, "", "list")
	for _, want := range []string{"A1B2C3D4E5F60718", "usb:1-3", "usb:1-4", "E6633861A355B82C", "/dev/ttyACM1", "/dev/sda1"} {
		if !strings.Contains(out, want) {
			t.Errorf("list lacks %s:\n%s", want, out)
		}
	}
	p.run(4, "five boards match", "info")
	p.run(4, "two boards match", "use", "a1b2")
	p.run(4, "usb:1-3", "use", "EEEE")
	p.run(3, "no board is named", "erase", "1M+4k", "--yes")
	p.run(3, "no board matches", "use", "usb:1-9")
	p.run(0, "A1B2C3D4E5F60718", "use", "a1b2c", "--nickname", "desk")
	p.run(0, "probe E6633861A355B82C", "use", "E663")
	p.run(0, "desk", "list")
	// One of two that show the same number is known by its place alone.
	p.run(0, "usb:1-4", "use", "usb:1-4")
	unplug(tb, usbtest.Stdio("1-4", 5, "EEEEEEEEEEEEEEEE", "ttyACM1"))
	p.run(3, "not plugged in", "erase", "1M+4k", "--yes")
	// Another board at that place is not taken for it.
	plug(t, tb, usbtest.Stdio("1-4", 9, "0011223344556677", "ttyACM4"))
	p.run(4, "another board is where the pinned one was", "erase", "1M+4k", "--yes")
	if out := p.run(0, "", "__complete", "flash", "-b", ""); !strings.Contains(out, "desk\tRP2350 Boot, usb 1-1, bootsel") || !strings.Contains(out, "usb:1-3") && !strings.Contains(out, "EEEE") {
		t.Errorf("completion:\n%s", out)
	}
}

// TestWaitForAbsent: --wait waits for the pinned board, and takes no other.
func TestWaitForAbsent(t *testing.T) {
	mine := usbtest.Probe("1-1", 2, "E6633861A355B82C", "ttyACM0")
	tb, _ := machine(t, mine)
	p := newPerson(t, tb)
	p.run(0, "", "use", "E663")
	unplug(tb, mine)
	p.run(3, "no board matches", "list", "--identify", "-b", "E663", "--wait", "10ms")
	plug(t, tb, usbtest.Probe("1-2", 3, "FFFF3861A355B82C", "ttyACM1"))
	var out bytes.Buffer
	cmd := p.command(t.Context(), "use", "E6633861", "--wait", "1m")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	plug(t, tb, usbtest.Probe("1-3", 4, "E6633861A355B82C", "ttyACM2"))
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "E6633861A355B82C") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// BenchmarkListProcess20 runs stem-hw list on a machine with twenty boards, start
// and end of the process included.
func BenchmarkListProcess20(b *testing.B) {
	umockdev.Need(b)
	tb, err := umockdev.New()
	if err != nil {
		b.Fatal(err)
	}
	defer tb.Close()
	var all []usbtest.Gadget
	for i := range 20 {
		all = append(all, usbtest.Stdio(fmt.Sprintf("%d-%d", 1+i/10, 1+i%10), 10+i, fmt.Sprintf("E66146%010X", i), fmt.Sprintf("ttyACM%d", i)))
	}
	if err := tb.Add(usbtest.Umockdev(all...)); err != nil {
		b.Fatal(err)
	}
	exe, dir := built.WithUSB(b), b.TempDir()
	report := usbtest.CPU(b, syscall.RUSAGE_CHILDREN)
	defer report()
	for b.Loop() {
		cmd := exec.Command(exe, "list", "--json")
		cmd.Env = append(os.Environ(), "UMOCKDEV_DIR="+tb.Root(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir)
		out, err := cmd.Output()
		if err != nil || bytes.Count(out, []byte("E66146")) != 20 {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}

// TestNoPermission: an account that may not open a board sees it all the same.
func TestNoPermission(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	tb, _ := machine(t, usbtest.Bootsel("1-1", 2, "A1B2C3D4E5F60718", ""))
	p := newPerson(t, tb)
	// Everybody may look at the made-up machine, as at a real one.
	for _, dir := range []string{tb.Root(), p.dir, filepath.Dir(p.dir), filepath.Dir(filepath.Dir(p.dir)), filepath.Dir(p.exe)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(p.dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	p.cred = &syscall.Credential{Uid: 65534, Gid: 65534}
	var doc struct{ Boards []board.Board }
	if err := json.Unmarshal([]byte(p.run(0, "", "list", "--json")), &doc); err != nil || len(doc.Boards) != 1 {
		t.Fatalf("%v %+v", err, doc)
	}
	n := doc.Boards[0].NoAccess
	if len(n) != 1 || n[0].Node != "/dev/bus/usb/001/002" || n[0].Owner != "root" || n[0].Missing == "" {
		t.Errorf("%+v", n)
	}
	p.run(0, "no access: /dev/bus/usb/001/002 root:root", "list")
	p.run(5, "stem-hw udev install", "info", "-b", "A1B2C3D4E5F60718")
	p.run(5, "60-stem-hw.rules is not installed", "udev", "check")
}

// TestEscaped: nothing that a device says reaches the terminal as it is.
func TestEscaped(t *testing.T) {
	g := usbtest.Stdio("1-1", 8, "../../x\x1b[2J", "ttyACM0")
	g.Name = "\x1b]0;owned\a"
	tb, _ := machine(t, g)
	p := newPerson(t, tb)
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"info"}, {"__complete", "flash", "-b", ""}, {"doctor"}} {
		cmd := p.command(t.Context(), args...)
		out, _ := cmd.CombinedOutput()
		if bytes.ContainsAny(out, "\x1b\a") {
			t.Errorf("stem-hw %s: %q", strings.Join(args, " "), out)
		}
	}
	p.run(0, "usb:1-1", "use", "usb:1-1", "--nickname", "odd")
	p.run(0, "odd", "list")
}

// TestWatchVerb follows a board through a restart.
func TestWatchVerb(t *testing.T) {
	app := usbtest.Stdio("1-1", 8, "A1B2C3D4E5F60718", "ttyACM0")
	tb, _ := machine(t, app)
	p := newPerson(t, tb)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := p.command(ctx, "list", "--watch", "--json")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(pipe)
	until := func(event, mode string) {
		t.Helper()
		for lines.Scan() {
			var e struct {
				Event string
				Board board.Board
			}
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			if e.Event == event && string(e.Board.Mode) == mode {
				return
			}
		}
		t.Fatalf("no event %s %s", event, mode)
	}
	until("added", "running")
	unplug(tb, app)
	until("removed", "running")
	plug(t, tb, usbtest.Bootsel("1-1", 9, "A1B2C3D4E5F60718", "sda"))
	until("added", "bootsel")
	cancel()
	_ = cmd.Wait()
}
