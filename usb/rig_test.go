//go:build rig

package usb_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/internal/rig"
	"github.com/stem-hw/stem-hw/usb"
)

// hw is a command line of stem-hw with no board in the environment.
func hw(args ...string) []string {
	return append([]string{"env", "-u", "STEM_HW_BOARD", "stem-hw"}, args...)
}

func run(t *testing.T, u rig.User, args ...string) string {
	t.Helper()
	line := hw(args...)
	return u.Run(t, line[0], line[1:]...)
}

func try(t *testing.T, u rig.User, args ...string) rig.Result {
	t.Helper()
	line := hw(args...)
	return u.Try(t, line[0], line[1:]...)
}

// fails wants an exit status and words of the message.
func fails(t *testing.T, status int, words string, u rig.User, args ...string) {
	t.Helper()
	r := try(t, u, args...)
	if r.Code != status || !strings.Contains(r.All(), words) {
		t.Errorf("stem-hw %s: exit status %d, want %d and %q\n%s", strings.Join(args, " "), r.Code, status, words, r.All())
	}
}

// list is what stem-hw list says to an account, without simulated boards.
func list(t *testing.T, u rig.User) []board.Board {
	t.Helper()
	var doc struct{ Boards []board.Board }
	if err := json.Unmarshal([]byte(run(t, u, "list", "--json")), &doc); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(doc.Boards, func(b board.Board) bool { return b.Simulated })
}

func finder(t *testing.T) *usb.Finder {
	t.Helper()
	f, err := usb.New(usb.Machine(os.Getenv))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func at(t *testing.T, f *usb.Finder, port string) usb.Device {
	t.Helper()
	all, err := f.Devices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Port == port {
			return d
		}
	}
	t.Fatalf("nothing at %s among %v", port, all)
	return usb.Device{}
}

// TestRigList lists two boards and a probe and compares with what the kernel and
// lsusb see, and counts what is opened.
func TestRigList(t *testing.T) {
	one, two := rig.NewBoard(t, rig.Board{Probe: true}), rig.NewBoard(t, rig.Board{})
	one.Plug(1)
	two.Plug(2)
	d1, d2 := one.WaitBootsel(), two.WaitBootsel()
	p := one.PlugProbe(3)
	tty, partition := p.WaitTTY(t), d1.WaitPartition(t)
	d2.WaitPartition(t)
	t.Log("\n" + run(t, rig.Tester, "list"))
	got := list(t, rig.Tester)
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []struct {
		serial, port, node string
		mode               board.Mode
	}{
		{one.Serial, d1.Name, fmt.Sprintf("/dev/bus/usb/001/%03d", d1.Num()), board.ModeBootsel},
		{two.Serial, d2.Name, fmt.Sprintf("/dev/bus/usb/001/%03d", d2.Num()), board.ModeBootsel},
		{one.ProbeSerial, p.Name, fmt.Sprintf("/dev/bus/usb/001/%03d", p.Num()), board.ModeProbe},
	} {
		b := got[i]
		if b.Serial != want.serial || b.Port != want.port || b.Node != want.node || b.Mode != want.mode || len(b.NoAccess) > 0 || b.Holder != nil {
			t.Errorf("%+v, want %+v", b, want)
		}
	}
	if got[0].Drive != partition || !slices.Equal(got[2].Consoles, []string{tty}) {
		t.Errorf("drive %q, want %q; consoles %v, want %s", got[0].Drive, partition, got[2].Consoles, tty)
	}
	// A mounted drive is shown with its place.
	rig.Run(t, "mkdir", "-p", "/tmp/a b")
	rig.Run(t, "mount", "-o", "ro", partition, "/tmp/a b")
	t.Cleanup(func() { rig.Run(t, "umount", "/tmp/a b") })
	if m := list(t, rig.Tester)[0].Mount; m != "/tmp/a b" {
		t.Errorf("mounted on %q", m)
	}

	trace := "/tmp/list.strace"
	line := append([]string{"strace", "-f", "-qq", "-e", "trace=open,openat,openat2", "-o", trace}, hw("list")...)
	rig.Run(t, line[0], line[1:]...)
	b, err := os.ReadFile(trace)
	if err != nil || !strings.Contains(string(b), "/sys/") && !strings.Contains(string(b), `"sys/`) {
		t.Fatalf("%d bytes of trace, %v", len(b), err)
	}
	for _, m := range regexp.MustCompile(`"[^"]*dev/(bus/usb|tty|hidraw|sd)[^"]*"`).FindAllString(string(b), -1) {
		t.Errorf("list opens %s", m)
	}
	for _, l := range strings.Split(run(t, rig.Tester, "__complete", "flash", "-b", ""), "\n") {
		t.Log(l)
	}
	if c := run(t, rig.Tester, "__complete", "flash", "-b", ""); !strings.Contains(c, one.Serial) || !strings.Contains(c, one.ProbeSerial) {
		t.Errorf("completion offers %s", c)
	}
}

