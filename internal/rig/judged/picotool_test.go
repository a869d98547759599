//go:build rig

package judged

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/internal/rig"
)

// hello is a program of the examples that says so on UART0.
const (
	hello     = "../../../examples/hello/hello.elf"
	helloSays = "Hello from a Pico 2!"
)

// wants fails the test unless text has every one of the words.
func wants(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s lacks %q:\n%s", what, w, text)
		}
	}
}

// noise is a file of bytes that never repeat.
func noise(t *testing.T, n int) (path string, data []byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(n)))
	data = make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	path = filepath.Join(t.TempDir(), "noise.bin")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, data
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// judges are the picotools of two releases of Debian.
var judges = map[string]func(args ...string) []string{
	"2.1": func(args ...string) []string { return append([]string{"picotool"}, args...) },
	"2.2": func(args ...string) []string { return rig.Later("picotool", args...) },
}

// TestRigPicotool lets Debian's picotool work on one of two boards, chosen by
// its serial number.
func TestRigPicotool(t *testing.T) {
	for version, line := range judges {
		t.Run(version, func(t *testing.T) {
			one := rig.NewBoard(t, rig.Board{})
			two := rig.NewBoard(t, rig.Board{})
			one.Plug(1)
			two.Plug(2)
			one.WaitBootsel()
			two.WaitBootsel()
			picotool := func(args ...string) string {
				t.Helper()
				l := line(args...)
				return rig.Run(t, l[0], l[1:]...)
			}
			// The later one sees other folders: its files lie in a shared one.
			dir := shared(t)
			place := func(from string) string {
				to := filepath.Join(dir, filepath.Base(from))
				rig.Run(t, "cp", from, to)
				return to
			}

			all := picotool("info", "-a", "--ser", one.Serial)
			wants(t, "info -a", all, "type:", "RP2350", "revision:", "A2", "package:", "QFN60",
				"chipid:                 0x"+strings.ToLower(one.Serial), "current cpu:", "ARM", "rom gitrev:", "0x312e22fa",
				"available cpus:         ARM, RISC-V")
			both := picotool("info", "-d")
			wants(t, "info -d", both, strings.ToLower(one.Serial), strings.ToLower(two.Serial))

			file, data := noise(t, 70_000)
			noise := place(file)
			wants(t, "load -v", picotool("load", "-v", noise, "-o", "0x10000000", "--ser", two.Serial), "100%", "OK")
			if got := two.Flash(0, len(data)); !bytes.Equal(got, data) {
				t.Error("the flash does not have what picotool loaded")
			}
			if got := one.Flash(0, len(data)); !blank(got) {
				t.Error("the other board was written to")
			}
			wants(t, "verify", picotool("verify", noise, "-o", "0x10000000", "--ser", two.Serial), "OK")
			// Of one board after the other: a difference is told.
			l := line("verify", noise, "-o", "0x10000000", "--ser", one.Serial)
			if r := rig.Try(t, l[0], l[1:]...); r.Code == 0 {
				t.Errorf("verify of a blank board says %s", r.All())
			}

			saved := filepath.Join(dir, "saved.bin")
			picotool("save", "-r", "10000000", "10011170", saved, "--ser", two.Serial)
			if !bytes.Equal(read(t, saved), data) {
				t.Error("save brings something else")
			}
			whole := filepath.Join(dir, "whole.bin")
			picotool("save", "-r", "0x10000000", "0x10100000", whole, "--ser", two.Serial)
			if b := read(t, whole); len(b) != 1<<20 || !bytes.Equal(b[:len(data)], data) || !blank(b[73_728:]) {
				t.Errorf("save of 1 MiB brings %d bytes of something else", len(b))
			}

			picotool("erase", "-r", "10002000", "10004000", "--ser", two.Serial)
			got := two.Flash(0, len(data))
			if !blank(got[0x2000:0x4000]) || !bytes.Equal(got[:0x2000], data[:0x2000]) || !bytes.Equal(got[0x4000:], data[0x4000:]) {
				t.Error("erase -r did something else than erasing its range")
			}
			picotool("erase", "--ser", two.Serial)
			if !blank(two.Flash(0, 4<<20)) {
				t.Error("something is left after erase")
			}

			wants(t, "otp get", picotool("otp", "get", "--ser", one.Serial, "CHIPID0"), strings.ToLower(one.Serial[12:]))
			wants(t, "otp get", picotool("otp", "get", "--ser", one.Serial, "0x0003"), strings.ToLower(one.Serial[:4]))
			wants(t, "partition info", picotool("partition", "info", "--ser", one.Serial), "no partition table")
			if s := two.Stats(); s.Sectors < 1000 || s.Pages < 270 || s.USB.Seconds() < 1 {
				t.Errorf("the board's account of it is %+v", s)
			}
		})
	}
}

