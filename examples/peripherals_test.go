package examples_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/internal/docs/replay"
)

// peripherals are the programs that are built for both architectures: what is
// connected to the board, what they print, and what the pins show.
var peripherals = []struct {
	name   string
	args   []string
	stdout string
	stderr []string // texts of the things connected
	pins   func(t *testing.T, w wave)
}{
	{name: "pio", args: []string{"--wire", "2-3"}, stdout: "square wave on GPIO10\nPIO says hello\nflags 4", pins: func(t *testing.T, w wave) {
		// 12.5 cycles of 150 MHz a step, three steps a period: 250 ns.
		w.period(t, "gpio10", 250_000)
		// The line: the start bit of the first byte 'P' (0x50: four zeros follow).
		w.pulse(t, "gpio2", "0", 0, 5_000_000)
	}},
	{name: "dma", stdout: `copied 64 words, 1 interrupt
hello from DMA
crc cbf43926
1000 paced transfers in 1000 us
10000 transfers in 10000 cycles`},
	{name: "pwm", args: []string{"--wire", "2-5", "--wire", "3-7"}, stdout: `10000 Hz
high for 80 % of the time
200 wraps
5000 Hz phase-correct`, pins: func(t *testing.T, w wave) {
		w.period(t, "gpio2", 100_000_000)
		w.pulse(t, "gpio2", "1", 3, 25_000_000)
		w.pulse(t, "gpio3", "1", 3, 80_000_000)
	}},
	{name: "adc", args: []string{"--wiring", "adc/board.toml"}, stdout: `GPIO26 825 mV
sensor 705 mV
GPIO26 2474 mV later
200 samples in 10 ms
GPIO27 from 5… to 24… mV`},
	{name: "i2c", args: []string{"--wiring", "i2c/board.toml"}, stdout: `on the bus: 50 68
who am I: 68
registers: 1 2 3
written in 5 ms, polled meanwhile
kept in EEPROM`, stderr: []string{"sensor: register 0x10 = 0x01", "sensor: register 0x12 = 0x03", "24LC32: 14 bytes written"}, pins: func(t *testing.T, w wave) {
		// HCNT of 150 cycles and the 14 that the filter takes (12.2.14).
		w.pulse(t, "gpio5", "1", 20, 1_093_333)
	}},
	{name: "spi", args: []string{"--wiring", "spi/board.toml"}, stdout: `who am I: 33
registers: 5a a5
sum of eight: 36
64 bits in 64 us`, stderr: []string{"sensor: register 0x20 = 0x5a"}, pins: func(t *testing.T, w wave) {
		w.pulse(t, "gpio18", "0", 5, 500_000)
	}},
	{name: "targets", args: []string{"--wire", "4-6", "--wire", "5-7", "--wire", "19-8", "--wire", "17-9", "--wire", "18-10", "--wire", "11-16"},
		stdout: `target holds: from the controller
controller reads: controller
SPI both ways: right`, pins: func(t *testing.T, w wave) {
			// Eight words of 16 bits, clock and data on both ends of the wires.
			if got, want := w.clocked("gpio19", "gpio18", "0", 128), words(16, 0x5000, 8); got != want {
				t.Errorf("SPI0 sends %s, want %s", got, want)
			}
			if got, want := w.clocked("gpio16", "gpio10", "0", 128), words(16, 0xa000, 8); got != want {
				t.Errorf("SPI1 sends %s, want %s", got, want)
			}
		}},
	{name: "hstx", stdout: "2048 bits in 41 us\nthree pixels sent", pins: func(t *testing.T, w wave) {
		w.period(t, "gpio13", 20_000)
		// DVI 1.0, 3.2.2: the first 0x00 is sent as it is, the second one inverted.
		want := tmds(0x100) + tmds(0x3ff) + tmds(0x200)
		if got := w.clocked("gpio12", "gpio13", "1", 30); got != want {
			t.Errorf("three symbols are %s, want %s", got, want)
		}
		all := w.clocked("gpio12", "gpio13", "1", 30+2048+16)
		if got, want := all[:min(16, len(all))], "1010010100111100"; got != want {
			t.Errorf("0xa5 and 0x3c are sent as %s, want %s", got, want)
		}
	}},
	{name: "interp", stdout: `peek 1067 105 cc
pop 105
pop 110
pop 115
fibonacci 1 2 3 5 8 13 21 34
blend 875
clamp -10 -5 10`},
	{name: "sha256", stdout: `ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad
cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0`},
	{name: "uart", args: []string{"--wire", "8-9"}, stdout: `there and back
100 bits in 10417 us
sum 525
a break came: yes`, pins: func(t *testing.T, w wave) {
		// 't' is 0x74: the start bit and two zeros are one pulse.
		w.pulse(t, "gpio8", "0", 0, 3*104_166_667)
	}},
	{name: "gpout", args: []string{"--wire", "21-3"}, stdout: "1000 edges in 10 ms\nclk_sys 150 MHz", pins: func(t *testing.T, w wave) {
		w.period(t, "gpio21", 10_000_000)
	}},
	{name: "power", args: []string{"--button", "14@700ms+100ms"}, stdout: `woken after 250 ms
dormant for a while of the always-on timer, 0 ms of the others
powered up by the alarm after 500 ms`, stderr: []string{"0.700000 s  button 14: pressed"}},
	{name: "rtos", stdout: `counted to 60000 under a lock
the queue carried a sum of 20100
10 delays of 5 ticks: on time
both cores switched tasks: yes`},
	{name: "pioheavy", args: []string{"--wire", "8-16", "--wire", "9-17", "--wire", "10-18", "--wire", "11-19"}, stdout: `2000 bytes over four lines, 0 wrong
all done in 5730 us
the processor went round meanwhile`, pins: func(t *testing.T, w wave) {
		// The first pixel is black: 24 short pulses of three tenths of 1.25 us.
		w.pulse(t, "gpio2", "1", 3, 375_000)
		w.pulse(t, "gpio3", "1", 3, 375_000)
	}},
}

