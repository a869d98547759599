package virtual

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/rp2350"
)

// newProgram is a board that runs a program of the examples; the host has taken
// its device.
func newProgram(t *testing.T, path string, faults ...string) *faulty {
	t.Helper()
	elf, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := image.Parse(path, elf, image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{board: &board{t: t}, port: &Port{BusID: "1-1"}}
	f.chip = rp2350.New(rp2350.Options{Arch: img.Arch, ChipID: 0xa1b2c3d4e5f60718, Bootsel: func(*rp2350.Chip) {}})
	f.chip.InputOpen(true)
	if err := f.chip.Load(img); err != nil {
		t.Fatal(err)
	}
	f.chip.Reset()
	f.on = NewBoard(f.chip, f.port)
	parsed, err := ParseFaults(faults)
	if err != nil {
		t.Fatal(err)
	}
	f.on.Inject(parsed...)
	return f
}

// appears waits for a device.
func (f *faulty) appears() {
	f.t.Helper()
	for range 50 {
		if f.pass(10 * time.Millisecond); f.dev != nil {
			return
		}
	}
	f.t.Fatal("no device appears")
}

// done makes a transfer.
func (f *faulty) done(u *URB) *URB {
	f.t.Helper()
	f.dev.Submit(u)
	for range 2000 {
		if u.Complete() {
			return u
		}
		f.pass(time.Millisecond)
	}
	f.t.Fatalf("never complete: %+v", u)
	return nil
}

func (f *faulty) control(s Setup, data []byte) *URB {
	f.t.Helper()
	return f.done(&URB{Setup: s, In: s.In(), Length: int(s.Length), Data: data})
}

// echoes sends data in transfers of a size and returns what comes back.
func (f *faulty) echoes(data []byte, size int) []byte { return f.echoesOn(2, 3, data, size) }

// echoesOn does so on endpoints, with several transfers under way as a terminal's
// driver has; it gives up when nothing comes for a second.
func (f *faulty) echoesOn(to, from uint8, data []byte, size int) (got []byte) {
	f.t.Helper()
	var ins, outs []*URB
	for last := f.on.Now(); len(got) < len(data); {
		for len(ins) < 16 {
			u := &URB{Endpoint: from, In: true, Length: 512}
			f.dev.Submit(u)
			ins = append(ins, u)
		}
		for len(outs) < 2 && len(data) > 0 && size > 0 {
			n := min(size, len(data)-f.sent)
			if n == 0 {
				break
			}
			u := &URB{Endpoint: to, Data: data[f.sent : f.sent+n]}
			f.sent += n
			f.dev.Submit(u)
			outs = append(outs, u)
		}
		f.pass(time.Millisecond)
		for len(outs) > 0 && outs[0].Complete() {
			outs = outs[1:]
		}
		for len(ins) > 0 && ins[0].Complete() {
			got, ins, last = append(got, ins[0].Data...), ins[1:], f.on.Now()
		}
		if f.on.Now()-last > time.Second {
			f.t.Errorf("%d bytes came back, then none", len(got))
			break
		}
	}
	for _, u := range ins {
		f.dev.Unlink(u)
		got = append(got, u.Data...)
	}
	f.sent = 0
	return got
}

var echoPrograms = map[string]string{
	"riscv": "../../examples/usbecho/usbecho.elf",
	"arm":   "../../examples/arm/usbecho/usbecho.elf",
}

func TestEchoProgram(t *testing.T) {
	for arch, path := range echoPrograms {
		t.Run(arch, func(t *testing.T) {
			f := newProgram(t, path)
			f.appears()
			if u := f.control(Setup{0x80, 6, 0x303, 0x409, 255}, nil); !bytes.Equal(u.Data, stringDescriptor("A1B2C3D4E5F60718")) {
				t.Errorf("serial number % x", u.Data)
			}
			if u := f.control(Setup{0x80, 6, 0x600, 0, 10}, nil); u.Status != StatusStall {
				t.Errorf("a qualifier: %d", u.Status)
			}
			if u := f.control(Setup{0x80, 8, 0, 0, 1}, nil); !bytes.Equal(u.Data, []byte{1}) {
				t.Errorf("configuration % x", u.Data)
			}
			data := make([]byte, 100_000)
			r := rand.NewChaCha8([32]byte{1})
			_, _ = r.Read(data)
			from, wall := f.on.Now(), time.Now()
			if got := f.echoes(data, 4096); !bytes.Equal(got, data) {
				t.Errorf("%d bytes come back, and they differ", len(got))
			}
			t.Logf("%d bytes each way in %v of simulated time, %v", len(data), f.on.Now()-from, time.Since(wall))
			// Whole packets: empty ones end the transfers.
			if got := f.echoes(data[:128], 128); !bytes.Equal(got, data[:128]) {
				t.Errorf("whole packets: %d bytes", len(got))
			}
			// A halt begins again with DATA0.
			for _, ep := range []uint16{0x83, 0x02} {
				f.control(Setup{2, reqSetFeature, 0, ep, 0}, nil)
				if u := f.done(&URB{Endpoint: uint8(ep & 15), In: ep&0x80 != 0, Length: 64, Data: []byte{1}}); u.Status != StatusStall {
					t.Errorf("endpoint %#x: %d", ep, u.Status)
				}
				f.control(Setup{2, reqClearFeature, 0, ep, 0}, nil)
			}
			if got := f.echoes(data[:1000], 100); !bytes.Equal(got, data[:1000]) {
				t.Error("after the halts")
			}
		})
	}
}

// TestProgramIntoBootsel asks the program for BOOTSEL mode in both ways, and back.
func TestProgramIntoBootsel(t *testing.T) {
	for arch, path := range echoPrograms {
		for way, ask := range map[string]func(f *faulty){
			"1200 baud": func(f *faulty) {
				f.dev.Submit(&URB{Setup: Setup{0x21, reqSetLineCoding, 0, 0, 7}, Data: []byte{0xb0, 4, 0, 0, 0, 0, 8}})
			},
			"the reset interface": func(f *faulty) { f.dev.Submit(&URB{Setup: Setup{0x21, 1, 1, 2, 0}}) },
		} {
			t.Run(arch+", "+way, func(t *testing.T) {
				f := newProgram(t, path)
				f.appears()
				ask(f)
				for range 50 {
					if f.pass(10 * time.Millisecond); f.losses > 0 && f.dev != nil {
						break
					}
				}
				if f.chip.BootselMode() == nil || f.losses != 1 {
					t.Fatalf("not in BOOTSEL mode, lost %d times", f.losses)
				}
				_, config := f.dev.Descriptors()
				if n := len(parseConfig(config).interfaces); (n == 1) != (way != "1200 baud") {
					t.Errorf("%d interfaces", n) // the request leaves the drive out
				}
				f.dev.Submit(&URB{Endpoint: 3, Data: packet(cmdReboot2, 0, words(0x100, 10, 0, 0))})
				f.pass(50 * time.Millisecond)
				f.appears()
				if f.losses != 2 || f.chip.BootselMode() != nil {
					t.Errorf("the program should be back, lost %d times", f.losses)
				}
			})
		}
	}
}
