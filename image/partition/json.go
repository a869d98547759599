package partition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/uf2"
)

const sector = boot.SectorSize

// Table is a partition table to be written.
type Table struct {
	// Version is major and minor; nil without one.
	Version *[2]uint16
	// Singleton keeps the boot ROM from looking for a second table in slot 1.
	Singleton bool
	// Unpartitioned are permissions and flags of the rest of flash.
	Unpartitioned uint32
	Partitions    []boot.Partition
	// Warnings are remarks that do not stop anything.
	Warnings []string
}

type jsonTable struct {
	Schema        any         `json:"$schema"`
	Version       []int64     `json:"version"`
	Unpartitioned *jsonSpace  `json:"unpartitioned"`
	Partitions    *[]jsonPart `json:"partitions"`
}

type jsonSpace struct {
	Families    *[]string  `json:"families"`
	Permissions *jsonPerms `json:"permissions"`
}

type jsonPerms struct {
	Secure     string `json:"secure"`
	NonSecure  string `json:"nonsecure"`
	Bootloader string `json:"bootloader"`
}

type jsonPart struct {
	Name        *string           `json:"name"`
	ID          json.RawMessage   `json:"id"`
	Start       json.RawMessage   `json:"start"`
	Size        json.RawMessage   `json:"size"`
	Families    *[]string         `json:"families"`
	Permissions *jsonPerms        `json:"permissions"`
	Link        []json.RawMessage `json:"link"`
	NoReboot    bool              `json:"no_reboot_on_uf2_download"`
	Affinity    bool              `json:"ab_non_bootable_owner_affinity"`
	NoRISCV     bool              `json:"ignored_during_riscv_boot"`
	NoArm       bool              `json:"ignored_during_arm_boot"`
}

// maxJSON bounds a description; a table of 16 partitions needs a few KiB.
const maxJSON = 1 << 20

// ParseJSON reads a description. The name is for messages.
func ParseJSON(name string, data []byte) (*Table, error) {
	p := parser{name: name}
	if len(data) > maxJSON {
		return nil, p.bad("the file is too large for a partition table", fmt.Sprintf("%d bytes", len(data)), "at most 1 MiB")
	}
	var j jsonTable
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&j); err != nil {
		return nil, p.syntax(data, dec.InputOffset(), err)
	}
	if rest := bytes.TrimSpace(data[dec.InputOffset():]); len(rest) > 0 {
		return nil, p.bad("there is something behind the partition table", fmt.Sprintf("%.20q", rest), "the end of the file")
	}
	if j.Unpartitioned == nil || j.Partitions == nil {
		return nil, p.bad("the partition table is not complete", "", `both "unpartitioned" and "partitions"`)
	}
	t := &Table{}
	if err := p.table(t, &j); err != nil {
		return nil, err
	}
	return t, nil
}

type parser struct{ name string }

func (p parser) bad(summary, seen, wanted string) *faults.Fault {
	prefix := ""
	if p.name != "" {
		prefix = p.name + ": "
	}
	return &faults.Fault{Code: faults.CodeBadPartitions, Status: faults.StatusImage, Summary: prefix + summary, Seen: seen, Wanted: wanted}
}

// syntax explains an error of encoding/json with line and column.
func (p parser) syntax(data []byte, offset int64, err error) error {
	var se *json.SyntaxError
	var te *json.UnmarshalTypeError
	switch {
	case errors.As(err, &se):
		offset = se.Offset - 1
	case errors.As(err, &te):
		offset = te.Offset
		err = fmt.Errorf("%q is a %s, it must be of another kind", te.Field, te.Value)
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		// The decoder does not say where: the name does.
		if i := bytes.Index(data, []byte(field)); i >= 0 {
			offset = int64(i)
		}
	}
	offset = min(max(offset, 0), int64(len(data)))
	line := 1 + bytes.Count(data[:offset], []byte("\n"))
	col := int(offset) - bytes.LastIndexByte(data[:offset], '\n')
	text := strings.TrimPrefix(err.Error(), "json: ")
	return p.bad(fmt.Sprintf("line %d, column %d: %s", line, col, text), "", "")
}