// TestRigUse pins a board, moves it, swaps it, and names it.
func TestRigUse(t *testing.T) {
	one, two := rig.NewBoard(t, rig.Board{Probe: true}), rig.NewBoard(t, rig.Board{})
	one.Plug(1)
	two.Plug(2)
	one.WaitBootsel()
	two.WaitBootsel()
	fails(t, 3, "none is pinned", rig.Tester, "erase", "1M+4k", "--yes")
	fails(t, 4, "two boards match", rig.Tester, "info")
	fails(t, 3, "no board matches", rig.Tester, "use", "usb:1-9")
	run(t, rig.Tester, "use", one.Serial[:8], "--nickname", "desk")
	t.Cleanup(func() {
		run(t, rig.Tester, "use", "--clear")
		run(t, rig.Tester, "use", "--forget", "desk")
	})
	if out := run(t, rig.Tester, "use", "--json"); !strings.Contains(out, one.Serial) || !strings.Contains(out, `"chip"`) {
		t.Errorf("use: %s", out)
	}
	info := func() string { t.Helper(); return run(t, rig.Tester, "info", "--json") }
	if out := info(); !strings.Contains(out, one.Serial) {
		t.Errorf("the pinned board is not the one that info reads: %s", out)
	}
	if out := run(t, rig.Tester, "info", "-b", "DESK", "--json"); !strings.Contains(out, one.Serial) {
		t.Errorf("desk: %s", out)
	}
	// It is the same board elsewhere.
	one.Unplug()
	fails(t, 3, "not plugged in", rig.Tester, "info")
	one.Plug(5)
	one.WaitBootsel()
	if out := info(); !strings.Contains(out, one.Serial) || !strings.Contains(out, `"1-5"`) {
		t.Errorf("at another port: %s", out)
	}
	// Another one where it was last is not.
	one.Unplug()
	two.Unplug()
	two.Plug(5)
	two.WaitBootsel()
	fails(t, 4, "another board is where the pinned one was", rig.Tester, "info")
	fails(t, 4, one.Serial, rig.Tester, "erase", "1M+4k", "--yes")
	// A probe is pinned beside the board.
	one.PlugProbe(3)
	run(t, rig.Tester, "use", one.ProbeSerial)
	if out := run(t, rig.Tester, "use", "--json"); !strings.Contains(out, one.ProbeSerial) || !strings.Contains(out, one.Serial) {
		t.Errorf("use: %s", out)
	}
	// The chip behind it has no power just now; with power it is recorded.
	one.Plug(6)
	one.WaitBootsel()
	run(t, rig.Tester, "use", one.ProbeSerial)
	var doc struct {
		Chip string `json:"probe_chip"`
	}
	if out := run(t, rig.Tester, "use", "--json"); json.Unmarshal([]byte(out), &doc) != nil || !strings.EqualFold(doc.Chip, one.Serial) {
		t.Errorf("use: %s", out)
	}
	one.Unplug()
	// --wait waits for the board that is pinned, and takes no other.
	type ended struct {
		code int
		out  string
	}
	done := make(chan ended)
	go func() {
		r := try(t, rig.Tester, "info", "--wait", "60s", "--json")
		done <- ended{r.Code, r.All()}
	}()
	two.Unplug()
	two.Plug(4)
	two.WaitBootsel()
	select {
	case e := <-done:
		t.Errorf("info did not wait: %+v", e)
	default:
	}
	one.Plug(1)
	if e := <-done; e.code != 0 || !strings.Contains(e.out, one.Serial) {
		t.Errorf("%+v", e)
	}
}

