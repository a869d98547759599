package report

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/uf2"
)

// ExplainOptions describe the board that a UF2 file is explained for.
type ExplainOptions struct {
	// Chip is the revision, CPU the one that the board's drive runs on.
	Chip boot.Chip
	CPU  boot.CPU
	// Flash is the size of the flash in bytes; 0 means that of a Pico 2.
	Flash uint32
	// Table is a partition table block to be put at the start of flash first;
	// nil for a board without one.
	Table []byte
	// Present is what else is in flash beforehand; may be nil.
	Present *image.Image
}

// Explanation is what a board would do with a UF2 file copied to its drive.
type Explanation struct {
	File        string `json:"file"`
	Chip        string `json:"chip"`
	DriveCPU    string `json:"drive_cpu"`
	FlashSize   uint32 `json:"flash_size"`
	Partitioned bool   `json:"partitioned"`
	// OK is true if a transfer completes and, if the board restarts, a program
	// is started.
	OK        bool                `json:"ok"`
	Transfers []ExplainedTransfer `json:"transfers"`
	Dropped   []Dropped           `json:"dropped"`
	Restarts  bool                `json:"restarts"`
	// Boot is what runs after the restart.
	Boot *ExplainedBoot `json:"boot,omitempty"`
	// PerCPU is what each CPU would boot from then on.
	PerCPU []BootView `json:"per_cpu,omitempty"`
	// Words is the whole story, one sentence or two an entry.
	Words   []string `json:"words"`
	Verdict string   `json:"verdict"`
}

// ExplainedTransfer is one set of blocks as the drive sees it.
type ExplainedTransfer struct {
	Family    string   `json:"family"`
	Accepted  bool     `json:"accepted"`
	Reason    string   `json:"reason"`
	Partition *int     `json:"partition,omitempty"`
	Kind      string   `json:"kind"`
	Start     Addr     `json:"start"`
	End       Addr     `json:"end"`
	Total     uint32   `json:"total"`
	Taken     int      `json:"taken"`
	Repeated  int      `json:"repeated"`
	Erased    int      `json:"erased_sectors"`
	Complete  bool     `json:"complete"`
	NoReboot  bool     `json:"no_reboot"`
	Steps     []string `json:"steps,omitempty"`
	erratum   bool
}

// ExplainedBoot is the boot after the restart.
type ExplainedBoot struct {
	CPU      string `json:"cpu"`
	Switched bool   `json:"switched_cpu"`
	Outcome  string `json:"outcome"`
	Reason   string `json:"reason"`
	Place    string `json:"place"`
	Entry    *Addr  `json:"entry,omitempty"`
	Stack    *Addr  `json:"stack,omitempty"`
	// Trial is true for a try-before-you-buy image.
	Trial bool     `json:"trial,omitempty"`
	Steps []string `json:"steps"`
}

// Kind is "uf2-explain".
func (*Explanation) Kind() string { return "uf2-explain" }

type explainer struct {
	e     *Explanation
	o     ExplainOptions
	b     *board
	drive *boot.Drive
	opt   boot.Options
	cur   *ExplainedTransfer
	drops map[string]*Dropped
	last  *boot.Reboot
	ended int
}

// Explain plays a UF2 stream to the drive of a board and tells what happens.
func Explain(name string, r io.Reader, o ExplainOptions) (*Explanation, error) {
	if o.Flash == 0 {
		o.Flash = pico2Flash
	}
	x := &explainer{o: o, b: newBoard(o.Flash), drops: map[string]*Dropped{},
		opt: boot.Options{Chip: o.Chip, CPU: o.CPU}}
	x.e = &Explanation{File: name, Chip: o.Chip.String(), DriveCPU: o.CPU.String(), FlashSize: o.Flash,
		Transfers: []ExplainedTransfer{}, Dropped: []Dropped{}}
	if o.Present != nil {
		for _, s := range o.Present.Segments {
			if image.RP2350.IsFlash(s.Addr, uint64(len(s.Data))) {
				x.b.load(s.Addr, s.Data)
			}
		}
	}
	if o.Table != nil {
		x.b.load(boot.FlashBase, o.Table)
	}
	table := boot.ResidentTable(x.b, x.opt)
	if table.Problem != "" {
		return nil, &faults.Fault{Code: faults.CodeBadPartitions, Status: faults.StatusImage,
			Summary: "the board would not use this partition table", Seen: table.Problem, Wanted: "a sound table"}
	}
	x.e.Partitioned = len(table.Partitions) > 0
	x.drive = boot.NewDrive(x.b, x.opt, table)
	if err := x.play(name, r); err != nil {
		return nil, err
	}
	x.finish()
	x.tell()
	return x.e, nil
}

func (x *explainer) play(name string, r io.Reader) error {
	rd := uf2.NewReader(r)
	seen := false
	for {
		s, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return &faults.Fault{Code: faults.CodeFileAccess, Status: faults.StatusImage, Summary: name + ": cannot read the file", Err: err}
		}
		if s.Reason != uf2.ReasonNotUF2 {
			seen = true
		}
		if s.Reason != uf2.ReasonNone {
			x.drop(string(s.Reason), s.Index)
			continue
		}
		x.block(&s.Block, s.Index)
	}
	if !seen {
		return &faults.Fault{Code: faults.CodeBadImage, Status: faults.StatusImage, Summary: name + ": this is not a UF2 file",
			Seen: "no UF2 block", Wanted: "a UF2 file", Try: []string{"stem-hw uf2 convert " + name + " out.uf2"}}
	}
	return nil
}