func (p parser) table(t *Table, j *jsonTable) error {
	switch {
	case j.Version == nil:
	case len(j.Version) != 2 || j.Version[0] < 0 || j.Version[0] > 0xffff || j.Version[1] < 0 || j.Version[1] > 0xffff:
		return p.bad("the version is not usable", fmt.Sprint(j.Version), "major and minor number from 0 to 65535")
	default:
		t.Version = &[2]uint16{uint16(j.Version[0]), uint16(j.Version[1])}
	}
	perms, err := p.perms("unpartitioned", j.Unpartitioned.Permissions)
	if err != nil {
		return err
	}
	flags, extra, err := p.families("unpartitioned", j.Unpartitioned.Families)
	if err != nil {
		return err
	}
	if len(extra) > 0 {
		return p.bad("the space outside partitions takes well known families only",
			uf2.FamilyName(extra[0]), "absolute, data, rp2040, rp2350-arm-s, rp2350-arm-ns, rp2350-riscv")
	}
	t.Unpartitioned = perms | flags
	if flags&boot.FlagAbsolute == 0 {
		t.Warnings = append(t.Warnings, "the space outside partitions does not accept family absolute, so the extra block against erratum RP2350-E10 is refused too")
	}
	if n := len(*j.Partitions); n > 16 {
		return p.bad("too many partitions", fmt.Sprint(n), "at most 16")
	}
	next := uint64(2) // behind the two sectors that hold tables
	for i, jp := range *j.Partitions {
		part, err := p.partition(i, &jp, next)
		if err != nil {
			return err
		}
		t.Partitions = append(t.Partitions, part)
		next = uint64(part.End() / sector)
	}
	return p.check(t)
}

func label(i int) string { return fmt.Sprintf("partition %d", i) }

func (p parser) partition(i int, j *jsonPart, next uint64) (boot.Partition, error) {
	var part boot.Partition
	what := label(i)
	perms, err := p.perms(what, j.Permissions)
	if err != nil {
		return part, err
	}
	fam, extra, err := p.families(what, j.Families)
	if err != nil {
		return part, err
	}
	first, last, err := p.place(what, j, next)
	if err != nil {
		return part, err
	}
	part.Location = perms | uint32(last)<<13 | uint32(first)
	part.Flags = perms | fam | uint32(len(extra))<<7
	part.Families = extra
	if j.Link != nil {
		bits, err := p.link(what, j.Link)
		if err != nil {
			return part, err
		}
		part.Flags |= bits
	}
	if j.Name != nil {
		if n := len(*j.Name); n > 127 {
			return part, p.bad(what+": the name is too long", fmt.Sprintf("%d bytes", n), "at most 127")
		}
		if *j.Name != "" {
			part.Name = *j.Name
			part.Flags |= boot.FlagHasName
		}
	}
	if j.ID != nil {
		id, ok := wide(j.ID)
		if !ok {
			return part, p.bad(what+": the ID is not usable", string(j.ID), `a number from 0 to 18446744073709551615, or a string such as "0x1234"`)
		}
		part.ID, part.HasID = id, true
		part.Flags |= boot.FlagHasID
	}
	for _, f := range []struct {
		on  bool
		bit uint32
	}{{j.NoReboot, boot.FlagNoReboot}, {j.Affinity, boot.FlagABAffinity}, {j.NoRISCV, boot.FlagNoRISCVBoot}, {j.NoArm, boot.FlagNoArmBoot}} {
		if f.on {
			part.Flags |= f.bit
		}
	}
	return part, nil
}

// place works out first and last sector. Numbers below 4096 for both count
// sectors, else bytes, as picotool reads them.
func (p parser) place(what string, j *jsonPart, next uint64) (first, last uint64, err error) {
	if j.Size == nil {
		return 0, 0, p.bad(what+" has no size", "", `"size": "512K"`)
	}
	n, ok := amount(j.Size)
	if !ok {
		return 0, 0, p.bad(what+": the size is not usable", string(j.Size), `a number, or a string such as "512K"`)
	}
	start, given := next, j.Start != nil
	if given {
		if start, ok = amount(j.Start); !ok {
			return 0, 0, p.bad(what+": the start is not usable", string(j.Start), `a number, or a string such as "64K"`)
		}
	}
	if start >= sector || n >= sector {
		if !given || start == next {
			start *= sector
		}
		if start%sector != 0 || n%sector != 0 {
			return 0, 0, p.bad(what+" is not aligned", fmt.Sprintf("start %d, size %d", start, n), "multiples of 4096 (4K)")
		}
		start, n = start/sector, n/sector
	}
	if n == 0 {
		return 0, 0, p.bad(what+" has no room", "size 0", "at least 4K")
	}
	if start+n > 0x2000 {
		return 0, 0, p.bad(what+" reaches beyond all flash", fmt.Sprintf("%dK to %dK", start*4, (start+n)*4), "an end at or below 32768K")
	}
	return start, start + n - 1, nil
}

