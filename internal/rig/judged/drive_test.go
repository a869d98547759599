//go:build rig

package judged

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/internal/rig"
)

// mount mounts the drive and returns its folder. It is unmounted with the test,
// or by the disk's going away.
func mount(t *testing.T, d *rig.Device) string {
	t.Helper()
	dir, err := os.MkdirTemp("/mnt", "drive")
	if err != nil {
		t.Fatal(err)
	}
	rig.Run(t, "mount", "-t", "vfat", d.WaitPartition(t), dir)
	t.Cleanup(func() {
		rig.Try(t, "umount", "-l", dir)
		os.Remove(dir)
	})
	return dir
}

// blocks are the UF2 blocks of a program, made by the tool under test's peer.
func blocks(t *testing.T, elf string) [][]byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "x.uf2")
	rig.Run(t, "picotool", "uf2", "convert", elf, out, "--family", "rp2350-riscv")
	b := read(t, out)
	var list [][]byte
	for ; len(b) >= 512; b = b[512:] {
		list = append(list, b[:512])
	}
	return list
}

func write(t *testing.T, list [][]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "y.uf2")
	if err := os.WriteFile(path, bytes.Join(list, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// refamily gives blocks another family.
func refamily(list [][]byte, family uint32) [][]byte {
	var out [][]byte
	for _, b := range list {
		c := bytes.Clone(b)
		binary.LittleEndian.PutUint32(c[28:], family)
		out = append(out, c)
	}
	return out
}

// copyOver copies a file to the drive, as a person does: errors when the drive
// goes away with the last block are normal.
func copyOver(t *testing.T, file, dir string) {
	t.Helper()
	rig.Try(t, "cp", file, dir)
	rig.Try(t, "sync")
}

// TestRigDrive copies programs to the mounted drive.
func TestRigDrive(t *testing.T) {
	b := rig.NewBoard(t, rig.Board{})
	b.Plug(1)
	d := b.WaitBootsel()
	dir := mount(t, d)
	info := string(read(t, filepath.Join(dir, "INFO_UF2.TXT")))
	if want := "UF2 Bootloader v1.0\nModel: Raspberry Pi RP2350\nBoard-ID: RP2350\n"; info != want {
		t.Errorf("INFO_UF2.TXT is %q, want %q", info, want)
	}
	wants(t, "INDEX.HTM", string(read(t, filepath.Join(dir, "INDEX.HTM"))), "http", "raspberrypi.com")
	list := blocks(t, hello)

	// A family the chip does not take: nothing happens, and the ROM remembers.
	copyOver(t, write(t, refamily(list, 0xe48bff56)), dir)
	stays(t, b)
	if s := uf2Status(t, d); s.status&0x01 == 0 {
		t.Errorf("after a file of another family the ROM says %+v, want bit 0", s)
	}

	// A file that lacks a block is written, and waited for.
	gap := append(append([][]byte{}, list[:3]...), list[4:]...)
	copyOver(t, write(t, gap), dir)
	stays(t, b)
	s := uf2Status(t, d)
	if s.family != 0xe48bff5a || s.seen != len(list)-1 || s.expected != len(list) {
		t.Errorf("after a file that lacks a block the ROM says %+v, want %d of %d", s, len(list)-1, len(list))
	}
	page := binary.LittleEndian.Uint32(list[4][12:])
	if got := b.Flash(page, 256); !bytes.Equal(got, list[4][32:32+256]) {
		t.Error("a block that came is not in flash")
	}
	// What is no UF2 block is ordinary data of the drive.
	note := filepath.Join(t.TempDir(), "note.txt")
	if err := os.WriteFile(note, []byte(strings.Repeat("not a program\n", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	copyOver(t, note, dir)
	stays(t, b)
	// The block that was missing completes it.
	copyOver(t, write(t, list[3:4]), dir)
	b.WaitPrinted(helloSays)
	b.WaitGone()
	for _, blk := range list {
		if got := b.Flash(binary.LittleEndian.Uint32(blk[12:]), 256); !bytes.Equal(got, blk[32:32+256]) {
			t.Fatalf("block %d is not in flash", binary.LittleEndian.Uint32(blk[20:]))
		}
	}
}

// TestRigDriveBoots is what everybody does: cp, and the program runs.
func TestRigDriveBoots(t *testing.T) {
	b := rig.NewBoard(t, rig.Board{})
	b.Plug(1)
	dir := mount(t, b.WaitBootsel())
	out := filepath.Join(t.TempDir(), "hello.uf2")
	rig.Run(t, "picotool", "uf2", "convert", hello, out)
	copyOver(t, out, dir)
	b.WaitPrinted(helloSays)
	b.WaitGone()
	if s := b.Stats(); s.Pages == 0 || s.Sectors == 0 {
		t.Errorf("the board's account of it is %+v", s)
	}
}

// stays fails the test if the board leaves BOOTSEL mode: the ROM restarts half a
// second after the last block, in the board's own time.
func stays(t *testing.T, b *rig.Handle) {
	t.Helper()
	from := b.Stats().Seconds
	rig.Wait(t, "a second of the board is over", func() bool { return b.Stats().Seconds > from+1 })
	if s := b.Stats(); s.Device != "bootsel" || s.Restarts != 0 {
		t.Fatalf("the board left BOOTSEL mode: %+v", s)
	}
}
