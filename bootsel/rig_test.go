//go:build rig

package bootsel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/internal/rig"
)

const (
	hello = "/src/examples/hello/hello.elf"
	echo  = "/src/examples/usbecho/usbecho.elf"
	timer = "/src/examples/timer/timer.elf"
)

// dir is a folder that every account may use.
func dir(t *testing.T) string {
	d, err := os.MkdirTemp("/tmp", "rig")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(d) })
	return d
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// fails runs our tool and wants an exit status and words.
func fails(t *testing.T, code int, args []string, words ...string) {
	t.Helper()
	r := rig.Tester.Try(t, "stem-hw", args...)
	if r.Code != code {
		t.Errorf("stem-hw %v: exit status %d, want %d\n%s", args, r.Code, code, r.All())
	}
	for _, w := range words {
		if !strings.Contains(r.All(), w) {
			t.Errorf("stem-hw %v says nothing of %q:\n%s", args, w, r.All())
		}
	}
}

func ours(t *testing.T, args ...string) string {
	t.Helper()
	return rig.Tester.Run(t, "stem-hw", args...)
}

func has(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("nothing of %q in:\n%s", w, text)
		}
	}
}

// TestRigSideBySide: each command by our tool and by Debian's picotool, on two
// boards, each tool judging what the other one did.
func TestRigSideBySide(t *testing.T) {
	tmp := dir(t)
	a := rig.NewBoard(t, rig.Board{Arch: "riscv"})
	b := rig.NewBoard(t, rig.Board{Arch: "riscv"})
	a.Plug(1)
	b.Plug(2)
	a.WaitBootsel()
	b.WaitBootsel()
	pico := func(args ...string) string { t.Helper(); return rig.Tester.Run(t, "picotool", args...) }

	// Two candidates and nobody named one: exit 3 for a verb that writes.
	fails(t, 3, []string{"flash", hello}, a.Serial, b.Serial)
	// Both at once, a row each; picotool finds it there.
	out := ours(t, "flash", "-b", a.Serial, "-b", b.Serial, "--no-start", hello)
	has(t, out, a.Serial+": hello.elf", b.Serial+": hello.elf", "verified", "KiB/s")
	for _, s := range []string{a.Serial, b.Serial} {
		pico("verify", "--ser", s, hello)
	}
	// What picotool loaded is verified by ours; a difference is exit 9, and shown.
	pico("load", "-v", "--ser", a.Serial, timer)
	ours(t, "verify", "-b", a.Serial, timer)
	fails(t, 9, []string{"verify", "-b", a.Serial, hello}, "verify-mismatch", "at 0x1000")
	if r := rig.Tester.Try(t, "picotool", "verify", "--ser", a.Serial, hello); r.Code == 0 {
		t.Error("picotool sees no difference")
	}
	// Save: the same bytes, in each format.
	ours(t, "save", "-b", a.Serial, "--range", "0+4k", tmp+"/ours.bin")
	pico("save", "-r", "0x10000000", "0x10001000", tmp+"/theirs.bin", "--ser", a.Serial)
	o, err1 := os.ReadFile(tmp + "/ours.bin")
	p, err2 := os.ReadFile(tmp + "/theirs.bin")
	if err1 != nil || err2 != nil || !bytes.Equal(o, p) || !bytes.Equal(o, a.Flash(0, 4096)) {
		t.Errorf("saved: %v %v", err1, err2)
	}
	for _, f := range []string{"/s.uf2", "/s.elf"} {
		ours(t, "save", "-b", a.Serial, "--range", "0+4k", tmp+f)
		pico("load", "-v", "--ser", b.Serial, tmp+f)
		if !bytes.Equal(b.Flash(0, 4096), a.Flash(0, 4096)) {
			t.Errorf("%s does not bring it back", f)
		}
	}
	// Info: the same chip, the same program.
	mine, theirs := ours(t, "info", "-b", a.Serial), pico("info", "-a", "--ser", a.Serial)
	has(t, mine, "id "+a.Serial, "QFN-60", "RISC-V")
	has(t, theirs, "RISC-V")
	has(t, strings.ToLower(theirs), strings.ToLower(a.Serial))
	// BIN at a place, HEX.
	ours(t, "flash", "-b", a.Serial, "--no-start", "--offset", "1M", write(t, tmp+"/data.bin", []byte("data at a megabyte")))
	if got := a.Flash(1<<20, 18); string(got) != "data at a megabyte" {
		t.Errorf("%q", got)
	}
	// Erase: ours, seen by picotool; theirs, seen by ours.
	fails(t, 13, []string{"erase", "-b", a.Serial, "--all"}, "--yes")
	ours(t, "erase", "-b", a.Serial, "0+4k", "--yes")
	pico("save", "-r", "0x10000000", "0x10001000", tmp+"/blank.bin", "--ser", a.Serial)
	if p, err := os.ReadFile(tmp + "/blank.bin"); err != nil || !bytes.Equal(p, bytes.Repeat([]byte{0xff}, 4096)) {
		t.Errorf("not erased: %v", err)
	}
	pico("erase", "-r", "0x10100000", "0x10101000", "--ser", a.Serial)
	fails(t, 9, []string{"verify", "-b", a.Serial, "--offset", "1M", tmp + "/data.bin"})
	// Reset: picotool's reboot and ours start the program.
	pico("load", "-v", "--ser", b.Serial, timer)
	ours(t, "reset", "-b", b.Serial)
	b.WaitPrinted("machine timer ticked 5 times")
	// RAM.
	ours(t, "flash", "-b", a.Serial, "/src/examples/ram/ram.elf")
	rig.Wait(t, "the program in RAM prints", func() bool { return a.Printed() != "" })
}

