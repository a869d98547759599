package cortexm

import (
	"context"
	"fmt"

	"github.com/stem-hw/stem-hw/probe/mem"
	"github.com/stem-hw/stem-hw/target"
)

// Values of DWT_FUNCTION.MATCH, with the action of a debug event.
const (
	matchAny   = 4 | 1<<4
	matchWrite = 5 | 1<<4
	matchRead  = 6 | 1<<4
	matchLimit = 7
)

// Comparators says which comparators a list of points needs: the FPB's, and
// for each watchpoint the DWT's that serve it.
func (c *Core) comparators(ps []target.Point) (fpb []uint32, dwt [][2]uint32, owner []int, err error) {
	dwt = make([][2]uint32, c.dwt)
	owner = make([]int, c.dwt)
	for i := range owner {
		owner[i] = -1
	}
	free := func(n int) int {
		for i := 0; i+n <= c.dwt; i += n {
			ok := true
			for k := range n {
				ok = ok && owner[i+k] < 0
			}
			if ok {
				return i
			}
		}
		return -1
	}
	for i, p := range ps {
		if p.Kind == target.PointHardware {
			fpb = append(fpb, p.Addr|1)
			continue
		}
		match := uint32(matchAny)
		switch p.Kind {
		case target.PointWrite:
			match = matchWrite
		case target.PointRead:
			match = matchRead
		}
		n := max(p.Len, 1)
		size := map[uint32]uint32{1: 0, 2: 1, 4: 2}
		if s, ok := size[n]; ok && p.Addr%n == 0 {
			at := free(1)
			if at < 0 {
				return nil, nil, nil, errTooMany("watchpoints", c.dwt)
			}
			dwt[at], owner[at] = [2]uint32{p.Addr, match | s<<10}, i
			continue
		}
		at := free(2)
		if at < 0 {
			return nil, nil, nil, fmt.Errorf("a watchpoint of %d bytes takes two of the %d comparators, and they are in use", n, c.dwt)
		}
		dwt[at], owner[at] = [2]uint32{p.Addr, match}, i
		dwt[at+1], owner[at+1] = [2]uint32{p.Addr + n - 1, matchLimit}, i
	}
	if len(fpb) > c.fpb {
		return nil, nil, nil, errTooMany("hardware breakpoints", c.fpb)
	}
	return fpb, dwt, owner, nil
}

func errTooMany(what string, n int) error {
	return fmt.Errorf("the core has %d %s, and all are in use", n, what)
}

// SetPoints puts hardware breakpoints and watchpoints into force, in place of
// those before. owner says for each data comparator which point it serves, or -1.
func (c *Core) SetPoints(ctx context.Context, ps []target.Point) (owner []int, err error) {
	fpb, dwt, owner, err := c.comparators(ps)
	if err != nil {
		return nil, err
	}
	_, err = c.ap.Do(ctx, func(b *mem.Batch) {
		b.Write(regFPCtrl, 3)
		for i := range c.fpb {
			v := uint32(0)
			if i < len(fpb) {
				v = fpb[i]
			}
			b.Write(regFPComp+4*uint32(i), v)
		}
		for i, d := range dwt {
			at := regDWT + 16*uint32(i)
			b.Write(at+8, 0)
			b.Write(at, d[0])
			b.Write(at+8, d[1])
		}
	})
	return owner, err
}
