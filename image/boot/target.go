package boot

import (
	"fmt"

	"github.com/stem-hw/stem-hw/uf2"
)

// Target is where the drive writes a UF2 file of some family.
type Target struct {
	// Accepted is false if the family is refused; Reason says why or why not.
	Accepted bool
	Reason   string
	// Partition is the number, or -1 for all of flash.
	Partition int
	// Offset is added to every address of the file, Limit the address at which
	// writing stops.
	Offset, Limit uint32
	// NoReboot is true if the chip does not restart after the file.
	NoReboot bool
	// Steps tell how the partition was chosen.
	Steps []string
}

// familyBit returns the flag of one of the six well known families, else 0.
func familyBit(f uint32) uint32 {
	if i := f - uint32(uf2.FamilyRP2040); i <= uf2.FamilyRP2350ArmNS-uf2.FamilyRP2040 {
		return 1 << (familiesLSB + i)
	}
	return 0
}

func (p Partition) accepts(family uint32) bool {
	if p.Flags&familyBit(family) != 0 {
		return true
	}
	for _, f := range p.Families {
		if f == family {
			return true
		}
	}
	return false
}

// TargetFor decides where a UF2 file of a family goes, as GET_INFO's UF2
// target does too.
func TargetFor(m Memory, o Options, t *Table, family uint32) Target {
	bit := familyBit(family)
	name := uf2.FamilyName(family)
	if len(t.Partitions) == 0 || family == uf2.FamilyAbsolute {
		p := t.unpartitionedSpace()
		out := Target{Partition: -1, Limit: FlashBase + p.End(), NoReboot: p.Flags&FlagNoReboot != 0}
		what := "the board has no partition table"
		if len(t.Partitions) > 0 {
			what = "family absolute ignores partitions"
		}
		if out.Accepted = p.Flags&bit != 0; out.Accepted {
			out.Reason = what + ", so the file goes where its addresses say"
		} else if len(t.Partitions) > 0 || t.Addr != 0 {
			out.Reason = "the space outside the partitions does not accept family " + name
		} else {
			out.Reason = "an RP2350 without a partition table does not accept family " + name
		}
		return out
	}
	u := &targeting{run: newRun(m, o, false), t: t, family: family}
	u.noTables, u.noSig = true, true
	i := u.find(true, true, fmt.Sprintf("a partition that boots on %s", u.cpu))
	if i < 0 && o.cpuAllowedRaw(u.cpu.Other()) {
		u.cpu = u.cpu.Other()
		i = u.find(true, true, fmt.Sprintf("a partition that boots on %s", u.cpu))
	}
	if i < 0 {
		i = u.find(true, false, "any partition that no other one owns")
	}
	if i < 0 {
		i = u.find(false, false, "any partition")
	}
	if i < 0 {
		return Target{Partition: -1, Steps: u.steps, Reason: "no partition that may be written accepts family " + name}
	}
	p := t.Partitions[i]
	return Target{
		Accepted: true, Partition: i, Offset: p.Start(), Limit: FlashBase + p.End(),
		NoReboot: p.Flags&FlagNoReboot != 0, Steps: u.steps,
		Reason: "partition " + t.label(i) + " accepts family " + name,
	}
}

// cpuAllowedRaw is the ROM's test in the search for a target: the disable
// fuse of the other CPU. The A2 ROM looks at the fuse of the running CPU by
// mistake, which is never set; the outcome is the same unless a CPU is
// disabled.
func (o *Options) cpuAllowedRaw(other CPU) bool {
	if o.Chip <= A2 {
		return o.fuse(other.Other())
	}
	return o.fuse(other)
}

func (o *Options) fuse(c CPU) bool {
	if c == RISCV {
		return !o.OTP.RISCVDisabled
	}
	return !o.OTP.ArmDisabled
}

type targeting struct {
	*run
	t      *Table
	family uint32
	steps  []string
}

func (u *targeting) say(format string, args ...any) {
	u.steps = append(u.steps, fmt.Sprintf(format, args...))
}

// find looks for the first partition that fits, and chooses between A and B
// the one that would not boot now.
func (u *targeting) find(unowned, bootable bool, what string) int {
	u.execOnly = bootable
	for i, p := range u.t.Partitions {
		if p.IsB() || !p.bootWritable() || !p.accepts(u.family) {
			continue
		}
		if bootable && !p.Bootable(u.cpu) {
			continue
		}
		top := i
		if p.LinkType() == LinkOwner {
			if unowned {
				continue
			}
			if p.Link() < len(u.t.Partitions) {
				top = p.Link()
			}
		}
		b := u.t.BOf(i)
		if b < 0 {
			u.say("Looking for %s: partition %s.", what, u.t.label(i))
			return i
		}
		if !u.t.Partitions[b].bootWritable() {
			u.say("Partition %s is passed over: its B, partition %s, may not be written.", u.t.label(i), u.t.label(b))
			continue
		}
		which := u.pickAB(u.t, top)
		switch {
		case top == i:
			which ^= 1
			u.say("Looking for %s: partitions %s and %s are a pair; the one that would not boot now is %s.",
				what, u.t.label(i), u.t.label(b), []string{"A", "B"}[which])
		case p.Flags&FlagABAffinity != 0:
			which ^= 1
			u.say("Partitions %s and %s belong to the pair of partition %s; they follow the one of it that would not boot now: %s.",
				u.t.label(i), u.t.label(b), u.t.label(top), []string{"A", "B"}[which])
		default:
			u.say("Partitions %s and %s belong to the pair of partition %s; they follow the one of it that boots now: %s.",
				u.t.label(i), u.t.label(b), u.t.label(top), []string{"A", "B"}[which])
		}
		if which == 1 {
			return b
		}
		return i
	}
	u.say("Looking for %s: none fits.", what)
	return -1
}

// PickAB decides between a partition and its B as the ROM function
// pick_ab_partition does: it returns the partition that would boot. update is
// the window base of a flash-update boot, 0 for none.
func PickAB(m Memory, o Options, t *Table, a int, update uint32) int {
	if a < 0 || a >= len(t.Partitions) {
		return -1
	}
	o.UpdateBase, o.HasUpdate = update, update != 0
	r := newRun(m, o, false)
	r.noTables, r.execOnly = true, false
	if r.pickAB(t, a) == 1 {
		return t.BOf(a)
	}
	return a
}