// TestRigAndBack: from a program that runs into BOOTSEL mode and back, by the reset
// interface; a console meanwhile, which lets go and comes back.
func TestRigAndBack(t *testing.T) {
	tmp := dir(t)
	b := rig.NewBoard(t, rig.Board{Arch: "riscv"})
	b.Plug(1)
	b.WaitBootsel()
	out := ours(t, "flash", "-b", b.Serial, echo)
	has(t, out, "started")
	d := b.WaitProgram()
	d.WaitTTY(t)
	serial := d.Serial()
	has(t, ours(t, "list"), serial)

	// It echoes; the console of a pipe ends with the text.
	in := write(t, tmp+"/in", []byte("hello board\n"))
	sh := func(script string) rig.Result { return rig.Tester.Try(t, "sh", "-c", script) }
	if r := sh("stem-hw console -b usb:1-1 --expect-text 'hello board' --timeout 300s <" + in); r.Code != 0 {
		t.Errorf("console: %d\n%s", r.Code, r.All())
	}
	if r := sh("stem-hw console -b usb:1-1 --expect-text 'never' --timeout 3s </dev/null"); r.Code != 124 {
		t.Errorf("console: %d\n%s", r.Code, r.All())
	}
	// What a running board holds is not looked at without leave.
	fails(t, 6, []string{"verify", "-b", "usb:1-1", echo}, "-f")
	has(t, ours(t, "verify", "-f", "-b", "usb:1-1", echo), "holds usbecho.elf")
	b.WaitProgram().WaitTTY(t)
	has(t, ours(t, "save", "-f", "-b", "usb:1-1", "--range", "0+4k", tmp+"/a.bin"), "4096 bytes")
	b.WaitProgram().WaitTTY(t)
	has(t, ours(t, "info", "-b", "usb:1-1"), serial)
	// A console that stays over flashing, and takes part in another one.
	var all sync.WaitGroup
	results := make([]rig.Result, 2)
	said := func(i int) string {
		e, _ := os.ReadFile(fmt.Sprintf("%s/e%d", tmp, i))
		return string(e)
	}
	for i, word := range []string{"attached to /dev/tty", "taking part"} {
		all.Add(1)
		go func() {
			defer all.Done()
			results[i] = rig.Tester.Try(t, "sh", "-c",
				fmt.Sprintf("stem-hw console -b usb:1-1 --expect-text again --timeout 500s </dev/null >%s/c%d 2>%s/e%d", tmp, i, tmp, i))
		}()
		rig.Wait(t, "the console is there", func() bool { return strings.Contains(said(i), word) })
	}
	has(t, ours(t, "flash", "-f", "-b", "usb:1-1", "--full", echo), "started")
	b.WaitProgram().WaitTTY(t)
	rig.Wait(t, "the console is back", func() bool { return strings.Contains(said(0), "is back at") })
	if r := sh("echo again | stem-hw console -b usb:1-1 --expect-text again --timeout 300s"); r.Code != 0 {
		t.Errorf("console: %d\n%s", r.Code, r.All())
	}
	all.Wait()
	for i, r := range results {
		if r.Code != 0 {
			t.Errorf("console %d: exit status %d\n%s", i, r.Code, said(i))
		}
	}
	has(t, said(0), "gap of")
	// Reset by the reset interface; into BOOTSEL mode and back.
	num := b.WaitProgram().Num()
	has(t, ours(t, "reset", "-b", "usb:1-1"), "running")
	rig.Wait(t, "it was restarted", func() bool { n := b.WaitProgram().Num(); return n != num && n != 0 })
	b.WaitProgram().WaitTTY(t)
	has(t, ours(t, "reset", "--bootsel", "-b", "usb:1-1"), "bootsel")
	b.WaitBootsel()
	// Run: flashed, started, its console, its text.
	if r := sh("echo run it | stem-hw run -b usb:1-1 " + echo + " --expect-text 'run it' --timeout 300s"); r.Code != 0 {
		t.Errorf("run: %d\n%s", r.Code, r.All())
	}
	// Picotool sends it back as well, which our list sees.
	b.WaitProgram()
	rig.Tester.Run(t, "picotool", "reboot", "-f", "-u")
	b.WaitBootsel()
	has(t, ours(t, "list"), "bootsel")
}

