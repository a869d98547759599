package boot

import (
	"fmt"
	"strings"
)

// run is one boot decision in the making.
type run struct {
	searcher
	d *Decision
	// noSig: image definitions are checked without signatures.
	noSig bool
	// diagOn says whether diagnostics are recorded.
	diagOn bool
	loops  [2]*Loop
	erase  uint32
}

func newRun(m Memory, o Options, booting bool) *run {
	r := &run{d: &Decision{CPU: o.CPU, Place: PlaceNone}}
	r.searcher = searcher{mem: m, opt: &o, cpu: o.CPU, execOnly: true, noTables: o.OTP.SingleBinary, secure: o.OTP.SecureBoot, booting: booting}
	return r
}

func (r *run) step(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	r.d.Steps = append(r.d.Steps, strings.ToUpper(s[:1])+s[1:])
}

func (r *run) diag(half int, bits uint32) {
	if r.diagOn {
		r.d.Diagnostics |= bits << (diagSecondShift * (half & 1))
	}
}

// look searches a window and records its diagnostics.
func (r *run) look(half int, w Window, start uint32) *Loop {
	r.diag(half, DiagSearched)
	l := r.search(w, start, searchMax)
	for _, f := range l.Blocks {
		if f.Block == nil || !f.Kept {
			continue
		}
		if f.Block.Table {
			r.diag(half, DiagTable)
		} else {
			r.diag(half, DiagImageDef)
		}
	}
	switch {
	case l.Valid:
		r.diag(half, DiagGoodLoop)
	case l.Broken:
		r.diag(half, DiagBadLoop)
	}
	return l
}

// verifyLoop checks what a loop holds, the table first.
func (r *run) verifyLoop(half int, l *Loop) {
	sigTable := r.secure && r.opt.OTP.SignedTable
	if l.Table != nil {
		v := r.check(l.Table, sigTable, r.opt.OTP.HashedTable, nil)
		r.diag(half, checkBits(v)<<diagTableShift)
	}
	if l.Image == nil {
		return
	}
	sig := r.secure && !r.noSig
	hash := false
	var cover *Block
	if l.Table != nil && sigTable && l.Table.verified != passed {
		cover, sig, hash = l.Table, true, r.opt.OTP.HashedTable
	}
	v := r.check(l.Image, sig, hash, cover)
	r.diag(half, checkBits(v)<<diagImageShift)
	if cover != nil && v.covered {
		cover.verified, cover.verify = l.Image.verified, v
	}
}

func checkBits(v *Verification) uint32 {
	bits := uint32(0)
	if v.Signed {
		bits |= diagKeyMatch
	}
	if v.Hashed {
		bits |= diagHash
	}
	if v.OK {
		bits |= diagVerified
	}
	return bits
}

func (b *Block) ok() bool { return b != nil && b.verified == passed }

// choose picks between two loops, slots or partitions, by what get returns
// of them: the image, or the partition table. It returns 0 or 1.
func (r *run) choose(names [2]string, get func(*Loop) *Block) int {
	x, y := r.loops[0], r.loops[1]
	bx, by := blockOf(x, get), blockOf(y, get)
	r.erase = 0
	if by == nil {
		r.diag(0, DiagChosen)
		return 0
	}
	updX := r.opt.HasUpdate && x != nil && r.opt.UpdateBase-FlashBase == x.FlashOffset
	updY := r.opt.HasUpdate && r.opt.UpdateBase-FlashBase == y.FlashOffset
	newerY := bx == nil || by.newer(bx)
	useY := false
	if bx != nil && updX {
		r.diag(0, DiagConsidered)
		r.verifyLoop(0, x)
		if !bx.ok() {
			r.step("%s was just written, but %s; so %s is tried.", names[0], bx.verify.Reason, names[1])
			useY = true
		} else if newerY {
			r.step("%s was just written and is preferred; the newer %s is erased once it runs.", names[0], names[1])
			r.erase = FlashBase + y.FlashOffset
		} else {
			r.step("%s was just written and is preferred.", names[0])
		}
	} else {
		switch {
		case updY:
			r.step("%s was just written and is preferred.", names[1])
			useY = true
		case bx != nil && bx.TBYB:
			r.step("%s is marked try-before-you-buy and is only started right after it was written; so %s is looked at.", names[0], names[1])
			useY = true
		case newerY && !by.TBYB:
			if bx != nil {
				r.step("%s is newer (%s) than %s (%s).", names[1], by.versionText(), names[0], bx.versionText())
			} else {
				r.step("only %s holds one.", names[1])
			}
			useY = true
		case bx != nil:
			r.diag(0, DiagConsidered)
			r.verifyLoop(0, x)
			useY = !bx.ok()
			if useY {
				r.step("%s is at least as new, but %s; so %s is tried.", names[0], bx.verify.Reason, names[1])
			} else {
				r.step("%s is at least as new (%s) as %s (%s).", names[0], bx.versionText(), names[1], by.versionText())
			}
		}
	}
	if useY {
		r.diag(1, DiagConsidered)
		r.verifyLoop(1, y)
		if by.ok() {
			if updY && !newerY {
				r.erase = FlashBase + x.FlashOffset
				r.step("The newer %s is erased once it runs.", names[0])
			}
			r.loops[0] = y
			r.diag(1, DiagChosen)
			return 1
		}
		r.step("%s cannot be used: %s.", names[1], by.verify.Reason)
	}
	r.diag(0, DiagChosen)
	return 0
}

func blockOf(l *Loop, get func(*Loop) *Block) *Block {
	if l == nil {
		return nil
	}
	return get(l)
}