func (p parser) link(what string, l []json.RawMessage) (uint32, error) {
	var kind string
	var to int
	if len(l) < 1 || json.Unmarshal(l[0], &kind) != nil || (len(l) > 1 && json.Unmarshal(l[1], &to) != nil) || len(l) > 2 {
		return 0, p.bad(what+": the link is not usable", "", `["a", N], ["owner", N] or ["none", 0]`)
	}
	typ := map[string]uint32{"none": 0, "a": boot.LinkA, "owner": boot.LinkOwner}
	t, ok := typ[kind]
	if !ok {
		return 0, p.bad(what+": unknown kind of link", strconv.Quote(kind), `"a", "owner" or "none"`)
	}
	if t != 0 && (len(l) < 2 || to < 0 || to > 15) {
		return 0, p.bad(what+": the link names no partition", fmt.Sprint(to), "a number from 0 to 15")
	}
	return t<<1 | uint32(to&15)<<3, nil
}

func (p parser) perms(what string, j *jsonPerms) (uint32, error) {
	if j == nil {
		return 0, p.bad(what+" has no permissions", "", `"permissions": {"secure": "rw", "nonsecure": "rw", "bootloader": "rw"}`)
	}
	bits := uint32(0)
	for _, f := range []struct {
		name, value string
		shift       int
	}{{"secure", j.Secure, 26}, {"nonsecure", j.NonSecure, 28}, {"bootloader", j.Bootloader, 30}} {
		for _, c := range f.value {
			switch {
			case len(f.value) > 2 || c != 'r' && c != 'w':
				return 0, p.bad(what+": permission "+f.name+" is not usable", strconv.Quote(f.value), `"", "r", "w" or "rw"`)
			case c == 'r':
				bits |= 1 << f.shift
			default:
				bits |= 2 << f.shift
			}
		}
	}
	return bits, nil
}

func (p parser) families(what string, list *[]string) (flags uint32, extra []uint32, err error) {
	if list == nil {
		return 0, nil, p.bad(what+" has no families", "", `"families": ["rp2350-arm-s", "rp2350-riscv"]`)
	}
	for _, s := range *list {
		id, ok := uf2.ParseFamily(s)
		if !ok {
			return 0, nil, p.bad(what+": unknown UF2 family", strconv.Quote(s), "a name such as rp2350-riscv, or a number such as 0xe48bff58")
		}
		if i := id - uint32(uf2.FamilyRP2040); i <= uf2.FamilyRP2350ArmNS-uf2.FamilyRP2040 {
			flags |= boot.FlagRP2040 << i
			continue
		}
		if extra = append(extra, id); len(extra) > 3 {
			return 0, nil, p.bad(what+" has too many extra families", fmt.Sprint(len(extra)), "at most 3 besides the well known ones")
		}
	}
	return flags, extra, nil
}

var amountText = regexp.MustCompile(`^(\d{1,12}|0[xX][0-9a-fA-F]{1,12})([kKmM]?)$`)

// amount reads a number or a string with a unit.
func amount(raw json.RawMessage) (uint64, bool) {
	s := string(raw)
	if len(s) > 0 && s[0] == '"' {
		if json.Unmarshal(raw, &s) != nil {
			return 0, false
		}
	}
	m := amountText.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	base := 10
	if len(m[1]) > 2 && (m[1][1] == 'x' || m[1][1] == 'X') {
		m[1], base = m[1][2:], 16
	}
	n, err := strconv.ParseUint(m[1], base, 48)
	if err != nil {
		return 0, false
	}
	switch strings.ToLower(m[2]) {
	case "k":
		n <<= 10
	case "m":
		n <<= 20
	}
	return n, n <= 1<<33
}

// wide reads a number of up to 64 bits, or a string that holds one.
func wide(raw json.RawMessage) (uint64, bool) {
	s := string(raw)
	if len(s) > 0 && s[0] == '"' {
		if json.Unmarshal(raw, &s) != nil {
			return 0, false
		}
	}
	n, ok := new(big.Int).SetString(s, 0)
	if !ok || n.Sign() < 0 || n.BitLen() > 64 {
		return 0, false
	}
	return n.Uint64(), true
}
