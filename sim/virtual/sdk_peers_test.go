//go:build peers

package virtual

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestPeerUSBFirmware lets firmware of other people come to the bus: the ELF
// files that STEM_PEER_USB lists. A serial port echoes, if the program is one that
// does; SDK firmware goes into BOOTSEL mode when its port is opened at 1200 baud.
func TestPeerUSBFirmware(t *testing.T) {
	paths := filepath.SplitList(os.Getenv("STEM_PEER_USB"))
	if len(paths) == 0 {
		t.Skip("STEM_PEER_USB lists no firmware")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f := newProgram(t, path)
			f.appears()
			_, config := f.dev.Descriptors()
			p := parseConfig(config)
			t.Logf("%d interfaces, %d endpoints", len(p.interfaces), len(p.endpoints))
			var in, out uint8
			for _, e := range p.endpoints {
				if p.interfaces[min(int(e.iface), len(p.interfaces)-1)][0] != 10 {
					continue
				}
				if e.address&0x80 != 0 && in == 0 {
					in = e.address & 15
				} else if out == 0 {
					out = e.address
				}
			}
			if in == 0 {
				return
			}
			f.control(Setup{0x21, reqSetLineState, 3, 0, 0}, nil)
			f.control(Setup{0x21, reqSetLineCoding, 0, 0, 7}, []byte{0x80, 0x25, 0, 0, 0, 0, 8})
			if p.interfaces[len(p.interfaces)-1] != [3]uint8{0xff, 0, 1} {
				// Such programs drop what they have no room for: a packet at a time.
				data := make([]byte, 32<<10)
				_, _ = rand.NewChaCha8([32]byte{2}).Read(data)
				for i := 0; i < len(data); i += 32 {
					if got := f.echoesOn(out, in, data[i:i+32], 32); !bytes.Equal(bytes.ToLower(got), bytes.ToLower(data[i:i+32])) {
						t.Fatalf("% x comes back as % x", data[i:i+32], got)
					}
				}
				return
			}
			f.dev.Submit(&URB{Setup: Setup{0x21, reqSetLineCoding, 0, 0, 7}, Data: []byte{0xb0, 4, 0, 0, 0, 0, 8}})
			for range 100 {
				if f.pass(10 * time.Millisecond); f.losses > 0 && f.dev != nil {
					break
				}
			}
			if f.chip.BootselMode() == nil {
				t.Error("it does not go into BOOTSEL mode")
			}
		})
	}
}