func (x *explainer) block(b *uf2.Block, index int) {
	w := x.drive.Block(b)
	if w.NewTransfer || x.cur == nil || x.cur.Family != uf2.FamilyName(b.Family) || x.cur.Total != b.Total {
		x.begin(b, w)
	}
	t := x.cur
	switch {
	case w.Taken:
		x.b.apply(w, b)
		if t.Taken == 0 || Addr(w.Addr) < t.Start {
			t.Start = Addr(w.Addr)
		}
		t.End = max(t.End, Addr(w.Addr+boot.PageSize))
		t.Taken++
		if w.HasErase {
			t.Erased++
		}
	case w.Duplicate:
		t.Repeated++
	case t.Accepted:
		x.drop(w.Reason, index)
	}
	if w.Done {
		t.Complete = true
		x.ended++
	}
	if w.Reboot != nil {
		x.last = w.Reboot
	}
}

// begin notes a new transfer, accepted or not.
func (x *explainer) begin(b *uf2.Block, w boot.Write) {
	t := ExplainedTransfer{Family: uf2.FamilyName(b.Family), Total: b.Total, Accepted: w.NewTransfer,
		Reason: w.Reason, Kind: "flash", erratum: b.IsErratumBlock()}
	if w.RAM {
		t.Kind = "ram"
	}
	if w.NewTransfer {
		t.Reason = w.Target.Reason
		t.NoReboot, t.Steps = w.Target.NoReboot, w.Target.Steps
		if w.RAM {
			t.Reason = "its addresses are in RAM"
		} else if w.Target.Partition >= 0 {
			p := w.Target.Partition
			t.Partition = &p
		}
	}
	if len(x.e.Transfers) == maxTransfers {
		x.e.Transfers = x.e.Transfers[:maxTransfers-1] // a file of nonsense must not grow the story
	}
	x.e.Transfers = append(x.e.Transfers, t)
	x.cur = &x.e.Transfers[len(x.e.Transfers)-1]
}

func (x *explainer) drop(reason string, index int) {
	d := x.drops[reason]
	if d == nil {
		d = &Dropped{Reason: reason}
		x.drops[reason] = d
	}
	d.Count++
	if len(d.Sectors) < 4096 {
		d.Sectors = append(d.Sectors, uint32(index))
	}
}

// finish works out the restart and what boots.
func (x *explainer) finish() {
	e := x.e
	for _, d := range x.drops {
		d.Which = numbers(d.Sectors, d.Count)
		e.Dropped = append(e.Dropped, *d)
	}
	sort.Slice(e.Dropped, func(i, j int) bool { return e.Dropped[i].Sectors[0] < e.Dropped[j].Sectors[0] })
	if x.last == nil {
		for _, t := range e.Transfers {
			e.OK = e.OK || (t.Complete && !t.erratum)
		}
		return
	}
	e.Restarts = true
	o := x.opt
	if x.last.ForceCPU {
		o.CPU = x.last.CPU
	}
	var d *boot.Decision
	switched := false
	if x.last.RAM {
		w := boot.Window{Base: x.last.Base, Size: x.last.Size}
		d = boot.FindInWindow(x.b, w, o)
		if d.Outcome == boot.OutcomeSwitch {
			switched = true
			o.CPU = o.CPU.Other()
			d = boot.FindInWindow(x.b, w, o)
		}
	} else {
		o.HasUpdate, o.UpdateBase = true, x.last.Base
		d, switched = boot.Boot(x.b, o)
	}
	e.Boot = &ExplainedBoot{CPU: d.CPU.String(), Switched: switched, Outcome: string(d.Outcome), Reason: d.Reason,
		Place: placeText(d), Trial: d.TBYB, Steps: d.Steps}
	if d.Outcome == boot.OutcomeBoot {
		e.OK = true
		e.Boot.Entry, e.Boot.Stack = ptr(d.Entry.PC), ptr(d.Entry.SP)
	}
	if x.last.RAM {
		return
	}
	for _, cpu := range []boot.CPU{boot.Arm, boot.RISCV} {
		d := boot.FindImage(x.b, boot.Options{Chip: x.opt.Chip, CPU: cpu})
		v := BootView{CPU: cpu.String(), Outcome: string(d.Outcome), Reason: d.Reason}
		if d.Image != nil {
			v.Block = ptr(d.Image.Addr)
		}
		if d.Outcome == boot.OutcomeBoot {
			v.Entry, v.Stack = ptr(d.Entry.PC), ptr(d.Entry.SP)
		}
		e.PerCPU = append(e.PerCPU, v)
	}
}

func placeText(d *boot.Decision) string {
	switch d.Place {
	case boot.PlaceNone:
		return "nowhere"
	case boot.PlaceSlot0:
		return "the start of flash (slot 0)"
	case boot.PlaceSlot1:
		return "slot 1"
	case boot.PlaceWindow:
		return "RAM"
	}
	s := fmt.Sprintf("partition %d", d.Place)
	if p := d.Table.Partitions[d.Place]; p.Name != "" {
		s += fmt.Sprintf(" (%q)", p.Name)
	}
	return s
}
