package vcd_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/vcd"
)

// dump runs a program and returns its dump.
func dump(t *testing.T, path string, cycles uint64) string {
	t.Helper()
	img, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	c := rp2350.New(rp2350.Options{})
	if err := c.Load(img); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r := vcd.Record(&b, c)
	for c.Now() < cycles {
		if e := c.Run(min(cycles, c.Now()+50_000)); e.Kind != machine.EventLimit && e.Kind != machine.EventReset {
			break
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// check parses a dump as IEEE 1364 has it and returns the changes by name.
func check(t *testing.T, text string) map[string][]change {
	t.Helper()
	type decl struct {
		name  string
		width int
	}
	vars := map[string]decl{}
	out := map[string][]change{}
	var scope []string
	head, body, ok := strings.Cut(text, "$enddefinitions $end\n")
	if !ok {
		t.Fatal("no end of the definitions")
	}
	for _, l := range strings.Split(head, "\n") {
		f := strings.Fields(l)
		switch {
		case len(f) == 0:
		case f[0] == "$scope":
			scope = append(scope, f[2])
		case f[0] == "$upscope":
			scope = scope[:len(scope)-1]
		case f[0] == "$var":
			w, err := strconv.Atoi(f[2])
			if err != nil || w < 1 || f[len(f)-1] != "$end" {
				t.Fatalf("declaration %q", l)
			}
			if _, twice := vars[f[3]]; twice {
				t.Fatalf("identifier %q twice", f[3])
			}
			vars[f[3]] = decl{strings.Join(scope, ".") + "." + f[4], w}
		}
	}
	if len(scope) != 0 {
		t.Fatalf("scopes %v are left open", scope)
	}
	now, told := uint64(0), false
	for _, l := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
		switch {
		case l == "$dumpvars" || l == "$end":
		case l[0] == '#':
			at, err := strconv.ParseUint(l[1:], 10, 64)
			if err != nil || told && at <= now {
				t.Fatalf("time %q after %d", l, now)
			}
			now, told = at, true
		default:
			value, id := l[:1], l[1:]
			if l[0] == 'b' {
				value, id, _ = strings.Cut(l[1:], " ")
			}
			v, known := vars[id]
			if !known || len(value) > v.width || strings.Trim(value, "01z") != "" {
				t.Fatalf("change %q", l)
			}
			out[v.name] = append(out[v.name], change{now, value})
		}
	}
	for id, v := range vars {
		if len(out[v.name]) == 0 {
			t.Errorf("%s (%s) has no value", v.name, id)
		}
	}
	return out
}

type change struct {
	at    uint64
	value string
}

// TestDump: the dump is well formed, has the LED's edges at their times, and is
// the same again.
func TestDump(t *testing.T) {
	for _, path := range []string{"../../examples/hello/hello.elf", "../../examples/arm/hello/hello.elf"} {
		text := dump(t, path, 200_000_000)
		changes := check(t, text)
		led := changes["board.gpio.gpio25"]
		if len(led) < 4 {
			t.Fatalf("%s: the LED changed %d times", path, len(led))
		}
		on, off := led[1], led[2]
		if on.value != "1" || off.value != "0" {
			t.Errorf("%s: LED %v", path, led)
		}
		period := (off.at - on.at) / 1_000_000_000 // ms
		if period != 250 && period != 100 && period != 249 && period != 99 {
			t.Errorf("%s: the LED was on for %d ms", path, period)
		}
		if again := dump(t, path, 200_000_000); again != text {
			t.Errorf("%s: two runs differ", path)
		}
	}
}