// TestPeripherals runs each program on the cores of both architectures and looks
// at what it prints, what the things connected saw, and the edges at the pins.
func TestPeripherals(t *testing.T) {
	for _, e := range peripherals {
		for _, folder := range []string{"", "arm"} {
			t.Run(filepath.Join(folder, e.name), func(t *testing.T) {
				t.Parallel()
				dump := filepath.Join(t.TempDir(), "dump.vcd")
				args := append([]string{filepath.Join(folder, e.name, e.name+".elf"), "--vcd", dump}, e.args...)
				r := run(t, "", args...)
				if r.status != 0 {
					t.Errorf("status %d\n%s", r.status, r.stderr)
				}
				if ok, _ := replay.Match(replay.Lines(e.stdout), replay.Lines(r.stdout)); !ok {
					t.Errorf("standard output:\n%s\nwant:\n%s", r.stdout, e.stdout)
				}
				for _, text := range e.stderr {
					if !strings.Contains(r.stderr, text) {
						t.Errorf("standard error lacks %q:\n%s", text, r.stderr)
					}
				}
				text, err := os.ReadFile(dump)
				if err != nil {
					t.Fatal(err)
				}
				if e.pins != nil {
					e.pins(t, parseWave(t, string(text)))
				}
			})
		}
	}
}

// TestRunsRepeat: the same run gives the same waveform, byte for byte, and a run
// that is interrupted, kept and restored ends as one that is not.
func TestRunsRepeat(t *testing.T) {
	for _, folder := range []string{"", "arm"} {
		for _, e := range peripherals {
			switch e.name {
			case "pioheavy", "i2c", "adc", "rtos", "uart", "power":
			default:
				continue
			}
			t.Run(filepath.Join(folder, e.name), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				elf := filepath.Join(folder, e.name, e.name+".elf")
				go2 := func(name string, more ...string) (result, string) {
					dump := filepath.Join(dir, name)
					r := run(t, "", append(append([]string{elf, "--vcd", dump, "-v"}, e.args...), more...)...)
					b, err := os.ReadFile(dump)
					if err != nil {
						t.Fatal(err)
					}
					return r, string(b)
				}
				whole, a := go2("a.vcd")
				_, b := go2("b.vcd")
				if a != b || a == "" {
					t.Error("two runs give different waveforms")
				}
				for _, part := range []uint64{70, 80, 97} {
					at := strconv.FormatUint(cycles(t, whole.stderr)*part/100+part, 10)
					snap := filepath.Join(dir, at+".snap")
					first, _ := go2("c.vcd", "--cycles", at, "--snapshot", snap)
					rest, _ := go2("d.vcd", "--restore", snap)
					if first.stdout+rest.stdout != whole.stdout {
						t.Errorf("interrupted at %s:\n%s|%s\nwant:\n%s", at, first.stdout, rest.stdout, whole.stdout)
					}
					if counts(rest.stderr) != counts(whole.stderr) {
						t.Errorf("interrupted at %s, it ends with\n%s\nwant\n%s", at, counts(rest.stderr), counts(whole.stderr))
					}
				}
			})
		}
	}
}

