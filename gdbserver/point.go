package gdbserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/target"
)

// maxPoints bounds what one client may set.
const maxPoints = 4096

// parsePoint reads "type,addr,kind[;...]". Conditions and commands behind the
// semicolon are not offered in qSupported, so gdb never sends them.
func parsePoint(s string) (target.Point, bool) {
	s, _, _ = strings.Cut(s, ";")
	typ, rest, found := strings.Cut(s, ",")
	k, ok := parseHex(typ, 8)
	if !found || !ok || k > uint64(target.PointAccess) {
		return target.Point{}, false
	}
	addr, n, ok := parseRange(rest)
	if !ok {
		return target.Point{}, false
	}
	return target.Point{Kind: target.PointKind(k), Addr: addr, Len: n}, true
}

// setPoint serves "Z". Setting a point twice is one point, as the protocol
// demands.
func (c *conn) setPoint(ctx context.Context, arg string) error {
	p, ok := parsePoint(arg)
	if !ok {
		return c.sendString("E01")
	}
	if c.points[p] {
		return c.sendString("OK")
	}
	if len(c.points) >= maxPoints {
		return c.sendString(fmt.Sprintf("E.breakpoint not set: %d are set already", maxPoints))
	}
	if err := c.s.halter.SetBreakpoint(ctx, p); err != nil {
		return c.sendString("E.breakpoint not set: " + err.Error())
	}
	c.points[p] = true
	return c.sendString("OK")
}

// clearPoint serves "z". A point that is not there is no error.
func (c *conn) clearPoint(ctx context.Context, arg string) error {
	p, ok := parsePoint(arg)
	if !ok {
		return c.sendString("E01")
	}
	if !c.points[p] {
		return c.sendString("OK")
	}
	if err := c.s.halter.ClearBreakpoint(ctx, p); err != nil {
		return c.sendString("E.breakpoint not removed: " + err.Error())
	}
	delete(c.points, p)
	return c.sendString("OK")
}
