package openocd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/probe"
	"github.com/stem-hw/stem-hw/probe/mem"
	"github.com/stem-hw/stem-hw/probe/swd"
	"github.com/stem-hw/stem-hw/target"
)

// cores is what the cores of both architectures have in common.
type cores struct {
	p     *Process
	arch  image.Arch
	names [probe.Count]string
	regs  map[int]string // OpenOCD's names of registers, by gdb's numbers

	// points are in force; forgotten says that a reset may have taken them away.
	points    []target.Point
	forgotten bool
}

// Arch implements probe.Cores.
func (c *cores) Arch() image.Arch { return c.arch }

// do executes a command for a core.
func (c *cores) do(ctx context.Context, core int, command string) (string, error) {
	return c.p.Do(ctx, "targets "+c.names[core]+"; "+command)
}

// each does f with the cores of a mask, core 1 first: core 0 may switch the chip
// to the other architecture as soon as it runs.
func each(mask uint32, f func(core int) error) error {
	for core := probe.Count - 1; core >= 0; core-- {
		if mask>>core&1 != 0 {
			if err := f(core); err != nil {
				return err
			}
		}
	}
	return nil
}

// haltTime bounds one wait for a core to halt, in milliseconds.
const haltTime = 500

// stop is a script that halts a target and waits for it. Polls of a core that is
// locked up fail until it is halted.
func stop(t string) string {
	return fmt.Sprintf("catch {%[1]s arp_poll}; if {[%[1]s curstate] ne {halted}} {catch {%[1]s arp_halt}; "+
		"for {set stemi 0} {$stemi < 10 && [catch {%[1]s arp_waitstate halted %[2]d}]} {incr stemi} {sleep 2}}; "+
		"if {[%[1]s curstate] ne {halted}} {error {halt timed out}}", t, haltTime)
}

// Halt implements probe.Cores.
func (c *cores) Halt(ctx context.Context, mask uint32) error {
	return each(mask, func(core int) error {
		_, err := c.p.Do(ctx, stop(c.names[core]))
		return err
	})
}

// Resume implements probe.Cores.
func (c *cores) Resume(ctx context.Context, mask uint32) error {
	return each(mask, func(core int) error {
		_, err := c.do(ctx, core, "resume")
		return err
	})
}

// Step implements probe.Cores.
func (c *cores) Step(ctx context.Context, core int) error {
	_, err := c.do(ctx, core, "step; "+stop(c.names[core]))
	return err
}

// name is OpenOCD's name of a register.
func (c *cores) name(num int) (string, error) {
	n, ok := c.regs[num]
	if !ok {
		return "", fmt.Errorf("there is no register %d", num)
	}
	return n, nil
}

// reg reads a register.
func (c *cores) reg(ctx context.Context, core int, name string, force bool) (uint64, error) {
	word := "get_reg {"
	if force {
		word = "get_reg -force {"
	}
	text, err := c.do(ctx, core, word+name+"}")
	if err != nil {
		return 0, err
	}
	words := strings.Fields(text)
	if len(words) != 2 {
		return 0, fmt.Errorf("OpenOCD says of register %s: %q", name, text)
	}
	return strconv.ParseUint(words[1], 0, 64)
}

// setRegs writes registers, in order.
func (c *cores) setRegs(ctx context.Context, core int, values ...any) error {
	var b strings.Builder
	for i := 0; i+1 < len(values); i += 2 {
		fmt.Fprintf(&b, "set_reg {%s 0x%x}; ", values[i], values[i+1])
	}
	_, err := c.do(ctx, core, b.String())
	return err
}

// Points implements probe.Cores: what is not wanted any more is taken away, what
// is new is set.
func (c *cores) Points(ctx context.Context, ps []target.Point) error {
	was := c.points
	if c.forgotten {
		was = nil
	}
	for core := range c.names {
		var b strings.Builder
		if c.forgotten {
			for _, p := range c.points {
				b.WriteString("catch {" + clear(p) + "}; ")
			}
		}
		for _, p := range was {
			if !contains(ps, p) {
				b.WriteString(clear(p) + "; ")
			}
		}
		for _, p := range ps {
			if !contains(was, p) {
				b.WriteString(c.set(p) + "; ")
			}
		}
		if b.Len() == 0 {
			continue
		}
		if _, err := c.do(ctx, core, b.String()); err != nil {
			c.forgotten = true // some are set, some are not
			c.points = append(append([]target.Point(nil), c.points...), ps...)
			return err
		}
	}
	c.points, c.forgotten = append([]target.Point(nil), ps...), false
	return nil
}

func contains(ps []target.Point, p target.Point) bool {
	for _, q := range ps {
		if q == p {
			return true
		}
	}
	return false
}

// set and clear are the commands for a point.
func (c *cores) set(p target.Point) string {
	if p.Kind <= target.PointHardware {
		n := 2
		if c.arch == image.ArchRISCV && p.Len == 4 {
			n = 4
		}
		return fmt.Sprintf("bp 0x%x %d hw", p.Addr, n)
	}
	kind := map[target.PointKind]string{target.PointWrite: "w", target.PointRead: "r", target.PointAccess: "a"}[p.Kind]
	return fmt.Sprintf("wp 0x%x %d %s", p.Addr, max(p.Len, 1), kind)
}

