package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/sim/debugport"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// boardTrouble is what --trouble asks for.
type boardTrouble struct {
	debugport.Trouble
	// locked: debugging is fused off; secureLocked: Secure debugging alone.
	locked, secureLocked bool
	// vanish: the way to the port breaks in the middle of things.
	vanish bool
}

// fuse programs the fuses of a locked chip: eight copies of CRIT1 (RP2350
// datasheet 3.5.9 and 13.10).
func (t boardTrouble) fuse(fuses *otp.Array) {
	var v uint32
	if t.secureLocked {
		v = 1 << 1
	}
	if t.locked {
		v |= 1 << 2
	}
	for i := range 8 {
		fuses.Program(otp.RowCrit1+i, v)
	}
}

// How many bytes of a client's are taken before its way breaks: enough for it to
// attach. The bit-banging protocols take a byte for each edge.
const (
	vanishBits    = 300_000
	vanishPackets = 12_000
)

// parseTrouble reads --trouble.
func parseTrouble(ways []string) (t boardTrouble, err error) {
	set := map[string]func(){
		"locked":        func() { t.locked = true },
		"secure-locked": func() { t.secureLocked = true },
		"vanish":        func() { t.vanish = true },
	}
	for _, w := range ways {
		name := strings.TrimSpace(w)
		if f, ok := set[name]; ok {
			f()
			continue
		}
		if !t.Set(name) {
			u := faults.Usage("there is no trouble called %q", w)
			u.Wanted = strings.Join(slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(set)), debugport.TroubleNames()...))), ", ")
			return t, u
		}
	}
	return t, nil
}