// TestRigTouch: where the reset interface is not to be had, the serial port is set
// to 1200 baud.
func TestRigTouch(t *testing.T) {
	firmware, err := os.ReadFile(echo)
	if err != nil {
		t.Fatal(err)
	}
	b := rig.NewBoard(t, rig.Board{Arch: "riscv", Firmware: firmware})
	b.Plug(1)
	d := b.WaitProgram()
	d.WaitTTY(t)
	raw := d.Open(t)
	defer raw.Close()
	raw.Claim(2) // somebody else has the reset interface
	r := rig.Tester.Try(t, "stem-hw", "reset", "--bootsel", "-b", "usb:1-1")
	if r.Code != 0 {
		t.Fatal(r.All())
	}
	has(t, r.All(), "at 1200 baud", "bootsel")
	b.WaitBootsel()
}

// TestRigDrive: the kernel's own usb-storage, mounted and not.
func TestRigDrive(t *testing.T) {
	b := rig.NewBoard(t, rig.Board{Arch: "riscv"})
	b.Plug(1)
	d := b.WaitBootsel()
	part := d.WaitPartition(t)
	mnt := dir(t)
	rig.Run(t, "mount", "-o", "umask=0", part, mnt)
	defer rig.Try(t, "umount", "-l", mnt)
	out := rig.Tester.Try(t, "stem-hw", "flash", "--via", "drive", "-b", b.Serial, timer)
	if out.Code != 0 {
		t.Fatal(out.All())
	}
	has(t, out.All(), "mounted on "+mnt, "started")
	b.WaitPrinted("machine timer ticked 5 times")
	// Not mounted: the disk itself, here as root.
	c := rig.NewBoard(t, rig.Board{Arch: "riscv"})
	c.Plug(2)
	c.WaitBootsel().WaitPartition(t)
	raw := rig.Try(t, "stem-hw", "flash", "--via", "drive", "-b", c.Serial, timer)
	if raw.Code != 0 {
		t.Fatal(raw.All())
	}
	has(t, raw.All(), "not mounted, /dev/sd")
	c.WaitPrinted("machine timer ticked 5 times")
	// Somebody holds the board for himself: it stays, and is asked why.
	e := rig.NewBoard(t, rig.Board{Arch: "riscv"})
	e.Plug(3)
	ed := e.WaitBootsel()
	ed.WaitPartition(t)
	fails(t, 5, []string{"flash", "--via", "drive", "-b", e.Serial, timer}, "udisksctl")
}

// TestRigUnplugged: the plug is pulled, or power lost, in every phase of flashing;
// our tool says so, and finishes when it is run again.
func TestRigUnplugged(t *testing.T) {
	tmp := dir(t)
	old := bytes.Repeat([]byte{0x11}, 48<<10)
	data := barImage()[:64<<10]
	file := write(t, tmp+"/next.bin", data)
	for i, fault := range []string{
		"power-loss:erase@1+500ms", "power-loss:erase@7+500ms", "power-loss:program@1+500ms", "power-loss:program@2+500ms",
		"power-loss:program@100+500ms", "power-loss:program@257+500ms", "stall:0x03@9", "stall:0x84@7", "stall:0x84@12",
	} {
		t.Run(fault, func(t *testing.T) {
			b := rig.NewBoard(t, rig.Board{Arch: "riscv", Flash: old, Button: true, Faults: []string{fault}})
			b.Plug(1 + i%3)
			b.WaitBootsel()
			r := rig.Tester.Try(t, "stem-hw", "flash", "--no-start", "-b", b.Serial, file)
			if strings.HasPrefix(fault, "power") {
				if r.Code != 12 {
					t.Errorf("exit status %d\n%s", r.Code, r.All())
				}
				has(t, r.All(), "connection-lost", "try:")
			} else if r.Code != 0 && r.Code != 8 && r.Code != 10 {
				t.Errorf("exit status %d\n%s", r.Code, r.All())
			}
			rig.Wait(t, "the board is back", func() bool { return b.Stats().Device == "bootsel" })
			b.WaitBootsel()
			ours(t, "flash", "--no-start", "-b", b.Serial, "--wait", "30s", file)
			if !bytes.Equal(b.Flash(0, len(data)), data) {
				t.Error("run again, it does not finish")
			}
			rig.Tester.Run(t, "picotool", "verify", "--ser", b.Serial, file)
		})
	}
}