// cycles is what -v says of a run.
func cycles(t *testing.T, stderr string) uint64 {
	t.Helper()
	for _, l := range strings.Split(stderr, "\n") {
		if f := strings.Fields(l); len(f) > 1 && f[1] == "cycles," {
			n, err := strconv.ParseUint(f[0], 10, 64)
			if err == nil {
				return n
			}
		}
	}
	t.Fatalf("no cycles in %s", stderr)
	return 0
}

// wave are the changes of the variables of a dump, by the last part of the name.
type wave map[string][]edge

type edge struct {
	at    uint64 // picoseconds
	value string
}

func parseWave(t *testing.T, text string) wave {
	t.Helper()
	names := map[string]string{}
	w := wave{}
	var now uint64
	for _, l := range strings.Split(text, "\n") {
		f := strings.Fields(l)
		switch {
		case len(f) > 4 && f[0] == "$var":
			names[f[3]] = f[4]
		case strings.HasPrefix(l, "#"):
			now, _ = strconv.ParseUint(l[1:], 10, 64)
		case len(f) == 1 && (l[0] == '0' || l[0] == '1'):
			n := names[l[1:]]
			w[n] = append(w[n], edge{now, l[:1]})
		}
	}
	return w
}

// clocked are the bits of a data line at the last n edges of a clock to a level.
func (w wave) clocked(data, clock, level string, n int) string {
	var at []uint64
	for _, e := range w[clock] {
		if e.value == level && e.at != 0 {
			at = append(at, e.at)
		}
	}
	at = at[max(0, len(at)-n):]
	var bits strings.Builder
	i, now := 0, "0"
	for _, t := range at {
		for ; i < len(w[data]) && w[data][i].at <= t; i++ {
			now = w[data][i].value
		}
		bits.WriteString(now)
	}
	return bits.String()
}

// words are n words from first on, most significant bit first; tmds is a symbol,
// least significant bit first.
func words(width, first, n int) string {
	var s string
	for i := range n {
		s += fmt.Sprintf("%0*b", width, first+i)
	}
	return s
}

func tmds(symbol int) string {
	var s string
	for i := range 10 {
		s += strconv.Itoa(symbol >> i & 1)
	}
	return s
}

// near reports whether two times differ by no more than two cycles of 150 MHz.
func near(a, b uint64) bool { return math.Abs(float64(a)-float64(b)) <= 2*6667 }

// period expects a pin's rising edges to come in a period.
func (w wave) period(t *testing.T, pin string, picos uint64) {
	t.Helper()
	var rises []uint64
	for _, e := range w[pin] {
		if e.value == "1" {
			rises = append(rises, e.at)
		}
	}
	if len(rises) < 12 {
		t.Errorf("%s rises %d times", pin, len(rises))
		return
	}
	if got := (rises[11] - rises[1]) / 10; !near(got, picos) {
		t.Errorf("%s has a period of %d ps, want %d", pin, got, picos)
	}
}

// pulse expects pulse n of a level (the first ones may be of set-up) to last.
func (w wave) pulse(t *testing.T, pin, level string, n int, picos uint64) {
	t.Helper()
	var found []uint64
	list := w[pin]
	for i := 1; i+1 < len(list); i++ {
		if list[i].value != level {
			continue
		}
		length := list[i+1].at - list[i].at
		if near(length, picos) {
			return
		}
		found = append(found, length)
		if len(found) > n+40 {
			break
		}
	}
	t.Errorf("%s has no pulse of %s that lasts %d ps, but %v", pin, level, picos, found)
}
