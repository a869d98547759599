package boot

import "fmt"

// Found is one block of a loop, for explanations.
type Found struct {
	// Addr is its storage address, Size its size in bytes.
	Addr uint32
	Size int
	// What it is, in words: "image definition for RISC-V", "partition table",
	// "ignored block".
	What string
	// Fate is what the search does with it: "kept", or why not.
	Fate string
	// Kept is true if the block became the one to use, if only until a later
	// one replaced it.
	Kept bool
	// Block is set for image definitions and partition tables.
	Block *Block
}

// Loop is the outcome of one search: the best image definition and partition
// table of a block loop.
type Loop struct {
	// Window and Start are where the search looked: Start is the offset in the
	// window at which it began.
	Window Window
	Start  uint32
	// FlashOffset is where the slot or partition lies in flash; 0 in RAM.
	FlashOffset uint32
	// Valid is true if there is a sound loop.
	Valid bool
	// Problem says why there is none, in words.
	Problem string
	// Broken is true if there is a block, but the loop is not sound.
	Broken bool
	// Hang is true if the ROM itself would never finish the search.
	Hang bool
	// Image and Table are the blocks kept; nil if none.
	Image, Table *Block
	// Blocks are the blocks seen, in the order of the links.
	Blocks []Found
	// Strays are start markers that turned out not to be blocks.
	Strays []uint32
}

// maxFound bounds the list of blocks for explanations; the walk itself may be
// longer.
const maxFound = 64

// searcher is what a search depends on.
type searcher struct {
	mem      Memory
	opt      *Options
	cpu      CPU
	execOnly bool
	noTables bool
	secure   bool
	// booting is false while the ROM only looks: load maps are not carried out.
	booting bool
}

// search looks for a block loop from start on, whose first block begins at
// most within bytes further, and picks the blocks to use.
func (c *searcher) search(w Window, start, within uint32) *Loop {
	l := &Loop{Window: w, Start: start}
	if !isRAM(w.Base) {
		l.FlashOffset = (w.Base + start) & 0x0fffffff
	}
	s := newScanner(c.mem, w, start, within)
	s.note = func(addr uint32, _ string) {
		if len(l.Strays) < maxFound {
			l.Strays = append(l.Strays, addr)
		}
	}
	opt := *c.opt
	opt.OTP.SingleBinary = c.noTables
	for {
		n, err := s.block()
		if err != nil {
			l.Problem, l.Hang, l.Valid, l.Broken = err.Error(), err.hang, false, true
			l.Image, l.Table = nil, nil
			return l
		}
		if n == 0 {
			break
		}
		l.Valid = true
		f := Found{Addr: s.addr(0), Size: 4 * (n + 3)}
		b := parseBlock(s, n, &opt)
		switch {
		case b == nil:
			f.What, f.Fate = "ignored block", "it says nothing to the boot ROM"
			if len(s.buf) > 1 && s.buf[1]&0x7f == 0x0a && c.noTables {
				f.What, f.Fate = "partition table", "not looked for here"
			}
		case b.Table:
			f.What, f.Block = "partition table", b
			f.Fate = c.prefer(l.Table, b, c.secure && c.opt.OTP.SignedTable)
			if f.Fate == "" {
				f.Fate, f.Kept, l.Table = kept(l.Table, b), true, b
			}
		default:
			b.slotRoll = start
			f.What, f.Block = describeImage(b), b
			f.Fate = c.preferImage(l.Image, b)
			if f.Fate == "" {
				f.Fate, f.Kept, l.Image = kept(l.Image, b), true, b
			}
		}
		if len(l.Blocks) < maxFound {
			l.Blocks = append(l.Blocks, f)
		}
	}
	if !l.Valid {
		l.Problem = fmt.Sprintf("no block starts in 0x%08x-0x%08x", w.Base+start, w.Base+start+min(within, w.Size))
	}
	return l
}

func kept(old, b *Block) string {
	s := "kept"
	if old != nil {
		s = "kept, in place of the earlier one: the last of a loop wins"
	}
	if b.Rejected != "" {
		s += "; but it cannot be used: " + b.Rejected
	}
	return s
}

func describeImage(b *Block) string {
	if !b.Type.Executable() {
		return "image definition of " + b.Type.KindText()
	}
	s := "image definition for " + b.Type.CPUText()
	if b.Type.Chip() != 1 {
		s += " " + b.Type.ChipText()
	}
	return s
}

// prefer says why a new block does not replace the current one; "" if it
// does.
func (c *searcher) prefer(cur, b *Block, secure bool) string {
	if cur == nil {
		return ""
	}
	// Erratum RP2350-E13: an unusable block keeps its place on A2.
	if cur.Rejected != "" && c.opt.Chip <= A2 {
		return "ignored: an earlier unusable one is in its place (erratum RP2350-E13)"
	}
	if secure && cur.KeyMatch && !b.KeyMatch {
		return "ignored: not signed with a key of this chip, and an earlier one is"
	}
	return ""
}

func (c *searcher) preferImage(cur, b *Block) string {
	if c.execOnly && !b.Type.Executable() {
		return "ignored: not a program"
	}
	if why := c.prefer(cur, b, c.secure); why != "" {
		return why
	}
	if cur != nil && cur.Rejected == "" && b.Type.Executable() && b.CPU() != c.cpu && cur.Type.Executable() && cur.CPU() == c.cpu {
		return fmt.Sprintf("ignored: it is for the other CPU, and there is one for %s", c.cpu)
	}
	return ""
}
