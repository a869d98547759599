package wiring

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/stem-hw/stem-hw/faults"
)

// The description as TOML has it: one table array for each kind of part.
type description struct {
	LED      []ledTable      `toml:"led"`
	Button   []buttonTable   `toml:"button"`
	Pot      []potTable      `toml:"potentiometer"`
	Waveform []waveformTable `toml:"waveform"`
	Wire     []wireTable     `toml:"wire"`
	Pull     []pullTable     `toml:"pull"`
	EEPROM   []eepromTable   `toml:"i2c-eeprom"`
	I2C      []i2cTable      `toml:"i2c-registers"`
	SPI      []spiTable      `toml:"spi-registers"`
	Loopback []loopbackTable `toml:"uart-loopback"`
}

type ledTable struct {
	Name   string
	Pin    *int
	Active string
}

type buttonTable struct {
	Name   string
	Pin    *int
	To     string
	Bounce moment
	Press  []struct {
		At  *moment
		For *moment
	}
}

type potTable struct {
	Name     string
	Pin      *int
	Position *float64
	Turn     []struct {
		At *moment
		To *float64
	}
}

type waveformTable struct {
	Name   string
	Pin    *int
	File   string
	Step   bool
	Repeat bool
}

type wireTable struct {
	Name string
	Pins []int
}

type pullTable struct {
	Name string
	Pin  *int
	To   string
}

type eepromTable struct {
	Name      string
	SDA, SCL  *int
	Address   *int
	Size      *int
	Page      *int
	File      string
	WriteTime *moment `toml:"write-time"`
	PullUps   *bool   `toml:"pull-ups"`
}

type i2cTable struct {
	Name      string
	SDA, SCL  *int
	Address   *int
	Registers map[string]int
	PullUps   *bool `toml:"pull-ups"`
	Report    bool
}

type spiTable struct {
	Name                string
	SCK, MOSI, MISO, CS *int
	Mode                int
	Registers           map[string]int
	ReadBit             *int `toml:"read-bit"`
	Report              bool
}

type loopbackTable struct {
	Name   string
	TX, RX *int
}

// moment is a time or a span: "20ms".
type moment time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *moment) UnmarshalText(b []byte) error {
	d, err := parseTime(string(b))
	*m = moment(d)
	return err
}

// latest bounds times, so that picoseconds fit into 64 bits with room to spare.
const latest = 1000 * time.Hour

func parseTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > latest {
		return 0, fmt.Errorf("%q is no time: a number with a unit is wanted, as in 20ms or 1.5s", s)
	}
	return d, nil
}

// Open reads a file that a description names.
type Open func(name string) ([]byte, error)

// maxDescription bounds the text of a description and of a file it names.
const maxDescription = 1 << 20

// Parse reads a description. name is what errors call it; open reads the files
// that it names.
func Parse(name string, text []byte, open Open) ([]Part, error) {
	if len(text) > maxDescription {
		return nil, bad(name, fmt.Sprintf("%d bytes", len(text)), "at most 1 MiB")
	}
	var d description
	dec := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return nil, syntax(name, err)
	}
	p := parser{name: name, open: open, used: map[string]bool{}}
	parts := d.parts(&p)
	if p.err != nil {
		return nil, p.err
	}
	if len(parts) == 0 {
		return nil, bad(name, "nothing is connected", "a table such as [[led]] with pin = 15")
	}
	return parts, nil
}

// syntax is the fault for TOML that does not parse.
func syntax(name string, err error) error {
	var de *toml.DecodeError
	var strict *toml.StrictMissingError
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		e := strict.Errors[0]
		row, col := e.Position()
		return bad(fmt.Sprintf("%s:%d:%d", name, row, col),
			fmt.Sprintf("the key %q", strings.Join(e.Key(), ".")), "a key that docs/wiring.md has")
	case errors.As(err, &de):
		row, col := de.Position()
		return bad(fmt.Sprintf("%s:%d:%d", name, row, col), strings.TrimPrefix(de.Error(), "toml: "), "a wiring description")
	}
	return bad(name, strings.TrimPrefix(err.Error(), "toml: "), "a wiring description")
}

// bad is the fault for a description that cannot be used.
func bad(where, seen, wanted string) *faults.Fault {
	return &faults.Fault{
		Code: faults.CodeBadWiring, Status: faults.StatusUsage,
		Summary: "the wiring cannot be used: " + where, Seen: seen, Wanted: wanted,
	}
}

// parser turns tables into parts and keeps the first error.
type parser struct {
	name string
	open Open
	used map[string]bool
	err  error
}

func (p *parser) fail(part, seen, wanted string) {
	if p.err == nil {
		where := p.name
		if part != "" {
			where += ": " + part
		}
		p.err = bad(where, seen, wanted)
	}
}

// part gives a part its name: its own, or the kind with a number.
func (p *parser) part(kind string, n int, own string) named {
	if own == "" {
		own = fmt.Sprintf("%s %d", kind, n+1)
	}
	if len(own) > 64 {
		p.fail(kind, "a name of more than 64 bytes", "a short name")
	}
	if p.used[own] {
		p.fail(own, "two parts of this name", "names that differ")
	}
	p.used[own] = true
	return named(own)
}

const lastPin = 47

func (p *parser) pin(part named, key string, v *int) int {
	switch {
	case v == nil:
		p.fail(string(part), "no "+key, key+" = a number of a GPIO")
		return 0
	case *v < 0 || *v > lastPin:
		p.fail(string(part), fmt.Sprintf("%s = %d", key, *v), "a GPIO, 0 to 29 on a Pico 2")
		return 0
	}
	return *v
}

// apart checks that pins differ.
func (p *parser) apart(part named, pins ...int) {
	for i, a := range pins {
		for _, b := range pins[:i] {
			if a == b {
				p.fail(string(part), fmt.Sprintf("GPIO%d twice", a), "different pins")
			}
		}
	}
}

// choice is one of two words; empty is the first.
func (p *parser) choice(part named, key, v, first, second string) bool {
	if v != "" && v != first && v != second {
		p.fail(string(part), fmt.Sprintf("%s = %q", key, v), first+" or "+second)
	}
	return v == second
}

func (p *parser) within(part named, key string, v *int, def, lo, hi int) int {
	if v == nil {
		return def
	}
	if *v < lo || *v > hi {
		p.fail(string(part), fmt.Sprintf("%s = %d", key, *v), fmt.Sprintf("%d to %d", lo, hi))
		return def
	}
	return *v
}
