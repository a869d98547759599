package report

import (
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/uf2"
	"github.com/stem-hw/stem-hw/ui"
)

// Partitions is a partition table for people and scripts.
type Partitions struct {
	File          string          `json:"file,omitempty"`
	Addr          Addr            `json:"address"`
	Singleton     bool            `json:"singleton"`
	Version       string          `json:"version,omitempty"`
	Hash          string          `json:"hash,omitempty"`
	Unpartitioned Space           `json:"unpartitioned"`
	Partitions    []PartitionLine `json:"partitions"`
	Problem       string          `json:"problem,omitempty"`
	Warnings      []string        `json:"warnings,omitempty"`
	Output        string          `json:"output,omitempty"`
}

// Space is what a range of flash accepts.
type Space struct {
	Families    []string    `json:"families"`
	Permissions Permissions `json:"permissions"`
}

// Permissions are those of one range, each "", "r", "w" or "rw".
type Permissions struct {
	Secure     string `json:"secure"`
	NonSecure  string `json:"nonsecure"`
	Bootloader string `json:"bootloader"`
}

// PartitionLine is one partition.
type PartitionLine struct {
	Number int    `json:"number"`
	Name   string `json:"name,omitempty"`
	ID     string `json:"id,omitempty"`
	Start  Addr   `json:"start"`
	End    Addr   `json:"end"`
	Role   string `json:"role"` // "A", "B of 0", "owned by 0"
	Space
	ArmBoot   bool `json:"boot_arm"`
	RISCVBoot bool `json:"boot_riscv"`
	NoReboot  bool `json:"no_reboot_on_uf2_download"`
	Affinity  bool `json:"ab_non_bootable_owner_affinity"`
}

// Kind is "partitions".
func (*Partitions) Kind() string { return "partitions" }

// PartitionsOf describes the table of a block; with a Problem if it cannot be
// decoded.
func PartitionsOf(b *boot.Block) *Partitions {
	p := &Partitions{Addr: Addr(b.Addr), Singleton: b.Singleton, Partitions: []PartitionLine{}}
	if b.HasVersion {
		p.Version = fmt.Sprintf("%d.%d", b.Major, b.Minor)
	}
	t := boot.DecodeTable(b)
	if b.Rejected != "" || t == nil {
		p.Problem = "the partitions do not fill the item that holds them"
		if b.Rejected != "" {
			p.Problem = b.Rejected
		}
		return p
	}
	p.Unpartitioned = Space{familyNames(t.Unpartitioned, nil), permissions(t.Unpartitioned >> 26)}
	for i, q := range t.Partitions {
		p.Partitions = append(p.Partitions, partitionLine(i, q))
	}
	return p
}

func partitionLine(i int, q boot.Partition) PartitionLine {
	l := PartitionLine{Number: i, Name: q.Name, Start: Addr(q.Start()), End: Addr(q.End()), Role: "A",
		Space:   Space{familyNames(q.Flags, q.Families), permissions(q.Permissions())},
		ArmBoot: q.Bootable(boot.Arm), RISCVBoot: q.Bootable(boot.RISCV),
		NoReboot: q.Flags&boot.FlagNoReboot != 0, Affinity: q.Flags&boot.FlagABAffinity != 0}
	if q.HasID {
		l.ID = fmt.Sprintf("0x%016x", q.ID)
	}
	switch q.LinkType() {
	case boot.LinkA:
		l.Role = fmt.Sprintf("B of %d", q.Link())
	case boot.LinkOwner:
		l.Role = fmt.Sprintf("owned by %d", q.Link())
	}
	return l
}

func familyNames(flags uint32, extra []uint32) []string {
	out := []string{}
	for i := range uint32(6) {
		if flags&(boot.FlagRP2040<<i) != 0 {
			out = append(out, uf2.FamilyName(uf2.FamilyRP2040+i))
		}
	}
	for _, f := range extra {
		out = append(out, uf2.FamilyName(f))
	}
	return out
}

func permissions(bits uint32) Permissions {
	two := func(b uint32) string { return []string{"", "r", "w", "rw"}[b&3] }
	return Permissions{Secure: two(bits), NonSecure: two(bits >> 2), Bootloader: two(bits >> 4)}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Text is a table, with a map of flash above it.
func (p *Partitions) Text(t *ui.Text) {
	if p.Output != "" {
		t.Linef("%s: %d partitions", p.Output, len(p.Partitions))
	}
	p.text(t)
	for _, w := range p.Warnings {
		t.Linef("note: %s", w)
	}
}

func (p *Partitions) text(t *ui.Text) {
	head := "Partition table at " + p.Addr.String()
	if p.Version != "" {
		head += ", version " + p.Version
	}
	if p.Singleton {
		head += ", the only one (slot 1 is not looked at)"
	}
	if p.Hash != "" {
		head += ", hash " + p.Hash
	}
	t.Heading(head)
	if p.Problem != "" {
		t.Linef("  cannot be used: %s", p.Problem)
		return
	}
	p.flashMap(t)
	t.Head("  no", "name", "role", "place", "size", "secure", "non-s.", "drive", "boots", "accepts")
	for _, q := range p.Partitions {
		boots := "Arm, RISC-V"
		switch {
		case !q.ArmBoot && !q.RISCVBoot:
			boots = "never"
		case !q.ArmBoot:
			boots = "RISC-V"
		case !q.RISCVBoot:
			boots = "Arm"
		}
		accepts := strings.Join(q.Families, ", ")
		if q.NoReboot {
			accepts += " (no reboot)"
		}
		t.Row(fmt.Sprintf("  %d", q.Number), dash(q.Name), q.Role,
			fmt.Sprintf("%06x-%06x", uint32(q.Start), uint32(q.End)), size(uint64(q.End-q.Start)),
			dash(q.Permissions.Secure), dash(q.Permissions.NonSecure), dash(q.Permissions.Bootloader), boots, dash(accepts))
	}
	u := p.Unpartitioned
	t.Row("  -", "elsewhere", "", "", "", dash(u.Permissions.Secure), dash(u.Permissions.NonSecure), dash(u.Permissions.Bootloader),
		"", dash(strings.Join(u.Families, ", ")))
}

// flashMap draws the partitions to scale over the smallest power of two that
// holds them.
func (p *Partitions) flashMap(t *ui.Text) {
	top := uint32(0)
	for _, q := range p.Partitions {
		top = max(top, uint32(q.End))
	}
	if top == 0 {
		return
	}
	total := uint32(1 << 20)
	for total < top {
		total <<= 1
	}
	const cells = 64
	line := []rune(strings.Repeat("·", cells))
	for _, q := range p.Partitions {
		a := int(uint64(q.Start) * cells / uint64(total))
		b := max(int(uint64(q.End)*cells/uint64(total)), a+1)
		for i := a; i < b && i < cells; i++ {
			line[i] = []rune("0123456789abcdef")[q.Number&15]
		}
	}
	t.Linef("  0 [%s] %s", string(line), size(uint64(total)))
}
