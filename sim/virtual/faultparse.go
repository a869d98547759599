package virtual

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image/boot"
)

// FaultGrammar is what ParseFault reads, for help texts.
const FaultGrammar = `[BOARD/]KIND[:WHAT][@WHEN][+LONG]

  unplug[@TIME][+LONG]              the cable is pulled, for ever or for LONG
  power-loss:erase[@N][+LONG]       power is lost in the middle of the Nth sector
  power-loss:program[@N][+LONG]     erase or page program, for LONG (1s)
  stuck-bit:ADDRESS.BIT=LEVEL[@TIME]
                                    a bit of flash keeps LEVEL (0 or 1)
  stall:ENDPOINT[@N]                the Nth transfer of an endpoint stalls
  slow-host[:DELAY][@TIME][+LONG]   every transfer begins DELAY (10ms) late
  full-fifo[:ENDPOINT][@TIME][+LONG]
                                    an endpoint, or every OUT one, takes nothing
  serial:TEXT[@N]                   the Nth time that the board comes back, its
                                    serial number is TEXT

BOARD is the number of a board from 1, probe or probe2 a debug probe; without it
every board is hit. TIME is simulated time since power-up, N counts from 1 (the
default).`

// maxFault bounds the text of a fault.
const maxFault = 256

// ParseFault reads a fault as a user writes it (FaultGrammar).
func ParseFault(text string) (Fault, error) {
	f, err := parseFault(text)
	if err == nil {
		return f, nil
	}
	u := faults.Usage("this is no fault that a simulated board can have")
	u.Seen, u.Wanted = fmt.Sprintf("%.80q: %v", text, err), "KIND[:WHAT][@WHEN][+LONG]"
	u.Try = []string{"--fault unplug@3s", "--fault power-loss:erase@5", "stem-hw sim board --help"}
	return Fault{}, u
}

// ParseFaults reads several.
func ParseFaults(texts []string) ([]Fault, error) {
	var all []Fault
	for _, s := range texts {
		f, err := ParseFault(s)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

func parseFault(text string) (f Fault, err error) {
	text = strings.TrimSpace(text)
	if len(text) > maxFault {
		return f, fmt.Errorf("it is longer than %d characters", maxFault)
	}
	if who, rest, ok := strings.Cut(text, "/"); ok {
		if err := f.parseBoard(who); err != nil {
			return f, err
		}
		text = rest
	}
	head, when, hasWhen := strings.Cut(text, "@")
	long, hasLong := "", false
	if hasWhen {
		when, long, hasLong = strings.Cut(when, "+")
	} else {
		head, long, hasLong = strings.Cut(head, "+")
	}
	kind, what, hasWhat := strings.Cut(head, ":")
	f.Kind = FaultKind(kind)
	if hasWhat && what == "" || hasWhen && when == "" || hasLong && long == "" {
		return f, errors.New("something is missing behind a sign")
	}
	if err := f.parseWhat(what); err != nil {
		return f, err
	}
	if err := f.parseWhen(when); err != nil {
		return f, err
	}
	return f, f.parseLong(long)
}

// parseBoard reads whom it hits: 2, probe, probe2.
func (f *Fault) parseBoard(s string) error {
	s, f.Probe = strings.CutPrefix(s, "probe")
	if s == "" && f.Probe {
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil || n == 0 {
		return fmt.Errorf("%q is no board; 1, probe or probe2 are some", s)
	}
	f.Board = int(n)
	return nil
}

// parseWhat reads what is behind the colon.
func (f *Fault) parseWhat(s string) error {
	var err error
	switch f.Kind {
	case FaultUnplug:
		if s != "" {
			return errors.New("unplug has nothing behind a colon")
		}
	case FaultPowerLoss:
		if f.Operation = s; s != CutErase && s != CutProgram {
			return errors.New("power is lost in an erase or a program: power-loss:erase")
		}
	case FaultStuckBit:
		return f.parseBit(s)
	case FaultStall:
		if f.Endpoint, err = parseEndpoint(s); err != nil {
			return err
		}
	case FaultSlowHost:
		f.Delay = defaultDelay
		if s != "" {
			f.Delay, err = parseTime(s)
			return err
		}
	case FaultFullFIFO:
		if s != "" {
			f.Endpoint, err = parseEndpoint(s)
			return err
		}
	case FaultSerial:
		f.Serial = s
		if s == "" || strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.") != "" || len(s) > 126 {
			return errors.New("a serial number has 1 to 126 letters, digits, '-', '_' and '.'")
		}
	default:
		return fmt.Errorf("there is no %q; unplug, power-loss, stuck-bit, stall, slow-host, full-fifo and serial there are", string(f.Kind))
	}
	if f.Probe && (f.Kind == FaultPowerLoss || f.Kind == FaultStuckBit) {
		return errors.New("a probe's flash is not simulated")
	}
	return nil
}

// parseBit reads 0x10001000.5=0.
func (f *Fault) parseBit(s string) error {
	place, level, ok := strings.Cut(s, "=")
	addr, bit, ok2 := strings.Cut(place, ".")
	a, err := strconv.ParseUint(addr, 0, 32)
	b, err2 := strconv.ParseUint(bit, 10, 8)
	switch {
	case !ok || !ok2 || err != nil || err2 != nil || b > 7 || level != "0" && level != "1":
		return errors.New("a stuck bit is ADDRESS.BIT=LEVEL: stuck-bit:0x10001000.5=0")
	case a < boot.FlashBase || a >= boot.FlashEnd:
		return fmt.Errorf("%#x is no address of flash", a)
	case f.Probe:
		return errors.New("a probe's flash is not simulated")
	}
	f.Addr, f.Bit, f.Level = uint32(a), uint8(b), level == "1"
	return nil
}

// parseEndpoint reads an address of an endpoint other than 0.
func parseEndpoint(s string) (uint8, error) {
	n, err := strconv.ParseUint(s, 0, 8)
	if err != nil || n&0x70 != 0 || n&15 == 0 {
		return 0, fmt.Errorf("%q is no endpoint; 0x01 to 0x0f go out, 0x81 to 0x8f come in", s)
	}
	return uint8(n), nil
}

// parseWhen reads what is behind the @: a number for what is counted, else a
// time.
func (f *Fault) parseWhen(s string) error {
	switch f.Kind {
	case FaultPowerLoss, FaultStall, FaultSerial:
		f.Count = 1
		if s == "" {
			return nil
		}
		n, err := strconv.ParseUint(s, 10, 31)
		if err != nil || n == 0 {
			return fmt.Errorf("%q is no number from 1; it says which one", s)
		}
		f.Count = int(n)
		return nil
	case FaultUnplug, FaultStuckBit, FaultSlowHost, FaultFullFIFO:
	}
	if s == "" {
		return nil
	}
	d, err := parseTime(s)
	f.At = d
	return err
}

// parseLong reads what is behind the +.
func (f *Fault) parseLong(s string) error {
	if s == "" {
		if f.Kind == FaultPowerLoss {
			f.For = defaultOff
		}
		return nil
	}
	switch f.Kind {
	case FaultStuckBit, FaultStall, FaultSerial:
		return fmt.Errorf("%s does not last a time", f.Kind)
	case FaultUnplug, FaultPowerLoss, FaultSlowHost, FaultFullFIFO:
	}
	d, err := parseTime(s)
	if err == nil && d == 0 {
		err = errors.New("it cannot last no time at all")
	}
	f.For = d
	return err
}

// parseTime reads a time that is not negative.
func parseTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time; 3s, 250ms and 1m30s are some", s)
	}
	return d, nil
}
