package report

import (
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/ui"
)

// tell writes the story in words.
func (x *explainer) tell() {
	e := x.e
	say := func(format string, args ...any) { e.Words = append(e.Words, fmt.Sprintf(format, args...)) }
	with := "no partition table"
	if e.Partitioned {
		with = "a partition table"
	}
	say("The board: an %s with %s of flash and %s, whose drive runs on %s.",
		strings.ToUpper(e.Chip[:6])+" "+strings.ToUpper(e.Chip[7:]), size(uint64(e.FlashSize)), with, e.DriveCPU)
	for _, t := range e.Transfers {
		x.tellTransfer(&t, say)
	}
	for _, d := range e.Dropped {
		say("Ignored without a word: %s, %s.", blocks(d.Which, d.Count), d.Reason)
	}
	x.verdict(say)
}

func (x *explainer) tellTransfer(t *ExplainedTransfer, say func(string, ...any)) {
	n := fmt.Sprintf("%d blocks", t.Total)
	if t.Total == 1 {
		n = "1 block"
	}
	if t.erratum {
		if !t.Accepted {
			say("The extra block against erratum RP2350-E10 is refused: %s.", t.Reason)
			return
		}
		s := fmt.Sprintf("The extra block against erratum RP2350-E10 comes first: the board erases the 4 KiB sector at %s for it", t.Start&^(boot.SectorSize-1))
		if a := x.b.wrap(uint32(t.Start)); a != uint32(t.Start) {
			s += fmt.Sprintf(", which on this flash is the one at %s, its last", Addr(a&^(boot.SectorSize-1)))
		}
		say("%s. What was kept there is lost.", s)
		return
	}
	if !t.Accepted {
		say("The board refuses the blocks of family %s: %s. Nothing of them is written, and the drive shows no error.", t.Family, t.Reason)
		return
	}
	where := t.Kind
	if t.Kind == "ram" {
		where = "RAM"
	}
	if t.Partition != nil {
		where = fmt.Sprintf("partition %d", *t.Partition)
	}
	say("The board takes the %s of family %s: %s.", n, t.Family, t.Reason)
	for _, s := range t.Steps {
		say("%s", s)
	}
	if t.Taken > 0 {
		s := fmt.Sprintf("It writes %d pages of 256 bytes to %s, %s-%s", t.Taken, where, t.Start, t.End)
		switch {
		case t.Erased == 1:
			s += ", and erases 1 sector of 4 KiB first"
		case t.Erased > 1:
			s += fmt.Sprintf(", and erases %d sectors of 4 KiB first", t.Erased)
		}
		say("%s.", s)
	}
	if t.Repeated > 0 {
		say("%d blocks have a number that came before: the board keeps the first of each.", t.Repeated)
	}
	if !t.Complete {
		say("Only %d of the %s arrive. The board waits for the rest: the drive stays, nothing is started, and no error is shown.", t.Taken, n)
	}
}

func (x *explainer) verdict(say func(string, ...any)) {
	e := x.e
	switch {
	case !e.Restarts && e.OK:
		e.Verdict = "The file is written; the drive stays, because this partition asks for no restart."
	case !e.Restarts:
		e.Verdict = x.failure()
	default:
		how := "as the family says"
		if !x.last.ForceCPU {
			how = "the CPU it runs on already, because the family does not say which"
		}
		cpu := x.opt.CPU
		if x.last.ForceCPU {
			cpu = x.last.CPU
		}
		say("All blocks are there, so the board leaves the bus and restarts by itself half a second later, on %s, %s.", cpu, how)
		if x.ended > 1 {
			say("Two transfers complete, and the restart may cut the second one off: keep such files apart.")
		}
		for _, s := range e.Boot.Steps {
			say("%s", s)
		}
		b := e.Boot
		if b.Trial {
			say("The program runs on trial (try before you buy): unless it calls the ROM's explicit_buy within 16.7 seconds, the board restarts without it.")
		}
		if b.Outcome == string(boot.OutcomeBoot) {
			e.Verdict = fmt.Sprintf("The program in %s starts on %s at %s, stack %s.", b.Place, b.CPU, *b.Entry, *b.Stack)
		} else {
			e.Verdict = "The board does not start it: " + b.Reason + "."
		}
		return
	}
}

// failure says why nothing is started, and what would help.
func (x *explainer) failure() string {
	for _, t := range x.e.Transfers {
		if t.Accepted && !t.erratum {
			return "Nothing is started, because the file is not complete: copy or build it again."
		}
	}
	if x.opt.Chip <= boot.A2 && x.e.Partitioned {
		return "Nothing is started. On this revision of the chip a board with a partition table needs the extra block: stem-hw uf2 convert --abs-block."
	}
	return "Nothing is started: the board accepts none of the families in the file."
}

// Text is the story, and the verdict last.
func (e *Explanation) Text(t *ui.Text) {
	t.Heading(e.File)
	for i, w := range e.Words {
		t.Linef("%3d. %s", i+1, w)
	}
	if len(e.PerCPU) > 0 {
		t.Linef("")
		t.Linef("After the next reset:")
		for _, v := range e.PerCPU {
			s := v.Reason
			if v.Entry != nil {
				s = fmt.Sprintf("starts at %s with stack %s (image definition at %s)", *v.Entry, *v.Stack, *v.Block)
			}
			t.Row("  "+v.CPU, s)
		}
	}
	t.Linef("")
	mark := "In short: "
	if !e.OK {
		mark = "It does not work. "
	}
	t.Heading(mark + e.Verdict)
}