func clear(p target.Point) string {
	if p.Kind <= target.PointHardware {
		return fmt.Sprintf("rbp 0x%x", p.Addr)
	}
	return fmt.Sprintf("rwp 0x%x", p.Addr)
}

// piece is a part of an access: n units of width bits.
type piece struct {
	addr  uint32
	width int
	n     int
}

// maxWords bounds one command.
const maxWords = 1024

// pieces divides a range into accesses of the widest units that fit.
func pieces(addr uint32, n int) (out []piece) {
	for n > 0 {
		p := piece{addr, 8, 1}
		switch {
		case addr%4 == 0 && n >= 4:
			p.width, p.n = 32, min(n/4, maxWords)
		case addr%2 == 0 && n >= 2:
			p.width = 16
		}
		out = append(out, p)
		addr += uint32(p.bytes())
		n -= p.bytes()
	}
	return out
}

func (p piece) bytes() int { return p.width / 8 * p.n }

// halves divides a piece.
func (p piece) halves() (a, b piece) {
	k := p.n / 2
	return piece{p.addr, p.width, k}, piece{p.addr + uint32(p.width/8*k), p.width, p.n - k}
}

// errRefused is the access that the bus refused, as package probe knows it.
func errRefused(addr uint32, write bool, err error) error {
	return &mem.Error{Addr: addr, Write: write, Err: errors.Join(&swd.Error{Kind: swd.Fault, Addr: addr, Write: write}, err)}
}

// readPiece reads one piece; where the bus refuses is found by halving.
func (c *cores) readPiece(ctx context.Context, core int, q piece, p []byte) error {
	text, err := c.p.Do(ctx, fmt.Sprintf("%s read_memory 0x%x %d %d", c.names[core], q.addr, q.width, q.n))
	if err != nil {
		if gone(err) || ctx.Err() != nil {
			return err
		}
		if q.n == 1 {
			return errRefused(q.addr, false, err)
		}
		a, b := q.halves()
		if err := c.readPiece(ctx, core, a, p[:a.bytes()]); err != nil {
			return err
		}
		return c.readPiece(ctx, core, b, p[a.bytes():])
	}
	return values(text, q, p)
}

// values takes the result of read_memory.
func values(text string, q piece, p []byte) error {
	words := strings.Fields(text)
	if len(words) != q.n {
		return fmt.Errorf("OpenOCD reads %d values of %d", len(words), q.n)
	}
	for i, w := range words {
		v, err := strconv.ParseUint(w, 0, 32)
		if err != nil {
			return fmt.Errorf("OpenOCD reads %q", w)
		}
		for k := range q.width / 8 {
			p[q.width/8*i+k] = byte(v >> (8 * k))
		}
	}
	return nil
}

// writePiece writes one piece.
func (c *cores) writePiece(ctx context.Context, core int, q piece, p []byte) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s write_memory 0x%x %d {", c.names[core], q.addr, q.width)
	for i := range q.n {
		var v uint32
		switch q.width {
		case 32:
			v = binary.LittleEndian.Uint32(p[4*i:])
		case 16:
			v = uint32(binary.LittleEndian.Uint16(p[2*i:]))
		default:
			v = uint32(p[i])
		}
		fmt.Fprintf(&b, "0x%x ", v)
	}
	b.WriteString("}")
	_, err := c.p.Do(ctx, b.String())
	if err == nil || gone(err) || ctx.Err() != nil {
		return err
	}
	if q.n == 1 {
		return errRefused(q.addr, true, err)
	}
	a, second := q.halves()
	if err := c.writePiece(ctx, core, a, p[:a.bytes()]); err != nil {
		return err
	}
	return c.writePiece(ctx, core, second, p[a.bytes():])
}

func (c *cores) checkCore(core int) error {
	if core < 0 || core >= probe.Count {
		return fmt.Errorf("there is no core %d", core)
	}
	return nil
}

// read and write access memory in pieces.
func (c *cores) read(ctx context.Context, core int, addr uint32, p []byte) error {
	if err := c.checkCore(core); err != nil {
		return err
	}
	for _, q := range pieces(addr, len(p)) {
		if err := c.readPiece(ctx, core, q, p[:q.bytes()]); err != nil {
			return err
		}
		p = p[q.bytes():]
	}
	return nil
}

func (c *cores) write(ctx context.Context, core int, addr uint32, p []byte) error {
	if err := c.checkCore(core); err != nil {
		return err
	}
	for _, q := range pieces(addr, len(p)) {
		if err := c.writePiece(ctx, core, q, p[:q.bytes()]); err != nil {
			return err
		}
		p = p[q.bytes():]
	}
	return nil
}

// word reads a word for the engine's own purposes; poke writes one.
func (c *cores) word(ctx context.Context, core int, addr uint32) (uint32, error) {
	var b [4]byte
	err := c.read(ctx, core, addr, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}

func (c *cores) poke(ctx context.Context, core int, addr, v uint32) error {
	return c.write(ctx, core, addr, binary.LittleEndian.AppendUint32(nil, v))
}

// gone reports whether an error means that the way to the chip is lost.
func gone(err error) bool {
	if errors.Is(err, errGone) || errors.Is(err, errMute) {
		return true
	}
	var ce *CommandError
	if errors.As(err, &ce) {
		m, _, ok := failure(append(append([]string(nil), ce.Log...), ce.Message))
		return ok && m.lost
	}
	return false
}
