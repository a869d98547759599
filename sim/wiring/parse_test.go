package wiring

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

const whole = `
[[led]]
name = "red"
pin = 15
active = "low"
[[button]]
pin = 14
bounce = "1ms"
press = [{at = "100ms", for = "50ms"}, {at = "20ms", for = "10ms"}]
[[potentiometer]]
pin = 26
position = 0.25
turn = [{at = "1s", to = 1.0}]
[[waveform]]
pin = 27
file = "wave.csv"
repeat = true
[[wire]]
pins = [2, 3, 4]
[[pull]]
pin = 9
to = "ground"
[[i2c-eeprom]]
sda = 4
scl = 5
size = 256
page = 8
write-time = "1ms"
[[i2c-registers]]
name = "imu"
sda = 4
scl = 5
address = 0x68
registers = {0x75 = 0x68}
[[spi-registers]]
sck = 18
mosi = 19
miso = 16
cs = 17
mode = 3
registers = {0x0f = 0x33}
[[uart-loopback]]
tx = 8
rx = 9
`

func files(name string) ([]byte, error) {
	switch name {
	case "wave.csv":
		return []byte("seconds,volts\n0,0\n0.5,3.3\n# the end\n1 0\n"), nil
	case "back.csv":
		return []byte("1,0\n0,1\n"), nil
	}
	return nil, os.ErrNotExist
}

func TestParse(t *testing.T) {
	parts, err := Parse("board.toml", []byte(whole), files)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range parts {
		names = append(names, p.Name())
	}
	want := "red, button 1, potentiometer 1, waveform 1, wire 1, pull 1, i2c-eeprom 1, imu, spi-registers 1, uart-loopback 1"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("parts %s, want %s", got, want)
	}
	k := parts[1].(*Button)
	if len(k.Presses) != 2 || k.Presses[0].At != 20*time.Millisecond || k.Presses[1].For != 50*time.Millisecond {
		t.Errorf("presses %v", k.Presses)
	}
	if l := parts[0].(*LED); l.Pin != 15 || !l.Low {
		t.Errorf("LED %+v", l)
	}
	if v := parts[3].(*Voltage); len(v.Points) != 3 || v.Points[1].Volts != 3.3 || !v.Linear || !v.Repeat {
		t.Errorf("waveform %+v", v.Points)
	}
}

