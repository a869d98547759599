package cortexm33

// Coprocessor answers coprocessor instructions. w is the whole instruction; two
// tells the MCR2, MRC2, CDP2 forms. It returns false to stop the core, after
// having said why elsewhere.
type Coprocessor interface {
	// Reset puts it into its reset state.
	Reset()
	// CDP, MCR, MRC, MCRR and MRRC execute one instruction. flags of MRC are what
	// APSR_nzcv gets when Rt is 15, in bits 31:28 of the value.
	CDP(x Insn) Result
	MCR(x Insn, v uint32) Result
	MRC(x Insn) (v uint32, r Result)
	MCRR(x Insn, lo, hi uint32) Result
	MRRC(x Insn) (lo, hi uint32, r Result)
}

// Result is how a coprocessor took an instruction.
type Result uint8

const (
	// CoprocDone: executed.
	CoprocDone Result = iota
	// CoprocUndefined: UNDEFINSTR.
	CoprocUndefined
	// CoprocFault: a NOCP fault.
	CoprocFault
	// CoprocNotReady: the other cores must catch up first; nothing was done.
	CoprocNotReady
	// CoprocNMI: the coprocessor found an inconsistency: NMI, and the core never
	// goes on.
	CoprocNMI
)

// Insn is a coprocessor instruction's operands.
type Insn struct {
	Opc1, Opc2, CRn, CRm uint32
	// Two marks the MCR2, MRC2, MCRR2, MRRC2 and CDP2 forms.
	Two bool
	// NonSecure is the state of the core, Now its time.
	NonSecure bool
	Now       uint64
	// ToFlags: MRC with APSR_nzcv as its destination.
	ToFlags bool
}

// cpAllowed reports whether the present state may use coprocessor n.
func (c *Core) cpAllowed(n uint) bool {
	if c.ns && c.scs.nsacr>>n&1 == 0 {
		return false
	}
	switch c.scs.cpacr[b2i(c.ns)] >> (2 * n) & 3 {
	case 3:
		return true
	case 1:
		return c.privileged()
	}
	return false
}

// nocp is the fault of an absent or disabled coprocessor.
func (c *Core) nocp(b *block, i int, n uint) outcome {
	other := c.ns && n < 8 && c.scs.nsacr>>n&1 == 0
	return c.faultAt(b, i, fault{exc: excUsageFault, cfsr: cfsrNOCP, other: other})
}

func (c *Core) coproc(b *block, i int, o *op) outcome {
	n := uint(o.x) & 7
	p := c.cfg.Coprocessors[n]
	if p == nil || !c.cpAllowed(n) {
		return c.nocp(b, i, n)
	}
	w := o.imm
	x := Insn{Opc1: w >> 21 & 7, Opc2: w >> 5 & 7, CRn: w >> 16 & 15, CRm: w & 15, Two: o.im2 != 0,
		NonSecure: c.ns, Now: c.Cycle + uint64(b.meta[i].at)}
	var r Result
	switch o.code {
	case opCdp:
		x.Opc1 = w >> 20 & 15
		r = p.CDP(x)
	case opMcr:
		r = p.MCR(x, c.R[o.rd&15])
	case opMrc:
		x.ToFlags = o.rd == 15
		var v uint32
		if v, r = p.MRC(x); r == CoprocDone {
			if x.ToFlags {
				c.setNZCV(v)
			} else {
				c.R[o.rd&15] = v
			}
		}
	case opMcrr:
		x.Opc1 = w >> 4 & 15
		r = p.MCRR(x, c.R[o.rd&15], c.R[o.rn&15])
	case opMrrc:
		x.Opc1 = w >> 4 & 15
		var lo, hi uint32
		if lo, hi, r = p.MRRC(x); r == CoprocDone {
			c.R[o.rd&15], c.R[o.rn&15] = lo, hi
		}
	}
	switch r {
	case CoprocUndefined:
		return c.faultAt(b, i, fault{exc: excUsageFault, cfsr: cfsrUNDEFINSTR})
	case CoprocFault:
		return c.nocp(b, i, n)
	case CoprocNotReady:
		c.abort = abortNotReady
		c.leave(b, i)
		return slowOut
	case CoprocNMI:
		c.leave(b, i)
		c.SetNMI()
		c.lockedUp = true
		return slowOut
	}
	if c.brk {
		return c.out(b, i)
	}
	return slowNext
}
