package gdbserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target"
)

// packet answers one request. An empty answer says "unknown to me".
func (c *conn) packet(ctx context.Context, p string) error {
	if p == "" {
		return c.sendString("")
	}
	arg := p[1:]
	switch p[0] {
	case '!':
		c.extended = true
		return c.sendString("OK")
	case '?':
		if c.exited {
			return c.sendStop(ctx)
		}
		if c.running {
			// The client lost track: stop, and answer with that stop.
			return c.s.halter.Halt(ctx)
		}
		return c.sendStop(ctx)
	case 'g':
		return c.readAll(ctx)
	case 'G':
		return c.writeAll(ctx, arg)
	case 'p':
		return c.readOne(ctx, arg)
	case 'P':
		return c.writeOne(ctx, arg)
	case 'm':
		return c.readMemory(ctx, arg, false)
	case 'x':
		return c.readMemory(ctx, arg, true)
	case 'M':
		return c.writeHex(ctx, arg)
	case 'X':
		return c.writeBinary(ctx, arg)
	case 'c':
		return c.legacyResume(ctx, arg, target.ActionContinue)
	case 's':
		return c.legacyResume(ctx, arg, target.ActionStep)
	case 'C':
		_, arg, _ = strings.Cut(arg, ";")
		return c.legacyResume(ctx, arg, target.ActionContinue)
	case 'S':
		_, arg, _ = strings.Cut(arg, ";")
		return c.legacyResume(ctx, arg, target.ActionStep)
	case 'H':
		return c.selectThread(arg)
	case 'T':
		if id, ok := parseThread(arg); ok && c.threads.alive(id) {
			return c.sendString("OK")
		}
		return c.sendString("E01")
	case 'Z':
		return c.setPoint(ctx, arg)
	case 'z':
		return c.clearPoint(ctx, arg)
	case 'q', 'Q':
		return c.query(ctx, p)
	case 'v':
		return c.verb(ctx, arg)
	case 'D':
		c.done, c.detached = true, true
		return c.sendString("OK")
	case 'k':
		return c.kill(ctx)
	case 'R':
		return c.restart(ctx)
	}
	return c.sendString("")
}

// verb answers the "v" requests.
func (c *conn) verb(ctx context.Context, v string) error {
	name, arg, _ := strings.Cut(v, ";")
	switch {
	case v == "Cont?":
		return c.sendString("vCont;c;C;s;S;r")
	case name == "Cont":
		return c.vCont(ctx, arg)
	case strings.HasPrefix(v, "FlashErase:"):
		return c.flashErase(v[len("FlashErase:"):])
	case strings.HasPrefix(v, "FlashWrite:"):
		return c.flashWrite(v[len("FlashWrite:"):])
	case v == "FlashDone":
		return c.flashDone(ctx)
	case name == "Kill":
		if err := c.sendString("OK"); err != nil {
			return err
		}
		return c.kill(ctx)
	case name == "Run":
		if err := c.reset(ctx, target.ResetHalt); err != nil {
			return c.sendString("E.cannot reset: " + err.Error())
		}
		return c.sendStop(ctx)
	case name == "Attach":
		if err := c.s.halter.Halt(ctx); err != nil {
			return c.sendString("E.cannot halt: " + err.Error())
		}
		return c.sendStop(ctx)
	case strings.HasPrefix(v, "File:"):
		return c.file(v[len("File:"):])
	}
	return c.sendString("")
}

// legacyResume serves c and s, which act on all cores, the step on the core
// that gdb looks at.
func (c *conn) legacyResume(ctx context.Context, addr string, k target.ActionKind) error {
	if addr != "" {
		v, ok := parseHex(addr, 32)
		if !ok {
			return c.sendString("E01")
		}
		if err := c.s.halter.WriteRegister(ctx, c.regCore, pcOf(c.describe().Arch), v); err != nil {
			return c.sendString("E.cannot set pc: " + err.Error())
		}
	}
	actions := c.allCores(target.ActionContinue)
	for i := range actions {
		if actions[i].Core == c.regCore {
			actions[i].Kind = k
		}
	}
	return c.resume(ctx, actions)
}

// selectThread serves Hg and Hc.
func (c *conn) selectThread(arg string) error {
	if arg == "" {
		return c.sendString("E01")
	}
	id, ok := parseThread(arg[1:])
	if !ok {
		return c.sendString("E01")
	}
	if id <= 0 {
		id = c.threads.ofCore(c.lastStop.Core)
	}
	if !c.threads.alive(id) {
		return c.sendString("E01")
	}
	if arg[0] == 'g' {
		c.threads.selected = id
		if core := c.threads.core(id); core >= 0 {
			c.regCore = core
		}
	}
	return c.sendString("OK")
}

// kill ends the program: the chip is reset and waits halted for the next
// client, or, in extended mode, for this one's vRun.
func (c *conn) kill(ctx context.Context) error {
	c.done = !c.extended
	c.clearPoints(ctx)
	if err := c.reset(ctx, target.ResetHalt); err != nil {
		c.s.opt.Notify("the chip could not be reset: " + err.Error())
	}
	if c.s.opt.Killed != nil {
		c.s.opt.Killed()
	}
	return nil
}

// restart serves R, which has no answer.
func (c *conn) restart(ctx context.Context) error {
	if err := c.reset(ctx, target.ResetHalt); err != nil {
		c.s.opt.Notify("the chip could not be reset: " + err.Error())
	}
	return nil
}

// reset resets the chip and forgets what was known of its state.
func (c *conn) reset(ctx context.Context, mode target.ResetMode) error {
	c.endWait()
	c.running = false
	c.exited = false
	c.threads.forget()
	c.desc = nil
	if err := c.s.opt.Target.Reset(ctx, mode); err != nil {
		return err
	}
	c.lastStop = target.Stop{Reason: target.StopHalt}
	// The client knows nothing of a reset by "monitor": the core that it has
	// selected stays selected, a task does not.
	if c.threads.core(c.threads.selected) < 0 {
		c.regCore = 0
		c.threads.selected = c.threads.ofCore(0)
	}
	return nil
}

func pcOf(a image.Arch) int {
	if a == image.ArchARM {
		return 15
	}
	return 32
}

// checksum serves qCRC (compare-sections): CRC-32 with the polynomial
// 0x04c11db7, most significant bit first, start value all ones.
func (c *conn) checksum(ctx context.Context, arg string) error {
	addr, n, ok := parseRange(arg)
	if !ok {
		return c.sendString("E01")
	}
	crc := ^uint32(0)
	buf := make([]byte, 4096)
	for n > 0 {
		part := buf[:min(int(n), len(buf))]
		if err := c.s.memory.ReadMemory(ctx, c.regCore, addr, part); err != nil {
			return c.sendString("E01")
		}
		for _, b := range part {
			crc = crc<<8 ^ crcTable[byte(crc>>24)^b]
		}
		addr += uint32(len(part))
		n -= uint32(len(part))
	}
	return c.sendString(fmt.Sprintf("C%x", crc))
}

var crcTable = func() (t [256]uint32) {
	for i := range t {
		v := uint32(i) << 24
		for range 8 {
			if v&0x80000000 != 0 {
				v = v<<1 ^ polynomial
			} else {
				v <<= 1
			}
		}
		t[i] = v
	}
	return t
}()

// polynomial is that of CRC-32, most significant bit first; package hash/crc32
// computes the mirror image and cannot serve here.
const polynomial = 0x04c11db7
