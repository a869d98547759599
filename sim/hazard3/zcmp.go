package hazard3

// zcmpReg is the register in place i of a push or pop: ra, s0, s1, s2, ...
func zcmpReg(i uint32) uint32 {
	switch i {
	case 0:
		return 1
	case 1, 2:
		return 7 + i
	}
	return 15 + i
}

// pushPop executes cm.push, cm.pop, cm.popret and cm.popretz. Hardware may be
// interrupted between the transfers and begins again then; here they are one
// step. A fault leaves sp as it was and mepc at the instruction; registers
// loaded before it keep their new values.
func (c *Core) pushPop(in *inst) int {
	sp := c.X[2]
	n := uint32(in.rs2)
	base := sp - 4*n // the lowest address of the block
	if in.op != opPush {
		base += in.imm
	}
	// An access that must wait for other cores must do so before the first
	// transfer.
	if (c.find(base) == nil || c.find(base+4*n-4) == nil) && base&3 == 0 && !c.bus.Ready(c.Cycle) {
		return notReady
	}
	start := c.Cycle
	for i := range n {
		addr := base + 4*i
		if in.op == opPush {
			if st := c.store(addr, 4, c.X[zcmpReg(i)]); st != memOK {
				return c.memExit(st)
			}
		} else {
			v, st := c.load(addr, 4)
			if st != memOK {
				return c.memExit(st)
			}
			c.X[zcmpReg(i)] = v
		}
		c.Cycle++
	}
	wait := c.Cycle - start - uint64(n)
	c.Cycle = start + wait
	switch in.op {
	case opPush:
		c.X[2] = sp - in.imm
		c.retire(in, uint64(n)+1)
	case opPop:
		c.X[2] = sp + in.imm
		c.retire(in, uint64(n)+1)
	case opPopret, opPopretz:
		cycles := uint64(n) + 2
		if in.op == opPopretz {
			c.X[10] = 0
			cycles++
		} else if n == 1 {
			// The return address is the last word loaded and waited for.
			cycles++
		}
		c.X[2] = sp + in.imm
		c.jump(c.X[1]&^1, cycles)
	}
	return running
}
