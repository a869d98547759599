package board

import (
	"errors"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/ui"
)

func TestParse(t *testing.T) {
	tests := []struct {
		in   string
		want Selector
	}{
		{"sim", Selector{Kind: KindSim, Text: DefaultSim}},
		{"sim:default", Selector{Kind: KindSim, Text: DefaultSim}},
		{"sim:lab-2", Selector{Kind: KindSim, Text: "lab-2"}},
		{"native", Selector{Kind: KindNative}},
		{"usb:3-1.2", Selector{Kind: KindPort, Text: "3-1.2"}},
		{"usb:1-4", Selector{Kind: KindPort, Text: "1-4"}},
		{"2e8a:000c:E660B440072C1A2A", Selector{Kind: KindUSB, Text: "E660B440072C1A2A", Vendor: 0x2e8a, Product: 0xc}},
		{"2E8A:000F:a:b", Selector{Kind: KindUSB, Text: "a:b", Vendor: 0x2e8a, Product: 0xf}},
		{"e660", Selector{Kind: KindWord, Text: "e660"}},
		{"desk", Selector{Kind: KindWord, Text: "desk"}},
	}
	for _, tt := range tests {
		got, err := Parse(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{
		"", " ", "sim:", "sim:../x", "sim:a/b", "sim:.hidden", "sim:9", "usb:", "usb:3", "usb:3-", "usb:3-1.", "usb:03-1",
		"usb:+3-1", "usb:3-1.2:1.0", "2e8a:c:X", "2e8a:000c:", "2e8a:000c", "zzzz:000c:X", "a\x1b[2J", "a\x00", " e660",
		strings.Repeat("a", maxSelector+1), "sim:" + strings.Repeat("a", maxName+1), "x:y",
	} {
		if got, err := Parse(in); err == nil {
			t.Errorf("Parse(%q) = %+v, want a fault", in, got)
		} else if faults.StatusOf(err) != faults.StatusUsage {
			t.Errorf("Parse(%q): %v", in, err)
		}
	}
}

var table = []Board{
	{Identity: Identity{"E660B440072C1A2A", "3-1.2", RoleProbe}, Product: "Debugprobe on Pico (CMSIS-DAP)",
		Vendor: 0x2e8a, ProductID: 0xc, Consoles: []string{"/dev/ttyACM0"}, Nickname: "desk"},
	{Identity: Identity{"E661640843782139", "3-1.4", RoleProbe}, Product: "Debug Probe (CMSIS-DAP)",
		Vendor: 0x2e8a, ProductID: 0xc, Consoles: []string{"/dev/ttyACM1"}},
	{Identity: Identity{Serial: "7A3C51E80B29D4F6", Role: RoleBoard}, Sim: DefaultSim, Simulated: true, Product: "Pico 2"},
	{Identity: Identity{Serial: "DE5C000000000001", Port: "1-2", Role: RoleBoard}, Vendor: 0x2e8a, ProductID: 0xf, Product: "RP2350 Boot"},
}

func TestMatch(t *testing.T) {
	tests := []struct {
		sel  string
		want int // index, or the exit status as a negative number
	}{
		{"E660", 0}, {"e660b440072c1a2a", 0}, {"e661", 1}, {"usb:3-1.4", 1}, {"usb:3-1", -3},
		{"2e8a:000c:E661640843782139", 1}, {"2e8a:000c:E661", -3}, {"2e8a:000f:E661640843782139", -3},
		{"sim", 2}, {"sim:default", 2}, {"sim:other", -3}, {"7a3c", 2}, {"desk", 0}, {"DESK", 0},
		{"e66", -4}, {"E", -4}, {"f", -3}, {"native", -3}, {"de", -4}, {"de5c", 3},
	}
	for _, tt := range tests {
		s, err := Parse(tt.sel)
		if err != nil {
			t.Fatal(err)
		}
		boards := table
		if tt.sel == "de" {
			// A nickname that is also the beginning of another one's serial
			// number is no answer.
			boards = append([]Board(nil), table...)
			boards[1].Nickname = "de"
		}
		got, err := Match(s, boards, Ask{Command: "stem-hw flash -b %s app.elf"})
		if tt.want < 0 {
			if int(faults.StatusOf(err)) != -tt.want {
				t.Errorf("%s: %v, want status %d", tt.sel, err, -tt.want)
			}
			continue
		}
		if err != nil || got.Serial != table[tt.want].Serial {
			t.Errorf("%s: %v, %v", tt.sel, got, err)
		}
	}
}

// TestAmbiguousRendering is the command-line contract's own example.
func TestAmbiguousRendering(t *testing.T) {
	_, err := Match(Selector{Text: "E66"}, table, Ask{Command: "stem-hw flash -b %s app.elf"})
	var b strings.Builder
	u, uerr := ui.New(ui.Streams{Err: &b}, ui.Options{})
	if uerr != nil {
		t.Fatal(uerr)
	}
	if st := u.Fault(err); st != faults.StatusAmbiguous {
		t.Errorf("status %d", st)
	}
	want := `error: two boards match and none was chosen                      [ambiguous-board]
  E660B440072C1A2A  Debugprobe on Pico (CMSIS-DAP)  usb 3-1.2  /dev/ttyACM0
  E661640843782139  Debug Probe (CMSIS-DAP)         usb 3-1.4  /dev/ttyACM1
try:  stem-hw use E660      (for this project)
      stem-hw flash -b E660 app.elf
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestOnly(t *testing.T) {
	ask := Ask{Command: "stem-hw console -b %s"}
	if b, err := Only(table[2:3], ask); err != nil || b.Selector() != "sim" {
		t.Errorf("%v, %v", b, err)
	}
	if _, err := Only(nil, ask); faults.StatusOf(err) != faults.StatusNotFound || faults.Of(err).Try[0] != "stem-hw console -b sim" {
		t.Errorf("%v", err)
	}
	if _, err := Only(table, ask); !errors.Is(err, &faults.Fault{Code: faults.CodeAmbiguous}) {
		t.Errorf("%v", err)
	}
}

func TestSameSerialTwice(t *testing.T) {
	twins := []Board{
		{Identity: Identity{Serial: "EEEEEEEEEEEEEEEE", Port: "1-1"}},
		{Identity: Identity{Serial: "EEEEEEEEEEEEEEEE", Port: "1-2"}},
	}
	_, err := Match(Selector{Text: "EEEE"}, twins, Ask{Command: "stem-hw reset -b %s"})
	if f := faults.Of(err); f == nil || f.Try[1] != "stem-hw reset -b usb:1-1" {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"sim", "sim:lab", "native", "usb:3-1.2", "2e8a:000c:E66", "e660", "", "a:b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s, err := Parse(in)
		if err != nil {
			if faults.Of(err) == nil {
				t.Fatalf("%q: no fault: %v", in, err)
			}
			return
		}
		again, err := Parse(s.String())
		if err != nil || again != s {
			t.Fatalf("%q reads as %+v, written %q, read again %+v, %v", in, s, s.String(), again, err)
		}
		if _, err := Match(s, table, Ask{Command: "%s"}); err != nil && faults.Of(err) == nil {
			t.Fatalf("%q: %v", in, err)
		}
	})
}
