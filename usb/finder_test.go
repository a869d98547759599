package usb_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/board"
	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/usb"
	"github.com/stem-hw/stem-hw/usb/usbtest"
)

// counted is a machine's root that notes what is opened.
type counted struct {
	fs.FS
	mu     sync.Mutex
	opened []string
}

func (c *counted) Open(name string) (fs.File, error) {
	c.mu.Lock()
	c.opened = append(c.opened, name)
	c.mu.Unlock()
	return c.FS.Open(name)
}

func (c *counted) Stat(name string) (fs.FileInfo, error) { return fs.Stat(c.FS, name) }

func (c *counted) ReadDir(name string) ([]fs.DirEntry, error) {
	c.mu.Lock()
	c.opened = append(c.opened, name)
	c.mu.Unlock()
	return fs.ReadDir(c.FS, name)
}

// machine is a folder as a machine, on which all nodes may be opened but those
// that refuse names.
func machine(t testing.TB, gadgets ...usbtest.Gadget) (dir string, sys usb.System) {
	t.Helper()
	dir = t.TempDir()
	for _, d := range []string{"sys/devices", "dev/bus/usb", "proc", "run/lock", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	usbtest.Machine(t, dir, gadgets...)
	return dir, usb.System{
		Root: os.DirFS(dir), Dir: dir, Access: func(string) bool { return true },
		Users:  func(id uint32) string { return fmt.Sprintf("user%d", id) },
		Groups: func(id uint32) string { return fmt.Sprintf("group%d", id) },
	}
}

func devices(t testing.TB, f *usb.Finder) []usb.Device {
	t.Helper()
	d, err := f.Devices(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// many are twenty boards and probes, and what is not to be listed.
func many() (out []usbtest.Gadget) {
	for i := range 20 {
		port, serial := fmt.Sprintf("%d-%d", 1+i/10, 1+i%10), fmt.Sprintf("E66146%010X", i)
		switch i % 3 {
		case 0:
			out = append(out, usbtest.Bootsel(port, 10+i, serial, fmt.Sprintf("sd%c", 'a'+i)))
		case 1:
			out = append(out, usbtest.Stdio(port, 10+i, serial, fmt.Sprintf("ttyACM%d", i)))
		case 2:
			out = append(out, usbtest.Probe(port, 10+i, serial, fmt.Sprintf("ttyACM%d", i)))
		}
	}
	return append(out, usbtest.Gadget{Port: "3-1", Num: 2, Vendor: 0x046d, Product: 0xc31c, Interfaces: []usbtest.Interface{{Class: 3}}})
}

// TestOpensNone lists twenty boards and counts what is opened of them: nothing.
func TestOpensNone(t *testing.T) {
	_, sys := machine(t, many()...)
	c := &counted{FS: sys.Root}
	sys.Root = c
	f := usb.NewWithoutUdev(sys)
	ds := devices(t, f)
	if len(ds) != 20 {
		t.Fatalf("%d devices", len(ds))
	}
	for _, d := range ds {
		f.Board(d)
		f.Holder(d)
	}
	nodes := 0
	for _, name := range c.opened {
		if strings.HasPrefix(name, "dev") {
			nodes++
			t.Errorf("%s was opened", name)
		}
	}
	if len(c.opened) < 20*5 {
		t.Errorf("only %d files were opened: the count is worth nothing", len(c.opened))
	}
	t.Logf("%d files of sysfs and proc, %d device nodes opened for %d boards", len(c.opened), nodes, len(ds))
}

func TestClassify(t *testing.T) {
	white := usbtest.Bootsel("1-1", 2, "A1B2C3D4E5F60718", "")
	white.Vendor, white.Product, white.Name = 0x1234, 0x5678, "Lab board"
	noDrive := usbtest.Bootsel("1-1", 2, "A1B2C3D4E5F60718", "")
	noDrive.Interfaces = noDrive.Interfaces[1:]
	rp2040 := usbtest.Bootsel("1-1", 2, "E0C9125B0D9B", "")
	rp2040.Product = usb.ProductRP2040Boot
	own := usbtest.Stdio("1-1", 2, "0001", "ttyACM0")
	own.Vendor, own.Product = 0xcafe, 0x4001
	silent := usbtest.Stdio("1-1", 2, "0001", "ttyACM0")
	silent.Vendor, silent.Product = 0xcafe, 0x4001
	silent.Interfaces = silent.Interfaces[:2]
	micropython := silent
	micropython.Vendor, micropython.Product = usb.VendorRaspberryPi, usb.ProductMicroPy
	keyboard := usbtest.Gadget{Port: "1-1", Num: 2, Vendor: usb.VendorRaspberryPi, Product: 0x1234, Name: "Keyboard", Interfaces: []usbtest.Interface{{Class: 3}}}
	nameless := usbtest.Probe("1-1", 2, "E6", "ttyACM0")
	nameless.Name = "Lab tool" // only the interface says what it is
	fresh := usbtest.Bootsel("1-1", 2, "A1B2C3D4E5F60718", "")
	fresh.Unconfigured = true
	for _, tt := range []struct {
		name   string
		g      usbtest.Gadget
		listed bool
		role   board.Role
		mode   board.Mode
		chip   string
		kinds  string
	}{
		{"rp2350 bootsel", usbtest.Bootsel("1-1", 2, "A", "sda"), true, board.RoleBoard, board.ModeBootsel, "rp2350", "storage picoboot"},
		{"white label", white, true, board.RoleBoard, board.ModeBootsel, "rp2350", "storage picoboot"},
		{"without a drive", noDrive, true, board.RoleBoard, board.ModeBootsel, "rp2350", "picoboot"},
		{"rp2040 bootsel", rp2040, true, board.RoleBoard, board.ModeBootsel, "rp2040", "storage picoboot"},
		{"sdk stdio", usbtest.Stdio("1-1", 2, "A", "ttyACM0"), true, board.RoleBoard, board.ModeRunning, "rp2350", "serial reset"},
		{"reset interface of somebody", own, true, board.RoleBoard, board.ModeRunning, "", "serial reset"},
		{"serial port of somebody", silent, false, "", "", "", ""},
		{"micropython", micropython, true, board.RoleBoard, board.ModeRunning, "", "serial"},
		{"keyboard of raspberry pi", keyboard, false, "", "", "", ""},
		{"debug probe", usbtest.Probe("1-1", 2, "A", "ttyACM0"), true, board.RoleProbe, board.ModeProbe, "", "cmsis-dap-v2 serial"},
		{"probe by its interface", nameless, true, board.RoleProbe, board.ModeProbe, "", "cmsis-dap-v2 serial"},
		{"probe by hid", usbtest.HIDProbe("1-1", 2, "A", "hidraw0"), true, board.RoleProbe, board.ModeProbe, "", "cmsis-dap-v1"},
		{"being set up", fresh, true, board.RoleBoard, board.ModeBootsel, "rp2350", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, sys := machine(t, tt.g)
			f := usb.NewWithoutUdev(sys)
			ds := devices(t, f)
			if (len(ds) == 1) != tt.listed {
				t.Fatalf("%+v", ds)
			}
			if !tt.listed {
				return
			}
			b := f.Board(ds[0])
			if b.Role != tt.role || b.Mode != tt.mode || b.Chip != tt.chip || strings.Join(b.Interfaces, " ") != tt.kinds {
				t.Errorf("%+v, want %+v", b, tt)
			}
		})
	}
}

// TestAccess: a board that may not be opened is listed, with what is missing.
func TestAccess(t *testing.T) {
	g := usbtest.Stdio("1-1", 2, "A1", "ttyACM0")
	dir, sys := machine(t, g)
	denied := map[string]bool{"dev/bus/usb/001/002": true, "dev/ttyACM0": true}
	sys.Access = func(node string) bool { return !denied[node] }
	node := filepath.Join(dir, "dev", g.Node())
	if err := os.Chmod(node, 0o664); err != nil {
		t.Fatal(err)
	}
	f := usb.NewWithoutUdev(sys)
	look := func() []board.NoAccess { t.Helper(); return f.Board(devices(t, f)[0]).NoAccess }
	n := look()
	owner, group := fmt.Sprintf("user%d", os.Geteuid()), fmt.Sprintf("group%d", os.Getegid())
	if len(n) != 2 || n[0].Node != "/dev/bus/usb/001/002" || n[0].Owner != owner || n[0].Group != group || n[0].Perm != 0o664 ||
		n[0].Missing != "60-stem-hw.rules is not installed" || n[1].Node != "/dev/ttyACM0" {
		t.Errorf("%+v", n)
	}
	err := usb.NoAccess(devices(t, f)[0])
	if fl := faults.Of(err); fl.Status != faults.StatusPermission || !strings.Contains(fl.Seen, owner+":"+group+" 0664") || !strings.Contains(fl.Try[0], "udev install") {
		t.Errorf("%+v", fl)
	}
	rules := filepath.Join(dir, "etc/udev/rules.d/60-stem-hw.rules")
	if err := os.MkdirAll(filepath.Dir(rules), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rules, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if n := look(); !strings.Contains(n[0].Missing, "not in the group "+group) {
		t.Errorf("%+v", n)
	}
	if err := os.Chmod(node, 0o644); err != nil {
		t.Fatal(err)
	}
	if n := look(); !strings.Contains(n[0].Missing, "plugged in before") {
		t.Errorf("%+v", n)
	}
	if err := os.Remove(node); err != nil {
		t.Fatal(err)
	}
	denied = nil
	sys.Access = nil
	if n := usb.NewWithoutUdev(sys).Board(devices(t, usb.NewWithoutUdev(sys))[0]).NoAccess; !strings.Contains(n[0].Missing, "not there") {
		t.Errorf("%+v", n)
	}
}

// TestLease: who has a board is seen, and those who wait get it in their order.
func TestLease(t *testing.T) {
	g := usbtest.Bootsel("1-1", 2, "A1", "")
	dir, sys := machine(t, g)
	f := usb.NewWithoutUdev(sys)
	ctx := t.Context()
	d := devices(t, f)[0]
	l, err := f.Lease(ctx, d, "flash", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	records, _ := filepath.Glob(filepath.Join(dir, "run/lock/*"))
	if len(records) != 1 {
		t.Errorf("records: %v", records)
	}
	if st, err := os.Stat(records[0]); err != nil || st.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", st, err)
	}
	if _, err := f.Lease(ctx, d, "erase", 0, nil); faults.StatusOf(err) != faults.StatusBusy {
		t.Errorf("%v", err)
	}
	waited := false
	if _, err := f.Lease(ctx, d, "erase", 50*time.Millisecond, func(usb.Holder) { waited = true }); faults.StatusOf(err) != faults.StatusBusy {
		t.Errorf("%v", err)
	}
	_ = waited // nobody is named: this machine's /proc/locks is empty
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := f.Lease(gone, d, "erase", time.Hour, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	var order []string
	done := make(chan string)
	go func() {
		l, err := f.Lease(ctx, d, "second", time.Minute, nil)
		if err != nil {
			done <- err.Error()
			return
		}
		err = l.Release()
		if err != nil {
			done <- err.Error()
			return
		}
		done <- "second"
	}()
	released := make(chan struct{})
	go func() {
		done <- "first"
		_ = l.Release()
		close(released)
	}()
	order = append(order, <-done, <-done)
	<-released
	if !slices.Equal(order, []string{"first", "second"}) {
		t.Error(order)
	}
	if err := l.Release(); err != nil {
		t.Errorf("released twice: %v", err)
	}
	// The board is plugged in anew while somebody waits: he is told to find it
	// again, and never gets the node that nobody listens to.
	// A wait that was given up may still be letting go of the lock.
	l, err = f.Lease(ctx, d, "flash", time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	moved := make(chan error)
	go func() {
		_, err := f.Lease(ctx, d, "late", time.Minute, nil)
		moved <- err
	}()
	usbtest.Unplug(t, dir, g)
	next := usbtest.Bootsel("1-1", 3, "A1", "")
	usbtest.Machine(t, dir, next)
	if err := l.Move(ctx, devices(t, f)[0]); err != nil {
		t.Fatal(err)
	}
	if l.Device().Num != 3 {
		t.Errorf("%+v", l.Device())
	}
	if err := <-moved; !errors.Is(err, usb.ErrMoved) {
		t.Errorf("%v", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "run/lock/*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestHolder reads what the kernel and the holder say, and believes no record that
// somebody else could have written.
func TestHolder(t *testing.T) {
	g := usbtest.Bootsel("1-1", 2, "A1", "")
	dir, sys := machine(t, g)
	st, err := os.Stat(filepath.Join(dir, "dev", g.Node()))
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	major, minor, ino := numbers(st)
	put("proc/locks", fmt.Sprintf("1: POSIX  ADVISORY  READ 5 08:01:1 0 EOF\n2: FLOCK  ADVISORY  WRITE 4711 %02x:%02x:%d 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 4712 %02x:%02x:%d 0 EOF\n", major, minor, ino, major, minor, ino))
	put("proc/4711/comm", "openocd\n")
	f := usb.NewWithoutUdev(sys)
	holder := func() *usb.Holder { t.Helper(); return devices(t, f)[0].Holder }
	me := fmt.Sprintf("user%d", os.Geteuid())
	if h := holder(); h == nil || h.PID != 4711 || h.User != me || h.Verb != "openocd" {
		t.Errorf("%+v", h)
	}
	record := fmt.Sprintf("run/lock/stem-hw-%d-usb-001-002.json", os.Geteuid())
	put(record, `{"pid":4711,"verb":"flash","since":"2026-01-02T03:04:05Z"}`)
	if h := holder(); h == nil || h.Verb != "flash" || h.Since.Year() != 2026 {
		t.Errorf("%+v", h)
	}
	put(record, `{"pid":1,"verb":"a lie"}`)
	if h := holder(); h == nil || h.Verb != "openocd" {
		t.Errorf("the record of another process counts: %+v", h)
	}
	put(record, strings.Repeat("x", 100000))
	if h := holder(); h == nil || h.Verb != "openocd" {
		t.Errorf("%+v", h)
	}
	put("proc/locks", fmt.Sprintf("1: FLOCK  ADVISORY  WRITE 0 %02x:%02x:%d 0 EOF\n", major, minor, ino))
	if h := holder(); h == nil || h.PID != 0 {
		t.Errorf("a holder outside: %+v", h)
	}
	put("proc/locks", "")
	if h := holder(); h != nil {
		t.Errorf("%+v", h)
	}
}

// TestDrive finds the drive, and where it is mounted.
func TestDrive(t *testing.T) {
	dir, sys := machine(t, usbtest.Bootsel("1-1", 2, "A1", "sdq"))
	text := "22 1 0:21 / /proc rw - proc proc rw\n90 1 8:1 / /media/anna/RP\\0402350 rw - vfat /dev/sdq1 rw\n"
	if err := os.MkdirAll(filepath.Join(dir, "proc/self"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "proc/self/mountinfo"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f := usb.NewWithoutUdev(sys)
	b := f.Board(devices(t, f)[0])
	if b.Drive != "/dev/sdq1" || b.Mount != "/media/anna/RP 2350" {
		t.Errorf("%q on %q", b.Drive, b.Mount)
	}
}

// TestFollowFails: what did not come back is told with what is there instead.
func TestFollowFails(t *testing.T) {
	_, sys := machine(t, usbtest.Bootsel("1-1", 2, "A1", ""))
	f := usb.NewWithoutUdev(sys)
	d := devices(t, f)[0]
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := f.Follow(ctx, d, usb.Running)
	if fl := faults.Of(err); fl == nil || fl.Code != faults.CodeLost || !strings.Contains(fl.Seen, "as it was") {
		t.Errorf("%v", err)
	}
}

// BenchmarkList20 lists twenty boards as list does.
func BenchmarkList20(b *testing.B) {
	_, sys := machine(b, many()...)
	f := usb.NewWithoutUdev(sys)
	report := usbtest.CPU(b, syscall.RUSAGE_SELF)
	defer report()
	for b.Loop() {
		if n := len(devices(b, f)); n != 20 {
			b.Fatal(n)
		}
	}
}
