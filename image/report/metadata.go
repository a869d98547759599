package report

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/image/picobin"
	"github.com/stem-hw/stem-hw/image/secp256k1"
)

// MetadataBlock is one block of the loop, for people and scripts.
type MetadataBlock struct {
	Addr Addr   `json:"address"`
	Next Addr   `json:"next_block"`
	Size int    `json:"size"`
	Type string `json:"block_type"`
	Fate string `json:"fate"`
	// Of image definitions.
	Chip   string `json:"chip,omitempty"`
	Image  string `json:"image_type,omitempty"`
	TBYB   bool   `json:"tbyb,omitempty"`
	VTOR   *Addr  `json:"vector_table,omitempty"`
	Entry  *Addr  `json:"entry,omitempty"`
	Stack  *Addr  `json:"stack,omitempty"`
	Limit  *Addr  `json:"stack_limit,omitempty"`
	Window *int32 `json:"rolling_window_delta,omitempty"`
	// Of both kinds.
	Version  string     `json:"version,omitempty"`
	Rollback *uint32    `json:"rollback_version,omitempty"`
	OTPRows  []uint16   `json:"rollback_otp_rows,omitempty"`
	LoadMap  []LoadLine `json:"load_map,omitempty"`
	// Hash is "correct", "wrong" or absent; Signature the same.
	Hash      string `json:"hash,omitempty"`
	HashValue string `json:"hash_value,omitempty"`
	Signature string `json:"signature,omitempty"`
	PublicKey string `json:"public_key,omitempty"`
	Salt      bool   `json:"salt,omitempty"`
	// Table is set for partition tables.
	Table *Partitions `json:"partition_table,omitempty"`
	Items []string    `json:"items"`
}

// LoadLine is one entry of a load map.
type LoadLine struct {
	Do   string `json:"do"` // "copy", "clear" or "hash"
	From *Addr  `json:"from,omitempty"`
	To   Addr   `json:"to"`
	Size uint32 `json:"size"`
}

const (
	hashRight = "correct"
	hashWrong = "wrong"
)

func (r *Info) metadata() {
	r.Blocks = []MetadataBlock{}
	cpu := boot.Arm
	if r.im.Arch == "riscv" {
		cpu = boot.RISCV
	}
	l := r.im.Loop(cpu)
	if l == nil {
		return
	}
	r.Problem = l.Problem
	for _, f := range l.Blocks {
		b := r.block(f)
		r.Blocks = append(r.Blocks, b)
	}
	if d := l.Image; d != nil {
		r.Chip, r.Type = d.Type.ChipText(), typeText(d.Type)
		r.CPU = d.Type.CPUText()
	} else if r.im.Arch != "" {
		r.CPU = map[string]string{"arm": "ARM", "riscv": "RISC-V"}[string(r.im.Arch)]
	}
}

// typeText is the image type as picotool words it.
func typeText(t picobin.ImageType) string {
	if !t.Executable() {
		return strings.ToUpper(t.KindText()[:1]) + t.KindText()[1:]
	}
	s := t.CPUText()
	if t.CPU() == picobin.CPUArm {
		switch t.Security() {
		case picobin.SecuritySecure:
			s += " Secure"
		case picobin.SecurityNonSecure:
			s += " Non-Secure"
		}
	}
	if t.TBYB() {
		s += " (try before you buy)"
	}
	return s
}

func (r *Info) block(f boot.Found) MetadataBlock {
	m := MetadataBlock{Addr: Addr(f.Addr), Size: f.Size, Fate: f.Fate, Type: "ignored", Items: []string{}}
	buf := make([]byte, f.Size)
	r.im.ReadAt(buf, f.Addr)
	pb, err := picobin.Parse(picobin.Words(buf))
	if err == nil {
		m.Next = Addr(f.Addr + uint32(pb.Link))
		for _, it := range pb.Items {
			m.Items = append(m.Items, itemName(it))
			m.Salt = m.Salt || it.Type == picobin.ItemSalt
		}
	}
	b := f.Block
	if b == nil {
		if len(m.Items) > 0 && m.Items[0] != "ignored" {
			m.Type = "unknown"
		}
		return m
	}
	if b.Table {
		m.Type = "partition table"
		m.Table = PartitionsOf(b)
	} else {
		m.Type = "image def"
		m.Image = typeText(b.Type)
		m.TBYB = b.TBYB
		if b.Type.Executable() {
			m.Chip = b.Type.ChipText()
		}
		if b.VTOR != 0 {
			m.VTOR = ptr(b.VTOR)
		}
		if b.HasEntry {
			m.Entry, m.Stack = ptr(b.PC), ptr(b.SP)
			if b.SPLimit != 0 {
				m.Limit = ptr(b.SPLimit)
			}
		}
		if b.Roll != 0 {
			m.Window = &b.Roll
		}
	}
	if b.HasVersion {
		m.Version = fmt.Sprintf("%d.%d", b.Major, b.Minor)
		if len(b.RollbackRows) > 0 {
			v := b.Rollback
			m.Rollback, m.OTPRows = &v, b.RollbackRows
		}
	}
	r.verify(b, &m)
	return m
}

// verify checks hash and signature of one block.
func (r *Info) verify(b *boot.Block, m *MetadataBlock) {
	v := boot.Check(r.im.Memory(), b, boot.Options{Chip: boot.A4})
	for _, op := range v.Loads {
		l := LoadLine{Do: "hash", To: Addr(op.To), Size: op.Size}
		switch {
		case op.Clear:
			l.Do = "clear"
		case op.Copies():
			l.Do, l.From = "copy", ptr(op.From)
		}
		m.LoadMap = append(m.LoadMap, l)
	}
	if len(b.HashValue) > 0 {
		m.HashValue = hex.EncodeToString(picobin.Bytes(b.HashValue))
		m.Hash = hashWrong
		sum := boot.HashOf(r.im.Memory(), b)
		if sum != nil && bytes.HasPrefix(sum, picobin.Bytes(b.HashValue)) {
			m.Hash = hashRight
		}
	}
	if len(b.Signature) > 0 {
		m.PublicKey = hex.EncodeToString(picobin.Bytes(b.PublicKey))
		m.Signature = hashWrong
		// A block may be signed without holding the hash itself.
		sum := boot.HashOf(r.im.Memory(), b)
		if sum != nil && secp256k1.Verify(picobin.Bytes(b.PublicKey), picobin.Bytes(b.Signature), sum) {
			m.Signature = hashRight
		}
	}
}

func ptr(a uint32) *Addr {
	x := Addr(a)
	return &x
}

func itemName(it picobin.Item) string {
	switch it.Type {
	case picobin.ItemNextBlock:
		return "next block offset"
	case picobin.ItemImageType:
		return "image type"
	case picobin.ItemVectorTable:
		return "vector table"
	case picobin.ItemEntryPoint:
		return "entry point"
	case picobin.ItemRollingWindow:
		return "rolling window delta"
	case picobin.ItemLoadMap:
		return "load map"
	case picobin.ItemHashDef:
		return "hash definition"
	case picobin.ItemVersion:
		return "version"
	case picobin.ItemSignature:
		return "signature"
	case picobin.ItemPartitionTable:
		return "partition table"
	case picobin.ItemHashValue:
		return "hash value"
	case picobin.ItemSalt:
		return "salt"
	case picobin.ItemIgnored:
		return "ignored"
	}
	return fmt.Sprintf("unknown 0x%02x", it.Type)
}