// event is a line of list --watch.
type event struct {
	Event string
	Board board.Board
}

// watcher reads the events of stem-hw list --watch.
type watcher struct {
	t      *testing.T
	events chan event
}

func watch(t *testing.T) *watcher {
	t.Helper()
	line := hw("list", "--watch", "--json")
	full := rig.Tester.Line(line[0], line[1:]...)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, full[0], full[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &watcher{t, make(chan event, 100)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s := bufio.NewScanner(out)
		for s.Scan() {
			var e event
			if json.Unmarshal(s.Bytes(), &e) == nil && !e.Board.Simulated {
				w.events <- e
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		<-read
	})
	return w
}

// until reads events up to one.
func (w *watcher) until(kind, serial string, mode board.Mode) board.Board {
	w.t.Helper()
	for {
		select {
		case e := <-w.events:
			w.t.Logf("%s %s %s %s", e.Event, e.Board.Serial, e.Board.Port, e.Board.State())
			if e.Event == kind && e.Board.Serial == serial && (mode == "" || e.Board.Mode == mode) {
				return e.Board
			}
		case <-time.After(2 * time.Minute):
			w.t.Fatalf("list --watch does not tell that %s was %s", serial, kind)
		}
	}
}

// TestRigWatch sees two boards come, go, and restart.
func TestRigWatch(t *testing.T) {
	one, two := rig.NewBoard(t, rig.Board{}), rig.NewBoard(t, rig.Board{})
	w := watch(t)
	one.Plug(1)
	w.until("added", one.Serial, board.ModeBootsel)
	two.Plug(2)
	w.until("added", two.Serial, board.ModeBootsel)
	one.WaitBootsel()
	first := list(t, rig.Tester)[0]
	rig.Run(t, "picotool", "reboot", "-u", "--ser", one.Serial)
	w.until("removed", one.Serial, "")
	again := w.until("added", one.Serial, board.ModeBootsel)
	if again.Port != first.Port || again.Node == first.Node {
		t.Errorf("%+v, before %+v", again, first)
	}
	two.Unplug()
	w.until("removed", two.Serial, "")
}

// TestRigFollow follows a board by its port through a restart, while another one
// is plugged in; the lease goes with it.
func TestRigFollow(t *testing.T) {
	one, two := rig.NewBoard(t, rig.Board{}), rig.NewBoard(t, rig.Board{})
	one.Plug(1)
	d1 := one.WaitBootsel()
	f := finder(t)
	old := at(t, f, d1.Name)
	l, err := f.Lease(t.Context(), old, "test", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	two.Plug(2)
	two.WaitBootsel()
	rig.Run(t, "picotool", "reboot", "-u", "--ser", one.Serial)
	var got usb.Device
	rig.Wait(t, "the board is back", func() bool {
		got, err = f.Follow(t.Context(), old, usb.InBootsel)
		return err == nil
	})
	if got.Port != old.Port || got.Num == old.Num || got.Serial != one.Serial {
		t.Errorf("%+v behind %+v", got, old)
	}
	if err := l.Move(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	if h := f.Holder(got); h == nil || h.PID != os.Getpid() || h.Verb != "test" {
		t.Errorf("%+v", h)
	}
	// Somebody was faster: the lease ends, and says so.
	next, err := f.Lease(t.Context(), at(t, f, two.Path()), "other", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Release()
	if err := l.Move(t.Context(), at(t, f, two.Path())); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("%v", err)
	}
	if h := f.Holder(got); h != nil {
		t.Errorf("still held: %+v", h)
	}
}

// TestRigLease: what one account holds, another one sees and waits for.
func TestRigLease(t *testing.T) {
	one := rig.NewBoard(t, rig.Board{})
	one.Plug(1)
	d := one.WaitBootsel()
	f := finder(t)
	l, err := f.Lease(t.Context(), at(t, f, d.Name), "flash", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []rig.User{rig.Tester, rig.Outsider, rig.Root} {
		h := list(t, u)[0].Holder
		if h == nil || h.PID != os.Getpid() || h.User != "root" || h.Verb != "flash" || h.Since.IsZero() {
			t.Errorf("%s sees %+v", u.Name, h)
		}
	}
	t.Log("\n" + run(t, rig.Tester, "list"))
	fails(t, 6, "of root", rig.Tester, "info", "-b", one.Serial)

	// Two wait; they get it in the order in which they came.
	var order []string
	done := make(chan string)
	waiters := 0
	for _, who := range []string{"first", "second"} {
		go func() {
			l, err := f.Lease(context.Background(), at(t, f, d.Name), who, 3*time.Minute, nil)
			if err != nil {
				done <- err.Error()
				return
			}
			// Held until the other one had its chance.
			time.Sleep(50 * time.Millisecond)
			done <- who
			_ = l.Release()
		}()
		waiters++
		rig.Wait(t, who+" waits", func() bool {
			b, err := os.ReadFile("/proc/locks")
			return err == nil && strings.Count(string(b), "-> FLOCK") >= waiters
		})
	}
	ended := make(chan rig.Result)
	go func() { ended <- try(t, rig.Tester, "info", "-b", one.Serial, "--wait", "3m") }()
	rig.Wait(t, "stem-hw waits too", func() bool {
		b, err := os.ReadFile("/proc/locks")
		return err == nil && strings.Count(string(b), "-> FLOCK") >= 3
	})
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	for range waiters {
		order = append(order, <-done)
	}
	if !slices.Equal(order, []string{"first", "second"}) {
		t.Errorf("the order was %v", order)
	}
	if r := <-ended; r.Code != 0 || !strings.Contains(r.Err, "waiting: the board is in use, flash") {
		t.Errorf("%d %s", r.Code, r.All())
	}
	// A holder that is killed holds nothing, whatever its record says.
	if h := f.Holder(at(t, f, d.Name)); h != nil {
		t.Errorf("%+v", h)
	}
}

// TestRigRules takes away all rules about boards, installs those of stem-hw, and
// looks who may do what.
func TestRigRules(t *testing.T) {
	aside := "/tmp/rules-aside"
	rig.Run(t, "mkdir", "-p", aside)
	// udev looks for changed rules only every few seconds.
	t.Cleanup(func() { rig.Run(t, "udevadm", "control", "--reload") })
	for _, r := range []string{"/usr/lib/udev/rules.d/99-picotool.rules", "/usr/lib/udev/rules.d/60-openocd.rules", "/usr/lib/udev/rules.d/60-picotool.rules"} {
		if _, err := os.Stat(r); err == nil {
			rig.Run(t, "mv", r, aside)
			t.Cleanup(func() { rig.Run(t, "mv", aside+r[strings.LastIndex(r, "/"):], r) })
		}
	}
	rig.Run(t, "udevadm", "control", "--reload")
	one := rig.NewBoard(t, rig.Board{Probe: true})
	one.Plug(1)
	d := one.WaitBootsel()
	p := one.PlugProbe(2)
	tty := p.WaitTTY(t)
	t.Log("\n" + run(t, rig.Tester, "list"))
	b := list(t, rig.Tester)
	if len(b) != 2 || len(b[0].NoAccess) != 1 || b[0].NoAccess[0].Owner != "root" || b[0].NoAccess[0].Group != "root" ||
		!strings.Contains(b[0].NoAccess[0].Missing, "not installed") {
		t.Fatalf("%+v", b)
	}
	fails(t, 5, "stem-hw udev install", rig.Tester, "info", "-b", one.Serial)
	fails(t, 5, "not installed", rig.Tester, "udev", "check")
	fails(t, 5, "sudo", rig.Tester, "udev", "install")
	if out := rig.Run(t, "udevadm", "verify", "--resolve-names=late", "../udev-rules/60-stem-hw.rules"); strings.Contains(out, "60-stem-hw.rules:") {
		t.Error(out)
	}

	t.Log("\n" + run(t, rig.Root, "udev", "install"))
	t.Cleanup(func() { run(t, rig.Root, "udev", "install", "--remove") })
	if out := run(t, rig.Root, "udev", "install"); !strings.Contains(out, "unchanged") {
		t.Error(out)
	}
	look := func() {
		t.Helper()
		node := fmt.Sprintf("/dev/bus/usb/001/%03d", d.Num())
		probe := fmt.Sprintf("/dev/bus/usb/001/%03d", p.Num())
		for path, want := range map[string]string{node: "root:plugdev 660", probe: "root:plugdev 660", tty: "root:dialout 660"} {
			if got := strings.TrimSpace(rig.Run(t, "stat", "-c", "%U:%G %a", path)); got != want {
				t.Errorf("%s is %s, want %s", path, got, want)
			}
		}
		if got := p.Attr("power/control"); got != "on" {
			t.Errorf("power/control of the probe is %s", got)
		}
		for _, link := range []string{"/dev/stem-hw/" + one.ProbeSerial + "-if01", "/dev/stem-hw/usb-" + p.Name + ":1.1"} {
			if got := strings.TrimSpace(rig.Run(t, "readlink", "-f", link)); got != tty {
				t.Errorf("%s is %s, want %s", link, got, tty)
			}
		}
		if props := p.Properties(t); props["ID_MM_DEVICE_IGNORE"] != "1" || props["STEM_HW"] != "probe" || !strings.Contains(props["TAGS"], ":uaccess:") {
			t.Errorf("%v", props)
		}
		if out := rig.Run(t, "udevadm", "info", "-q", "property", tty); !strings.Contains(out, "ID_MM_PORT_IGNORE=1") || !strings.Contains(out, ":uaccess:") {
			t.Errorf("%s", out)
		}
	}
	look()
	if b := list(t, rig.Tester); len(b[0].NoAccess)+len(b[1].NoAccess) > 0 {
		t.Errorf("%+v", b)
	}
	run(t, rig.Tester, "info", "-b", one.Serial)
	t.Log("\n" + run(t, rig.Tester, "udev", "check"))
	// Who is in neither group is told which one.
	fails(t, 5, "usermod -aG plugdev outsider", rig.Outsider, "udev", "check")
	fails(t, 5, "root:plugdev 0660", rig.Outsider, "info", "-b", one.Serial)
	// What is plugged in later has it from the start.
	one.UnplugProbe()
	one.Unplug()
	one.Plug(1)
	d = one.WaitBootsel()
	p = one.PlugProbe(2)
	tty = p.WaitTTY(t)
	look()
}

// TestRigIdentify blinks a probe, and says where a board is that has no light.
func TestRigIdentify(t *testing.T) {
	one := rig.NewBoard(t, rig.Board{Probe: true})
	one.Plug(1)
	d := one.WaitBootsel()
	one.PlugProbe(2)
	if out := run(t, rig.Tester, "list", "--identify", "-b", one.ProbeSerial); !strings.Contains(out, "its light blinked") {
		t.Error(out)
	}
	// Nothing in flash says what board this is.
	if out := run(t, rig.Tester, "list", "--identify", "-b", one.Serial); !strings.Contains(out, "usb 1-1") || strings.Contains(out, "blinked") {
		t.Error(out)
	}
	if d.Num() != at(t, finder(t), d.Name).Num {
		t.Error("a board that must not blink was restarted")
	}
	// What is in this one's flash says that it is a plain Pico 2: its light blinks,
	// and it comes back.
	plain := rig.NewBoard(t, rig.Board{Flash: saysBoard("pico2"), Button: true})
	plain.Plug(3)
	num := plain.WaitBootsel().Num()
	if out := run(t, rig.Tester, "list", "--identify", "-b", plain.Serial); !strings.Contains(out, "its light blinked; it is at usb 1-3") {
		t.Error(out)
	}
	if plain.WaitBootsel().Num() == num {
		t.Error("the board never left to blink")
	}
	if !bytes.Equal(plain.Flash(0, 64), saysBoard("pico2")[:64]) {
		t.Error("its flash was touched")
	}
}

// saysBoard is the beginning of a flash whose binary info names the board
// (pico-sdk, src/common/pico_binary_info).
func saysBoard(name string) []byte {
	const base = 0x10000000
	w := []uint32{
		0x7188ebf2, base + 20, base + 24, 0, 0xe71aa390, // where the entries are
		base + 24,                             // the one entry:
		0x5052<<16 | 6, 0xb63cffbb, base + 36, // an identity and a string
	}
	var b []byte
	for _, v := range w {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return append(append(b, name...), make([]byte, 64)...)
}
