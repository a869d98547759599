package gdbserver

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/target"
)

// readMemory serves "m" and "x". A range that is refused at its end is
// answered as far as it goes; gdb asks again for the rest and is told no.
func (c *conn) readMemory(ctx context.Context, arg string, binary bool) error {
	addr, n, ok := parseRange(arg)
	if !ok {
		return c.sendString("E01")
	}
	limit := uint32(maxPacket/2 - 16)
	n = min(n, limit)
	p := make([]byte, n)
	got := c.readSome(ctx, addr, p)
	if got == 0 && n > 0 {
		return c.sendString("E14")
	}
	if binary {
		return c.send(append([]byte{'b'}, p[:got]...))
	}
	return c.sendString(hex.EncodeToString(p[:got]))
}

// readSome reads as much of p as the target lets it, and returns how much.
func (c *conn) readSome(ctx context.Context, addr uint32, p []byte) int {
	if c.s.memory.ReadMemory(ctx, c.regCore, addr, p) == nil {
		return len(p)
	}
	// The whole range was refused: find the readable part by halves.
	got := 0
	for step := len(p) / 2; step > 0; {
		if got+step > len(p) {
			step /= 2
			continue
		}
		if c.s.memory.ReadMemory(ctx, c.regCore, addr+uint32(got), p[got:got+step]) != nil {
			step /= 2
			continue
		}
		got += step
	}
	return got
}

// writeHex serves "M".
func (c *conn) writeHex(ctx context.Context, arg string) error {
	where, digits, _ := strings.Cut(arg, ":")
	addr, n, ok := parseRange(where)
	p, ok2 := unhex(digits)
	if !ok || !ok2 || uint32(len(p)) != n {
		return c.sendString("E01")
	}
	return c.write32(ctx, addr, p)
}

// writeBinary serves "X"; length 0 is gdb's probe for the request.
func (c *conn) writeBinary(ctx context.Context, arg string) error {
	where, data, _ := strings.Cut(arg, ":")
	addr, n, ok := parseRange(where)
	if !ok || uint32(len(data)) != n {
		return c.sendString("E01")
	}
	if n == 0 {
		return c.sendString("OK")
	}
	return c.write32(ctx, addr, []byte(data))
}

func (c *conn) write32(ctx context.Context, addr uint32, p []byte) error {
	if r, hit := c.protected(addr, uint32(len(p))); hit {
		return c.sendString(fmt.Sprintf("E.%s is not written from a debugger: what is burnt there stays for ever", r.Name))
	}
	if err := c.s.memory.WriteMemory(ctx, c.regCore, addr, p); err != nil {
		return c.sendString("E.memory not written: " + err.Error())
	}
	return c.sendString("OK")
}

// protected reports whether a write touches a protected range.
func (c *conn) protected(addr, n uint32) (target.Region, bool) {
	if n == 0 {
		return target.Region{}, false
	}
	for _, r := range c.s.opt.Protect {
		if uint64(addr) < uint64(r.Base)+uint64(r.Size) && uint64(addr)+uint64(n) > uint64(r.Base) {
			return r, true
		}
	}
	return target.Region{}, false
}