// TestRigInterrupted: ctrl-c in the middle says what state the board is in, and run
// again it finishes.
func TestRigInterrupted(t *testing.T) {
	tmp := dir(t)
	data := barImage()[:512<<10]
	file := write(t, tmp+"/next.bin", data)
	// A busy machine may be done before ctrl-c comes, though the sectors take the
	// time that they take on hardware: then once more.
	const tries = 5
	var b *rig.Handle
	said := ""
	for try := 1; !strings.Contains(said, "sectors are written"); try++ {
		if try > tries {
			t.Fatalf("ctrl-c never came in the middle:\n%s", said)
		}
		if b != nil {
			b.Unplug()
		}
		b = rig.NewBoard(t, rig.Board{Arch: "riscv", Flash: bytes.Repeat([]byte{0x33}, 512<<10), Button: true, RealTime: true})
		b.Plug(1)
		b.WaitBootsel()
		r := rig.Tester.Try(t, "sh", "-c", `stem-hw flash -vv --no-start -b `+b.Serial+` `+file+` 2>`+tmp+`/err & p=$!
			until grep -q FLASH_ERASE `+tmp+`/err || ! kill -0 $p; do sleep 0.05; done; kill -INT $p; wait $p`)
		text, err := os.ReadFile(tmp + "/err")
		if err != nil {
			t.Fatal(err)
		}
		said = string(text)
		if r.Code != 130 && r.Code != 0 {
			t.Fatalf("exit status %d\n%s", r.Code, said)
		}
	}
	has(t, said, "BOOTSEL mode", "try:")
	ours(t, "flash", "--no-start", "-b", b.Serial, file)
	if !bytes.Equal(b.Flash(0, len(data)), data) {
		t.Error("run again, it does not finish")
	}
}

// quiet waits until the kernel has had its look at the board's drive: that is
// nobody's load.
func quiet(t *testing.T, b *rig.Handle) rig.Stats {
	t.Helper()
	rig.Settle(t)
	last := b.Stats()
	for same := 0; same < 4; {
		time.Sleep(time.Second)
		now := b.Stats()
		if same++; now.Transfers != last.Transfers {
			same = 0
		}
		last = now
	}
	return last
}

// TestRigBars counts what loading a megabyte takes, by picotool and by our tool, on
// the same boards. What picotool took is recorded in testdata for TestBars.
func TestRigBars(t *testing.T) {
	tmp := dir(t)
	next := barImage()
	file := write(t, filepath.Join(tmp, "next.bin"), next)
	rec := recorded{LoadV: map[string]barCount{}, LoadUV: map[string]barCount{}}
	rec.Picotool = strings.TrimSpace(rig.Tester.Run(t, "picotool", "version"))
	for i, c := range barCases() {
		count := func(args func(serial string) []string) barCount {
			b := rig.NewBoard(t, rig.Board{Arch: "riscv", Flash: c.before(next), Button: true})
			b.Plug(1 + i)
			b.WaitBootsel().WaitPartition(t)
			s := quiet(t, b)
			line := args(b.Serial)
			rig.Tester.Run(t, line[0], line[1:]...)
			e := b.Stats()
			if !bytes.Equal(b.Flash(0, len(next)), next) {
				t.Errorf("%v: not loaded", line)
			}
			b.Unplug()
			return barCount{e.Transfers - s.Transfers, (e.USB - s.USB).Seconds()}
		}
		rec.LoadV[c.name] = count(func(s string) []string { return []string{"picotool", "load", "-v", file, "--ser", s} })
		rec.LoadUV[c.name] = count(func(s string) []string { return []string{"picotool", "load", "-u", "-v", file, "--ser", s} })
		our := count(func(s string) []string { return []string{"stem-hw", "flash", "--no-start", "-b", s, file} })
		v, uv := rec.LoadV[c.name], rec.LoadUV[c.name]
		t.Logf("%-12s ours %4d transfers %6.2f s; load -v %4d, %5.2f s: %.3f of it (bar %.3f); load -u -v %4d, %5.2f s",
			c.name, our.Transfers, our.Seconds, v.Transfers, v.Seconds, our.Seconds/v.Seconds, c.bar, uv.Transfers, uv.Seconds)
		if our.Seconds > c.bar*v.Seconds || our.Seconds > uv.Seconds {
			t.Errorf("%s: %.2f s", c.name, our.Seconds)
		}
	}
	out, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("recorded:\n%s", out)
}

// TestRigBoard is make test-board on a simulated board behind the kernel.
func TestRigBoard(t *testing.T) {
	b := rig.NewBoard(t, rig.Board{Arch: "riscv", Button: true, Flash: []byte("something")})
	b.Plug(1)
	b.WaitBootsel()
	onBoard(t, b.Serial)
}