// TestParseErrors: each mistake is named with its place, and what would be right.
func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, where, seen string }{
		{"syntax", "[[led]\npin = 1", "board.toml:1:", "expected"},
		{"unknown key", "[[led]]\npin = 1\ncolour = \"red\"", "board.toml:3:1", "colour"},
		{"unknown part", "[[lamp]]\npin = 1", "board.toml:1:", "lamp"},
		{"nothing", "", "board.toml", "nothing is connected"},
		{"no pin", "[[led]]", "led 1", "no pin"},
		{"pin too high", "[[led]]\npin = 48", "led 1", "pin = 48"},
		{"word", "[[led]]\npin = 1\nactive = \"maybe\"", "led 1", "maybe"},
		{"two of a name", "[[led]]\nname=\"a\"\npin=1\n[[led]]\nname=\"a\"\npin=2", "a", "two parts"},
		{"no time", "[[button]]\npin=1\npress=[{at=\"1\",for=\"1s\"}]", "board.toml", "no time"},
		{"negative time", "[[button]]\npin=1\npress=[{at=\"-1s\",for=\"1s\"}]", "board.toml", "no time"},
		{"press without for", "[[button]]\npin=1\npress=[{at=\"1s\"}]", "button 1", "without"},
		{"overlapping", "[[button]]\npin=1\npress=[{at=\"1s\",for=\"2s\"},{at=\"2s\",for=\"1s\"}]", "button 1", "while it still is"},
		{"bounce longer than press", "[[button]]\npin=1\nbounce=\"2ms\"\npress=[{at=\"1s\",for=\"1ms\"}]", "button 1", "bouncing"},
		{"position", "[[potentiometer]]\npin=26\nposition=1.5", "potentiometer 1", "1.5"},
		{"no file", "[[waveform]]\npin=26", "waveform 1", "no file"},
		{"missing file", "[[waveform]]\npin=26\nfile=\"x\"", "waveform 1", "not exist"},
		{"csv back in time", "[[waveform]]\npin=26\nfile=\"back.csv\"", "waveform 1", "line 2 goes back"},
		{"one pin", "[[wire]]\npins=[3]", "wire 1", "1 pins"},
		{"same pin", "[[wire]]\npins=[3,3]", "wire 1", "twice"},
		{"address", "[[i2c-registers]]\nsda=4\nscl=5\naddress=0x80", "i2c-registers 1", "address"},
		{"register", "[[i2c-registers]]\nsda=4\nscl=5\naddress=0x20\nregisters={foo=1}", "i2c-registers 1", "foo"},
		{"register value", "[[i2c-registers]]\nsda=4\nscl=5\naddress=0x20\nregisters={0x1=256}", "i2c-registers 1", "256"},
		{"eeprom size", "[[i2c-eeprom]]\nsda=4\nscl=5\nsize=300", "i2c-eeprom 1", "300"},
		{"spi pins", "[[spi-registers]]\nsck=1\nmosi=2\nmiso=3\ncs=3", "spi-registers 1", "twice"},
		{"spi mode", "[[spi-registers]]\nsck=1\nmosi=2\nmiso=3\ncs=4\nmode=4", "spi-registers 1", "mode = 4"},
		{"loopback", "[[uart-loopback]]\ntx=1", "uart-loopback 1", "no rx"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("board.toml", []byte(tt.text), files)
			var f *faults.Fault
			if !errors.As(err, &f) || f.Code != faults.CodeBadWiring || f.Wanted == "" {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(f.Summary, tt.where) || !strings.Contains(f.Seen, tt.seen) {
				t.Errorf("%s: seen %s; want %q and %q", f.Summary, f.Seen, tt.where, tt.seen)
			}
		})
	}
}

func TestParseWords(t *testing.T) {
	parts, err := ParseWords(Words{
		LED: []string{"15", "25:low"}, Button: []string{"14:3v3@100ms+50ms,2s+1ms"},
		Analog: []string{"26=1.65", "27=wave.csv"}, Wire: []string{"2-3"},
	}, files)
	if err != nil || len(parts) != 6 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	for _, w := range []Words{
		{LED: []string{"x"}}, {LED: []string{"15", "15"}}, {Button: []string{"14"}}, {Button: []string{"14@1s"}},
		{Button: []string{"14@1s+0s"}}, {Analog: []string{"26"}}, {Analog: []string{"26=5"}}, {Analog: []string{"26=NaN"}},
		{Wire: []string{"2"}}, {Wire: []string{"2-2"}}, {Wire: []string{"2-99"}},
	} {
		if _, err := ParseWords(w, files); !faults.Is(err, faults.CodeBadWiring) {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("[[button]]\npin=1\npress=[{at=\"1s\",for=\"1ms\"}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		parts, err := Parse("fuzz", text, files)
		if err != nil && faults.Of(err) == nil {
			t.Errorf("an error without a fault: %v", err)
		}
		if err == nil && len(parts) == 0 {
			t.Error("nothing and no error")
		}
	})
}

func FuzzCSV(f *testing.F) {
	f.Add("0,1\n1,2\n")
	f.Fuzz(func(t *testing.T, text string) {
		points, seen := parseCSV(text)
		if (seen == "") != (len(points) > 0) {
			t.Errorf("%d points and %q", len(points), seen)
		}
		for i := 1; i < len(points); i++ {
			if points[i].At <= points[i-1].At {
				t.Error("time goes back")
			}
		}
	})
}

func FuzzWords(f *testing.F) {
	f.Add("15", "14@1s+1ms", "26=1", "2-3")
	f.Fuzz(func(t *testing.T, led, button, adc, wire string) {
		_, err := ParseWords(Words{LED: []string{led}, Button: []string{button}, Analog: []string{adc}, Wire: []string{wire}}, files)
		if err != nil && faults.Of(err) == nil {
			t.Errorf("an error without a fault: %v", err)
		}
	})
}
