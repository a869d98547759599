//go:build rig

package judged

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/internal/rig"
)

// TestRigFaults lets every fault happen while a program talks to the board, and
// wants the kernel, and the next one who comes, to get on with it.
func TestRigFaults(t *testing.T) {
	m := rig.Watch(t, 1)
	file, data := noise(t, 70_000)
	load := []string{"load", "-v", file, "-o", "0x10000000"}
	// works wants the board to do its work (again).
	works := func(t *testing.T, b *rig.Handle) {
		t.Helper()
		b.WaitBootsel()
		rig.Run(t, "picotool", load...)
		if !bytes.Equal(b.Flash(0, len(data)), data) {
			t.Error("the flash does not have what picotool loaded")
		}
	}
	plugged := func(t *testing.T, faults ...string) *rig.Handle {
		t.Helper()
		b := rig.NewBoard(t, rig.Board{Faults: faults})
		b.Plug(1)
		return b
	}

	t.Run("unplug for good", func(t *testing.T) {
		b := plugged(t, "unplug@3s")
		rig.Try(t, "picotool", load...) // it may come too early, or too late
		rig.Wait(t, "the cable is pulled", func() bool { s := b.Stats(); return s.Seconds > 3 && s.Device == "empty" })
		b.WaitGone()
	})
	t.Run("unplug for a while, with the drive mounted", func(t *testing.T) {
		b := plugged(t)
		d := b.WaitBootsel()
		dir := mount(t, d)
		num := d.Num()
		b.Fault("unplug@500ms+1s")
		rig.Try(t, "dd", "if=/dev/urandom", "of="+filepath.Join(dir, "big"), "bs=64k", "count=64")
		rig.Wait(t, "the board is back under another number", func() bool {
			return d.Num() != num && d.Num() != 0 && d.Attr("bConfigurationValue") != ""
		})
		rig.Run(t, "umount", "-l", dir)
		works(t, b)
	})
	for _, operation := range []string{"erase", "program"} {
		t.Run("power lost in "+operation, func(t *testing.T) {
			b := plugged(t, "power-loss:"+operation+"@5+500ms")
			b.WaitBootsel()
			if r := rig.Try(t, "picotool", load...); r.Code == 0 {
				t.Errorf("picotool is content: %s", r.All())
			}
			rig.Wait(t, "the board is back", func() bool { return b.Stats().Enumerations > 1 })
			works(t, b)
		})
	}
	t.Run("stuck bit", func(t *testing.T) {
		b := plugged(t, "stuck-bit:0x10001234.3=0")
		b.WaitBootsel()
		stuck := bytes.Clone(data)
		stuck[0x1234] |= 1 << 3 // so that it matters
		other := filepath.Join(t.TempDir(), "other.bin")
		if err := os.WriteFile(other, stuck, 0o600); err != nil {
			t.Fatal(err)
		}
		if r := rig.Try(t, "picotool", "load", "-v", other, "-o", "0x10000000"); r.Code == 0 {
			t.Errorf("picotool is content: %s", r.All())
		}
	})
	t.Run("stalled endpoint", func(t *testing.T) {
		b := plugged(t, "stall:0x84@3")
		d := b.WaitBootsel()
		if r := rig.Try(t, "picotool", load...); r.Code == 0 {
			t.Logf("picotool got over it: %s", r.All())
		}
		r := openRaw(t, d)
		r.recover()
		r.Close()
		works(t, b)
	})
	t.Run("stalled drive", func(t *testing.T) {
		// usb-storage clears the halt and goes on.
		b := plugged(t, "stall:0x81@20")
		dir := mount(t, b.WaitBootsel())
		wants(t, "INFO_UF2.TXT", string(read(t, filepath.Join(dir, "INFO_UF2.TXT"))), "Board-ID: RP2350")
		rig.Run(t, "umount", dir)
		works(t, b)
	})
	t.Run("slow host", func(t *testing.T) {
		b := plugged(t, "slow-host:20ms@2s+10s")
		works(t, b)
	})
	t.Run("full FIFO", func(t *testing.T) {
		b := plugged(t, "full-fifo:0x03@4s+6s")
		d := b.WaitBootsel()
		rig.Wait(t, "the FIFO is full", func() bool { return b.Stats().Seconds > 4.2 })
		r := openRaw(t, d)
		// Either it is given up, and unlinked, or the FIFO has room again.
		if _, err := r.Bulk(picoOut, command(1, 0x06, 0, nil), 500); err != nil && !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("a command into a full FIFO ends with %v", err)
		}
		rig.Wait(t, "there is room again", func() bool { return b.Stats().Seconds > 10.5 })
		r.recover()
		r.Close()
		works(t, b)
	})
	t.Run("another serial number", func(t *testing.T) {
		b := plugged(t, "serial:00DEADBEEF00CAFE")
		d := b.WaitBootsel()
		if d.Serial() != b.Serial {
			t.Errorf("at first it is %s, want %s", d.Serial(), b.Serial)
		}
		rig.Run(t, "picotool", "reboot", "-u")
		rig.Wait(t, "the other serial number", func() bool { return d.Serial() == "00DEADBEEF00CAFE" })
		works(t, b)
	})
	t.Run("a probe is pulled out", func(t *testing.T) {
		b := rig.NewBoard(t, rig.Board{Probe: true})
		b.Plug(1)
		p := b.PlugProbe(2)
		tty := p.WaitTTY(t)
		f, err := os.OpenFile(tty, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		num := p.Num()
		b.Fault("probe/unplug@0s+1s")
		if err := f.SetReadDeadline(time.Now().Add(3 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		if n, err := f.Read(make([]byte, 1)); err == nil {
			t.Errorf("reading its terminal brings %d bytes", n)
		}
		rig.Wait(t, "the probe is back", func() bool { return p.Num() != num && len(p.TTYs()) == 1 })
	})
	m.NoLeak(t)
}
