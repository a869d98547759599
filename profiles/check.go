package profiles

import (
	"fmt"
	"slices"
	"strings"
)

// check returns the first setting that is out of range, with its key.
func (s *Settings) check(chip *Chip) (key string, err error) {
	between := func(v, lo, hi int, unit string) error {
		if v < lo || v > hi {
			return fmt.Errorf("%d is out of range, from %d to %d%s", v, lo, hi, unit)
		}
		return nil
	}
	oneOf := func(v string, words ...string) error {
		if slices.Contains(words, v) {
			return nil
		}
		err := fmt.Errorf("%q is not one of %s", v, strings.Join(words, ", "))
		if n := nearest(v, words); n != "" {
			return &hint{err, fmt.Sprintf("%q", n)}
		}
		return err
	}
	for _, role := range s.Roles.Needs {
		if err := oneOf(role, "board", "probe"); err != nil {
			return "roles.needs", prefix("roles.needs", err)
		}
	}
	checks := []struct {
		key string
		err error
	}{
		{"board.led", between(s.Board.LED, -1, 47, " (-1 is none)")},
		{"console.baud", between(s.Console.Baud, 1, 12_000_000, " baud")},
		{"console.data_bits", between(s.Console.DataBits, 5, 8, "")},
		{"console.parity", oneOf(s.Console.Parity, "none", "even", "odd")},
		{"console.stop_bits", between(s.Console.StopBits, 1, 2, "")},
		{"debug.swd_khz", between(s.Debug.SWDKHz, 1, 100_000, " kHz")},
		{"debug.swd_khz_min", between(s.Debug.SWDKHzMin, 1, s.Debug.SWDKHz, " kHz, swd_khz")},
		{"run.speed", oneOf(s.Run.Speed, "auto", "real", "max")},
		{"flash.size", s.checkFlash(chip)},
	}
	for _, c := range checks {
		if c.err != nil {
			return c.key, prefix(c.key, c.err)
		}
	}
	return "", nil
}

func prefix(key string, err error) error {
	if h, ok := err.(*hint); ok { //nolint:errorlint // made here, never wrapped
		return &hint{fmt.Errorf("%s: %w", key, h.err), key + " = " + h.try}
	}
	return fmt.Errorf("%s: %w", key, err)
}

func (s *Settings) checkFlash(chip *Chip) error {
	for _, r := range chip.Memory {
		if r.Kind != "flash" {
			continue
		}
		if s.Flash.Size > r.Size || s.Flash.Size%max(r.Sector, 1) != 0 || s.Flash.Size == 0 {
			return fmt.Errorf("%s is not a whole number of sectors (%s) up to %s", s.Flash.Size, r.Sector, r.Size)
		}
		return nil
	}
	if s.Flash.Size != 0 {
		return fmt.Errorf("%s has no flash", chip.Title)
	}
	return nil
}