func blank(b []byte) bool {
	return len(bytes.Trim(b, "\xff")) == 0
}

// shared is a folder that programs of the later system have under the same name.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "judged")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestRigPicotoolBoots loads a program, which then runs, and a partition table.
func TestRigPicotoolBoots(t *testing.T) {
	b := rig.NewBoard(t, rig.Board{})
	b.Plug(1)
	b.WaitBootsel()
	rig.Run(t, "picotool", "load", "-v", "-x", hello)
	b.WaitPrinted(helloSays)
	b.WaitGone() // the program has no USB
	if s := b.Stats(); s.Arch != "riscv" {
		t.Errorf("the cores are %s: the image is for RISC-V, and the ROM changes over", s.Arch)
	}
	b.Unplug()

	b.Button(true)
	b.Plug(1)
	d := b.WaitBootsel()
	wants(t, "info of a program", rig.Run(t, "picotool", "info", "-a"), "image type:             RISC-V", "0x10000028")
	// With the button held it comes back as what it was.
	num := d.Num()
	rig.Run(t, "picotool", "reboot")
	if d := b.WaitAgain(num); d.ID() != "2e8a:000f" {
		t.Errorf("with the BOOTSEL button held it comes back as %s", d.ID())
	}
	b.Unplug()
	b.Button(false)
	b.Plug(1)
	rig.Wait(t, "the program starts again", func() bool { return strings.Count(b.Printed(), helloSays) == 2 })
}

// partitions is a table with one pair and one place for data.
const partitions = `{
  "version": [1, 0],
  "unpartitioned": {"families": ["absolute"], "permissions": {"secure": "rw", "nonsecure": "rw", "bootloader": "rw"}},
  "partitions": [
    {"name": "A", "id": 0, "start": "8K", "size": "512K", "families": ["rp2350-arm-s", "rp2350-riscv"],
     "permissions": {"secure": "rw", "nonsecure": "rw", "bootloader": "rw"}},
    {"name": "B", "id": 1, "size": "512K", "families": ["rp2350-arm-s", "rp2350-riscv"], "link": ["a", 0],
     "permissions": {"secure": "rw", "nonsecure": "rw", "bootloader": "rw"}},
    {"name": "store", "id": 2, "size": "256K", "families": ["data"],
     "permissions": {"secure": "rw", "nonsecure": "rw", "bootloader": "r"}}
  ]
}`

// TestRigPartitions has picotool make a partition table, load it, and use it.
func TestRigPartitions(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "pt.json")
	if err := os.WriteFile(table, []byte(partitions), 0o600); err != nil {
		t.Fatal(err)
	}
	rig.Run(t, "picotool", "partition", "create", table, filepath.Join(dir, "pt.uf2"))
	b := rig.NewBoard(t, rig.Board{})
	b.Plug(1)
	b.WaitBootsel()
	rig.Run(t, "picotool", "load", filepath.Join(dir, "pt.uf2"))
	num := b.WaitBootsel().Num()
	rig.Run(t, "picotool", "reboot", "-u")
	b.WaitAgain(num)
	info := rig.Run(t, "picotool", "partition", "info")
	wants(t, "partition info", info, `"A"`, `"B"`, `"store"`, "00002000->00082000", "00082000->00102000")
	rig.Run(t, "picotool", "load", "-v", "-x", hello)
	b.WaitPrinted(helloSays)
	// Of a pair the ROM offers the one that would not boot: B of two empty ones.
	const a, second = 0x2000, 0x82000
	if blank(b.Flash(second, 4096)) || !blank(b.Flash(a, 4096)) {
		t.Error("the program is not in partition B, or in A too")
	}
	// What the table forbids the boot loader is refused.
	b.Unplug()
	b.Button(true)
	b.Plug(1)
	b.WaitBootsel()
	file, _ := noise(t, 4096)
	r := rig.Try(t, "picotool", "load", "-o", fmt.Sprintf("0x%x", 0x10102000), "--ignore-partitions", file)
	if r.Code == 0 || !blank(b.Flash(0x102000, 4096)) {
		t.Errorf("a partition that the boot loader may only read was written: %s", r.All())
	}
}
