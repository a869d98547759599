//go:build rig

package judged

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/internal/rig"
)

// usbecho is a program of the examples that sends back what comes over its own
// USB serial port, for either architecture.
var usbecho = map[string]string{
	"riscv": "../../../examples/usbecho/usbecho.elf",
	"arm":   "../../../examples/arm/usbecho/usbecho.elf",
}

// openTTY opens a terminal that changes nothing.
func openTTY(t *testing.T, path string) *os.File {
	t.Helper()
	rig.Run(t, "stty", "-F", path, "raw", "-echo", "115200")
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestRigEcho sends a mebibyte through a program's serial port and back.
func TestRigEcho(t *testing.T) {
	for arch, path := range usbecho {
		t.Run(arch, func(t *testing.T) {
			b := rig.NewBoard(t, rig.Board{Arch: arch, Firmware: read(t, path)})
			b.Plug(1)
			d := b.WaitProgram()
			if d.ID() != "2e8a:0009" || d.Serial() != b.Serial {
				t.Errorf("it is %s with the serial number %s, want 2e8a:0009 and %s", d.ID(), d.Serial(), b.Serial)
			}
			// udev leaves out an interface that is the last thing in the descriptors
			// (systemd 257, udev-builtin-usb_id.c): the reset interface has no endpoints.
			checkProperties(t, "the program", d.Properties(t), map[string]string{
				"ID_USB_INTERFACES": ":020200:0a0000:", "ID_SERIAL_SHORT": b.Serial,
			})
			if got := d.Interface(2); got != "ff0001" {
				t.Errorf("interface 2 is %q, want ff0001: the reset interface", got)
			}
			f := openTTY(t, d.WaitTTY(t))
			sent := make([]byte, 1<<20)
			r := rand.New(rand.NewPCG(7, 11))
			for i := range sent {
				sent[i] = byte(r.Uint32())
			}
			wrote := make(chan error, 1)
			go func() {
				_, err := f.Write(sent)
				wrote <- err
			}()
			got := make([]byte, 0, len(sent))
			for buf := make([]byte, 32<<10); len(got) < len(sent); {
				// Silence is what ends it, not slowness.
				if err := f.SetReadDeadline(time.Now().Add(3 * time.Minute)); err != nil {
					t.Fatal(err)
				}
				n, err := f.Read(buf)
				got = append(got, buf[:n]...)
				if err != nil && !errors.Is(err, io.EOF) {
					t.Fatalf("after %d bytes: %v", len(got), err)
				}
			}
			if err := <-wrote; err != nil {
				t.Error(err)
			}
			if !bytes.Equal(got, sent) {
				n := 0
				for n < len(sent) && got[n] == sent[n] {
					n++
				}
				t.Errorf("byte %d of %d comes back as something else", n, len(sent))
			}
			if s := b.Stats(); s.Bytes < 2<<20 {
				t.Errorf("the board's account of it is %+v", s)
			}
		})
	}
}

// TestRigProgramAndBack has picotool take a running program into BOOTSEL mode and
// back, with -f and without, and a touch at 1200 baud do so, too.
func TestRigProgramAndBack(t *testing.T) {
	for arch, path := range usbecho {
		t.Run(arch, func(t *testing.T) {
			b := rig.NewBoard(t, rig.Board{Arch: arch, Firmware: read(t, path)})
			b.Plug(1)
			d := b.WaitProgram()
			serial, num := d.Serial(), d.Num()
			wants(t, "info -f", rig.Run(t, "picotool", "info", "-f", "--ser", serial), "Program Information")
			rig.Wait(t, "the program is back", func() bool { return d.Num() != num && d.ID() == "2e8a:0009" })
			rig.Run(t, "picotool", "reboot", "-f", "-u")
			if d := b.WaitBootsel(); d.Serial() != serial {
				t.Errorf("in BOOTSEL mode it is %s, as a program it was %s", d.Serial(), serial)
			}
			rig.Run(t, "picotool", "reboot", "-a")
			b.WaitProgram()
			num = d.Num()
			rig.Run(t, "picotool", "reboot", "-f", "-a")
			rig.Wait(t, "the program started again", func() bool { return d.Num() != num && d.ID() == "2e8a:0009" })
			rig.Run(t, "picotool", "load", "-f", "-v", "-x", path)
			b.WaitProgram()
			// Its terminal at 1200 baud is a wish, too.
			tty := d.WaitTTY(t)
			rig.Try(t, "stty", "-F", tty, "1200")
			b.WaitBootsel()
		})
	}
}
