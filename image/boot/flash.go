package boot

import "fmt"

// FindImage decides what a chip boots from flash. It is one pass of the ROM:
// with OutcomeSwitch the chip restarts, and the caller asks again with the
// other CPU, or uses Boot, which does.
func FindImage(m Memory, o Options) *Decision {
	r := newRun(m, o, true)
	if o.OTP.NoFlashBoot {
		r.d.Outcome, r.d.Reason = OutcomeBootsel, "this chip's fuses forbid to boot from flash"
		r.d.Table = emptyTable(&o)
		return r.d
	}
	r.flash()
	return r.d
}

// Boot is FindImage with the restart on the other CPU carried out. The second
// result is true if the CPU was switched.
func Boot(m Memory, o Options) (*Decision, bool) {
	d := FindImage(m, o)
	if d.Outcome != OutcomeSwitch {
		return d, false
	}
	first := d.Steps
	o.CPU = o.CPU.Other()
	d = FindImage(m, o)
	d.Steps = append(first, d.Steps...)
	if d.Outcome == OutcomeSwitch {
		d.Outcome, d.Reason = OutcomeHang, "each CPU leaves the boot to the other one, so the chip restarts for ever"
	}
	return d, true
}

// ResidentTable returns the partition table that the ROM would use, without
// booting: what the drive and PICOBOOT go by.
func ResidentTable(m Memory, o Options) *Table {
	r := newRun(m, o, false)
	r.noTables = false
	r.noSig = true
	r.slots()
	return r.d.Table
}

// flash searches the slots, then the partitions.
func (r *run) flash() {
	if !r.slots() {
		r.bootsel()
		return
	}
	l := r.loops[0]
	switch {
	case l.Table != nil && l.Table.verified == failed:
		r.d.Outcome, r.d.Image = OutcomeBootsel, nil
		r.d.Reason = "there is a partition table, but it cannot be used: " + l.Table.verify.Reason
	case l.Image != nil:
		r.d.Place = PlaceSlot0
		if l.Start != 0 {
			r.d.Place = PlaceSlot1
		}
		r.launchFlash(0, l)
		if r.d.Outcome == "" {
			r.diag(0, DiagConditions)
			r.d.Outcome, r.d.Place = OutcomeBootsel, PlaceNone
		}
	case l.Table.ok():
		r.partitions()
	default:
		r.d.Outcome = OutcomeBootsel
		r.d.Reason = "flash holds a sound block loop, but no image definition"
		if s0 := r.d.Slots[0]; !s0.Valid {
			r.d.Reason = "nothing to boot in slot 0: " + s0.Problem
		}
		if len(r.d.Slots) > 1 && r.d.Slots[1].Image != nil {
			r.d.Reason += "; slot 1 holds an image, but no partition table beside it that would make the ROM use slot 1"
		}
	}
}

// bootsel explains why neither slot has anything.
func (r *run) bootsel() {
	r.d.Outcome = OutcomeBootsel
	for _, l := range r.d.Slots {
		if l.Hang {
			r.d.Outcome = OutcomeHang
			r.d.Reason = "the boot ROM never finishes: " + l.Problem
			return
		}
	}
	r.d.Reason = "nothing to boot in flash: " + r.d.Slots[0].Problem
}

// slots searches slot 0 and, where the rules say so, slot 1, and leaves the
// one chosen in r.loops[0]. It reports whether a sound loop was found.
func (r *run) slots() bool {
	r.diagOn = r.booting && r.opt.Diagnose <= PlaceSlot0
	w := Window{FlashBase, r.opt.flashSize()}
	r.loops[0], r.loops[1] = r.look(0, w, 0), nil
	l0 := r.loops[0]
	r.d.Slots = []*Loop{l0}
	defer func() { r.d.Table = tableOf(r.loops[0].Table, r.opt) }()
	if l0.Hang {
		return false
	}
	found := l0.Valid
	r.sayLoop("slot 0", l0)
	stop := false
	slot := r.opt.slotSize()
	updateOnSlot1 := r.opt.HasUpdate && r.opt.UpdateBase-FlashBase == slot
	if !r.secure && !updateOnSlot1 {
		switch {
		case l0.Table != nil && l0.Table.Singleton:
			r.verifyLoop(0, l0)
			if stop = l0.Table.ok(); stop {
				r.step("The partition table is marked as the only one, so slot 1 is not looked at.")
			}
		case l0.Table == nil && l0.Image != nil:
			r.verifyLoop(0, l0)
			if stop = l0.Image.ok(); stop {
				r.step("Slot 0 holds an image and no partition table, so slot 1 is not looked at.")
			} else {
				r.step("The image of slot 0 cannot be used: %s. So slot 1 is looked at.", l0.Image.verify.Reason)
			}
		}
	}
	if !stop {
		l1 := r.look(1, w, slot)
		r.d.Slots = append(r.d.Slots, l1)
		r.loops[1] = l1
		if l1.Hang {
			return false
		}
		found = found || l1.Valid
		if l1.Valid || l1.Broken {
			r.sayLoop("slot 1", l1)
		}
		r.choose([2]string{"The partition table in slot 0", "the partition table in slot 1"},
			func(l *Loop) *Block { return l.Table })
	}
	r.verifyLoop(0, r.loops[0])
	if found {
		return true
	}
	// The block loop was not sound: nothing of it counts.
	r.loops[0].Table, r.loops[0].Image = nil, nil
	return false
}

