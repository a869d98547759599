package gdbserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/target"
)

// Signal numbers of the protocol (include/gdb/signals.def of gdb).
const (
	sigInt  = 2
	sigIll  = 4
	sigTrap = 5
	sigSegv = 11
)

// allCores returns the same action for every core.
func (c *conn) allCores(k target.ActionKind) []target.Action {
	var as []target.Action
	for _, core := range c.describe().Cores {
		as = append(as, target.Action{Core: core.ID, Kind: k})
	}
	return as
}

// vCont resumes as "vCont;action:thread;..." says: for each core the first
// action that names it, or that names no thread, counts. A core that none
// names stays halted (scheduler-locking).
func (c *conn) vCont(ctx context.Context, arg string) error {
	cores := c.describe().Cores
	chosen := make(map[int]target.Action)
	for _, part := range strings.Split(arg, ";") {
		if part == "" {
			continue
		}
		act, thread, hasThread := strings.Cut(part, ":")
		a, ok := parseAction(act)
		if !ok {
			return c.sendString("E01")
		}
		id := -1
		if hasThread {
			v, ok := parseThread(thread)
			if !ok {
				return c.sendString("E01")
			}
			id = v
		}
		for _, core := range cores {
			if _, taken := chosen[core.ID]; taken {
				continue
			}
			if id > 0 && c.threads.core(id) != core.ID {
				continue
			}
			a.Core = core.ID
			chosen[core.ID] = a
		}
	}
	var actions []target.Action
	for _, core := range cores {
		if a, ok := chosen[core.ID]; ok {
			actions = append(actions, a)
		}
	}
	if len(actions) == 0 {
		return c.sendString("E01")
	}
	return c.resume(ctx, actions)
}

// parseAction reads one action of vCont without its thread.
func parseAction(s string) (target.Action, bool) {
	if s == "" {
		return target.Action{}, false
	}
	switch s[0] {
	case 'c', 'C':
		return target.Action{Kind: target.ActionContinue}, true
	case 's', 'S':
		return target.Action{Kind: target.ActionStep}, true
	case 'r':
		start, end, ok := parseRange(s[1:])
		return target.Action{Kind: target.ActionRange, Start: start, End: end}, ok
	}
	return target.Action{}, false
}

// resume lets cores run; the answer follows when something stops.
func (c *conn) resume(ctx context.Context, actions []target.Action) error {
	if c.exited {
		return c.sendString("W00")
	}
	if !c.running {
		if err := c.s.halter.Resume(ctx, actions); err != nil {
			return c.sendString("E.cannot resume: " + err.Error())
		}
		c.threads.forget()
		c.desc = nil
	}
	c.actions = actions
	c.startWait(ctx)
	return nil
}

// startWait watches for the next stop.
func (c *conn) startWait(ctx context.Context) {
	c.endWait()
	ctx, cancel := context.WithCancel(ctx)
	finished := make(chan struct{})
	c.waitStop = func() {
		cancel()
		<-finished
	}
	c.running = true
	go func() {
		defer close(finished)
		st, err := c.s.halter.Wait(ctx)
		if ctx.Err() == nil {
			c.stops <- stopped{st, err}
		}
	}()
}

func (c *conn) endWait() {
	if c.waitStop != nil {
		c.waitStop()
		c.waitStop = nil
	}
	select {
	case <-c.stops:
	default:
	}
}

// stopArrived tells gdb of a stop.
func (c *conn) stopArrived(ctx context.Context, st stopped) error {
	if st.err != nil {
		if errors.Is(st.err, context.Canceled) {
			return nil
		}
		return st.err
	}
	if err := c.flushConsole(); err != nil {
		return err
	}
	if st.stop.Reason == target.StopReset {
		if err := c.output("[the chip was reset by its program and boots again]\n"); err != nil {
			return err
		}
		if err := c.s.halter.Resume(ctx, c.allCores(target.ActionContinue)); err != nil {
			return err
		}
		c.startWait(ctx)
		return nil
	}
	c.running = false
	c.endWait()
	c.lastStop = st.stop
	c.threads.forget()
	c.desc = nil
	if why := explain(st.stop); why != "" {
		if err := c.output(why); err != nil {
			return err
		}
	}
	return c.sendStop(ctx)
}

// explain is what gdb shows besides its own words for a stop.
func explain(st target.Stop) string {
	switch st.Reason {
	case target.StopCrash:
		if st.Crash != nil {
			return fmt.Sprintf("[core %d crashed: %s]\n", st.Core, st.Crash.Cause)
		}
		return fmt.Sprintf("[core %d crashed]\n", st.Core)
	case target.StopAsleep:
		return "[every core sleeps and nothing will wake one]\n"
	case target.StopExit:
		if st.How != "" {
			return fmt.Sprintf("[the program ended: %s, status %d]\n", st.How, st.Code)
		}
	}
	return ""
}

// sendStop sends the stop reply for the last stop.
func (c *conn) sendStop(ctx context.Context) error {
	st := c.lastStop
	if st.Reason == target.StopExit {
		c.exited = true
		return c.sendString(fmt.Sprintf("W%02x", st.Code&0xff))
	}
	// gdb takes the thread of a stop for the one that it has selected, and sends
	// no Hg for it.
	c.regCore = st.Core
	c.threads.selected = c.threads.ofCore(st.Core)
	var b strings.Builder
	fmt.Fprintf(&b, "T%02x", signalOf(st))
	switch {
	case st.Reason == target.StopWatchpoint:
		name := map[target.PointKind]string{
			target.PointWrite: "watch", target.PointRead: "rwatch", target.PointAccess: "awatch",
		}[st.Point.Kind]
		if name != "" {
			fmt.Fprintf(&b, "%s:%x;", name, st.Addr)
		}
	case st.Reason == target.StopBreakpoint && c.points[target.Point{Kind: target.PointSoftware, Addr: st.PC, Len: c.pointLen(target.PointSoftware, st.PC)}] && c.swbreak:
		b.WriteString("swbreak:;")
	case st.Reason == target.StopBreakpoint && c.points[target.Point{Kind: target.PointHardware, Addr: st.PC, Len: c.pointLen(target.PointHardware, st.PC)}] && c.hwbreak:
		b.WriteString("hwbreak:;")
	}
	fmt.Fprintf(&b, "thread:%x;core:%x;", c.threads.selected, st.Core)
	for _, num := range expedited(c.describe().Arch) {
		r, ok := c.register(num)
		if !ok {
			continue
		}
		v, err := c.s.halter.ReadRegister(ctx, st.Core, num)
		if err != nil {
			continue
		}
		fmt.Fprintf(&b, "%x:%s;", num, appendValue(nil, v, r.Bits))
	}
	return c.sendString(b.String())
}

// pointLen finds the length with which gdb set a point at addr.
func (c *conn) pointLen(k target.PointKind, addr uint32) uint32 {
	for p := range c.points {
		if p.Kind == k && p.Addr == addr {
			return p.Len
		}
	}
	return 0
}

func signalOf(st target.Stop) int {
	switch st.Reason {
	case target.StopHalt, target.StopAsleep, target.StopCycles:
		return sigInt
	case target.StopCrash:
		if st.Crash != nil && strings.Contains(st.Crash.Cause, "illegal") {
			return sigIll
		}
		return sigSegv
	}
	return sigTrap
}

// expedited are the registers that gdb wants at every stop: program counter,
// stack pointer and frame pointer.
func expedited(a image.Arch) []int {
	if a == image.ArchARM {
		return []int{7, 13, 14, 15, 25}
	}
	return []int{1, 2, 8, 32}
}
