package gdbserver

import (
	"context"
	"slices"
	"strings"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target"
)

// register finds a register by gdb's number.
func (c *conn) register(num int) (target.Register, bool) {
	for _, r := range c.describe().Registers {
		if r.Num == num {
			return r, true
		}
	}
	return target.Register{}, false
}

// general returns the registers of the "g" packet: those of the first feature,
// by number. gdb fetches all others one by one.
func general(d target.Description) []target.Register {
	want := "org.gnu.gdb.riscv.cpu"
	if d.Arch == image.ArchARM {
		want = "org.gnu.gdb.arm.m-profile"
	}
	var rs []target.Register
	for _, r := range d.Registers {
		if r.Feature == want {
			rs = append(rs, r)
		}
	}
	slices.SortFunc(rs, func(a, b target.Register) int { return a.Num - b.Num })
	return rs
}

// readAll serves "g". A register that cannot be read is given as x's.
func (c *conn) readAll(ctx context.Context) error {
	var out []byte
	for _, r := range general(*c.describe()) {
		v, err := c.threads.readRegister(ctx, r.Num)
		if err != nil {
			out = append(out, strings.Repeat("x", (r.Bits+7)/8*2)...)
			continue
		}
		out = appendValue(out, v, r.Bits)
	}
	return c.send(out)
}

// writeAll serves "G".
func (c *conn) writeAll(ctx context.Context, arg string) error {
	for _, r := range general(*c.describe()) {
		n := (r.Bits + 7) / 8 * 2
		if len(arg) < n {
			break
		}
		digits := arg[:n]
		arg = arg[n:]
		if strings.Contains(digits, "x") {
			continue
		}
		v, ok := parseValue(digits)
		if !ok {
			return c.sendString("E01")
		}
		if err := c.threads.writeRegister(ctx, r.Num, v); err != nil {
			return c.sendString("E01")
		}
	}
	return c.sendString("OK")
}

// readOne serves "p".
func (c *conn) readOne(ctx context.Context, arg string) error {
	num, ok := parseHex(arg, 31)
	if !ok {
		return c.sendString("E01")
	}
	r, ok := c.register(int(num))
	if !ok {
		return c.sendString("E01")
	}
	v, err := c.threads.readRegister(ctx, r.Num)
	if err != nil {
		return c.sendString(strings.Repeat("x", (r.Bits+7)/8*2))
	}
	return c.send(appendValue(nil, v, r.Bits))
}

// writeOne serves "P".
func (c *conn) writeOne(ctx context.Context, arg string) error {
	n, value, _ := strings.Cut(arg, "=")
	num, ok1 := parseHex(n, 31)
	v, ok2 := parseValue(value)
	if !ok1 || !ok2 {
		return c.sendString("E01")
	}
	if _, ok := c.register(int(num)); !ok {
		return c.sendString("E01")
	}
	if err := c.threads.writeRegister(ctx, int(num), v); err != nil {
		return c.sendString("E.register not written: " + err.Error())
	}
	return c.sendString("OK")
}