func (r *run) sayLoop(name string, l *Loop) {
	if !l.Valid {
		r.step("In %s %s.", name, l.Problem)
		return
	}
	switch {
	case l.Image != nil && l.Table != nil:
		r.step("In %s there is a block loop with a partition table and an image definition for %s.", name, l.Image.Type.CPUText())
	case l.Table != nil:
		r.step("In %s there is a block loop with a partition table of %d partitions.", name, l.Table.Count)
	case l.Image != nil:
		r.step("In %s there is a block loop with an image definition for %s.", name, l.Image.Type.CPUText())
	default:
		r.step("In %s there is a block loop, but nothing to boot in it.", name)
	}
}

// partitions boots the first partition that can be booted.
func (r *run) partitions() {
	r.noTables = true
	t := r.d.Table
	if t.Problem != "" {
		r.step("The partition table cannot be used: %s.", t.Problem)
	}
	for i, p := range t.Partitions {
		var why string
		switch {
		case p.Location>>25&1 != 0:
			why = "it ends beyond the first 16 MiB"
		case !p.Bootable(r.cpu):
			why = fmt.Sprintf("it is marked as not to be booted on %s", r.cpu)
		case p.IsB():
			continue
		}
		if why != "" {
			r.d.Tried = append(r.d.Tried, PartitionTry{A: i, B: -1, Fate: why})
			continue
		}
		which := r.pickAB(t, i)
		try := &r.d.Tried[len(r.d.Tried)-1]
		try.Used = which
		l := r.loops[0]
		if l == nil || l.Image == nil {
			try.Fate = "no image definition in it"
			if l != nil && l.Problem != "" {
				try.Fate = l.Problem
			}
			r.step("Partition %s: %s.", t.label(i), try.Fate)
			for _, l := range try.Loops {
				if l != nil && l.Hang {
					r.d.Outcome, r.d.Reason = OutcomeHang, "the boot ROM never finishes: "+l.Problem
					return
				}
			}
			continue
		}
		r.d.Place = Place(i)
		if which == 1 {
			r.d.Place = Place(try.B)
		}
		n := len(r.d.Steps)
		r.launchFlash(which, l)
		if r.d.Outcome != "" {
			try.Fate = "used"
			return
		}
		try.Fate = r.d.Reason
		if len(r.d.Steps) == n {
			r.step("Partition %s: %s.", t.label(int(r.d.Place)), r.d.Reason)
		}
		r.diag(which, DiagConditions)
		r.d.Place = PlaceNone
	}
	r.d.Outcome = OutcomeBootsel
	if len(t.Partitions) == 0 {
		r.d.Reason = "the partition table has no partitions, and there is no image beside it"
	} else {
		r.d.Reason = "none of the partitions holds an image that can be booted"
	}
}

// label names a partition for people: its number and name.
func (t *Table) label(i int) string {
	if i < len(t.Partitions) && t.Partitions[i].Name != "" {
		return fmt.Sprintf("%d (%q)", i, t.Partitions[i].Name)
	}
	return fmt.Sprint(i)
}

// pickAB searches a partition and its B and leaves the one to use in
// r.loops[0]. It returns 1 for B.
func (r *run) pickAB(t *Table, a int) int {
	p := t.Partitions[a]
	r.noSig = p.Flags&FlagNoArmBoot != 0
	b := t.BOf(a)
	r.diagOn = r.booting && int(r.opt.Diagnose) == a
	try := PartitionTry{A: a, B: b}
	r.loops = [2]*Loop{}
	for half, n := range []int{a, b} {
		if n < 0 {
			continue
		}
		q := t.Partitions[n]
		w := Window{FlashBase + q.Start(), 0}
		if q.End() > q.Start() {
			w.Size = q.End() - q.Start()
		}
		if r.booting && uint64(w.Base)+uint64(w.Size) > CS1Base {
			continue
		}
		r.loops[half] = r.look(half, w, 0)
	}
	try.Loops = r.loops
	r.d.Tried = append(r.d.Tried, try)
	for _, l := range r.loops {
		if l != nil && l.Hang {
			r.loops[0] = l
			return 0
		}
	}
	return r.choose([2]string{"Partition " + t.label(a), "partition " + t.label(max(b, 0))},
		func(l *Loop) *Block { return l.Image })
}

// Scan searches a window for a block loop that begins within the first bytes
// of it, and picks the image definition as the ROM would with a CPU running.
// It is for tools that look at a file; FindImage is what the chip does.
func Scan(m Memory, w Window, within uint32, o Options) *Loop {
	return newRun(m, o, false).search(w, 0, within)
}

// Check verifies a block of a Loop that Scan returned: its hash and, on a
// secured chip, its signature.
func Check(m Memory, b *Block, o Options) *Verification {
	return newRun(m, o, false).check(b.clone(), o.OTP.SecureBoot, false, nil)
}
