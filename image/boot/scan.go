package boot

import (
	"fmt"

	"github.com/stem-hw/stem-hw/image/picobin"
)

// Window is the range of memory that a search stays inside.
type Window struct {
	Base, Size uint32
}

// searchMax is how far into flash or a partition the first block may start.
const searchMax = 4096

// readMax is how much the ROM reads at once while it looks for blocks.
const readMax = 0x200

// scanner walks a block loop the way the ROM does: through a buffer of one
// block's size that is filled in pieces. Which blocks are found near the end
// of a window or of the search range depends on that, so the buffer is part
// of the rules.
type scanner struct {
	mem Memory
	win Window

	buf  []uint32 // words at hand; at most picobin.MaxBlockSize/4
	pos  int      // next word to look at
	base uint32   // word offset in the window of buf[0]
	next uint32   // word offset in the window of the next read

	first int64 // word offset of the first block; -1 until it is found
	limit uint32

	// mark is an earlier block's offset, moved ahead at powers of two (Brent's
	// method), to notice a circle with no memory of the way.
	mark        uint32
	steps, turn uint64
	// note receives remarks about things that look like blocks but are not.
	note func(addr uint32, text string)
}

func newScanner(m Memory, w Window, start, search uint32) *scanner {
	return &scanner{
		mem: m, win: w, next: start / 4, first: -1,
		limit: min(w.Size/4, start/4+search/4),
		buf:   make([]uint32, 0, picobin.MaxBlockSize/4),
		turn:  1,
	}
}

// scanError says why a loop is broken.
type scanError struct {
	addr uint32
	text string
	hang bool // the ROM itself would never come back
}

func (e *scanError) Error() string { return fmt.Sprintf("%s (at 0x%08x)", e.text, e.addr) }

func (s *scanner) addr(word int) uint32 { return s.win.Base + 4*(s.base+uint32(word)) }

// fail ends the walk. Blocks behind it do not count, and neither do those
// before it.
func (s *scanner) fail(word int, format string, args ...any) (int, *scanError) {
	return 0, &scanError{addr: s.addr(word), text: fmt.Sprintf(format, args...)}
}

// block returns the next block of the loop: the number of words before its
// last item, with the block at the start of s.buf. 0 means that there are no
// more.
func (s *scanner) block() (int, *scanError) {
	for {
		if s.pos == len(s.buf) {
			s.pos, s.buf = 0, s.buf[:0]
			s.base = s.next
		}
		if s.first >= 0 && s.base+uint32(s.pos) == uint32(s.first) {
			return 0, nil
		}
		room := s.win.Size/4 - s.next
		if room == 0 || room > s.win.Size/4 {
			return s.fail(s.pos, "the walk leaves the area that holds the image")
		}
		if n := min(picobin.MaxBlockSize/4-len(s.buf), int(min(room, readMax/4))); n > 0 {
			s.buf = append(s.buf, readWords(s.mem, s.win.Base+4*s.next, n)...)
			s.next += uint32(n)
		}
		if s.first < 0 {
			for s.pos < len(s.buf) && s.buf[s.pos] != picobin.MarkerStart {
				s.pos++
			}
			if s.pos >= len(s.buf) {
				if s.next >= s.limit {
					return 0, nil
				}
				continue
			}
		} else if s.buf[s.pos] != picobin.MarkerStart {
			return s.fail(s.pos, "a link leads to something that is not a block")
		}
		if s.pos > 0 {
			// Move the block to the front, then read the rest of it.
			n := copy(s.buf, s.buf[s.pos:])
			s.buf = s.buf[:n]
			s.base += uint32(s.pos)
			s.pos = 0
			continue
		}
		end, err := s.shape()
		if err != nil {
			return 0, err
		}
		if end > 0 {
			return s.follow(end)
		}
		if s.first >= 0 {
			return s.fail(0, "a block that the loop leads to is longer than the ROM allows")
		}
		s.pos++
	}
}

// shape checks the structure of the block at the start of the buffer and
// returns the index of its last item; 0 if no last item is within reach.
func (s *scanner) shape() (int, *scanError) {
	for pos := 1; pos < len(s.buf); {
		h := s.buf[pos]
		n := picobin.ItemWords(h)
		if n == 0 {
			_, err := s.fail(pos, "a block with an item of size 0")
			return 0, err
		}
		if byte(h) == 0xff {
			if n != pos-1 {
				_, err := s.fail(pos, "a block whose item sizes do not add up (%d words, stated %d)", pos-1, n)
				return 0, err
			}
			if pos+2 >= len(s.buf) || s.buf[pos+2] != picobin.MarkerEnd {
				_, err := s.fail(pos, "a block without its end marker")
				return 0, err
			}
			return pos, nil
		}
		pos += n
	}
	if s.note != nil {
		s.note(s.addr(0), "looks like the start of a block, but no end follows")
	}
	return 0, nil
}

// follow goes on to the block that the link of the present one names.
func (s *scanner) follow(end int) (int, *scanError) {
	link := int32(s.buf[end+1]) / 4
	next := uint32(link)
	if s.steps > 0 && s.base == s.mark {
		return 0, &scanError{addr: s.addr(0), hang: true,
			text: "the links run in a circle that never returns to the first block"}
	}
	if s.steps++; s.steps == s.turn {
		s.mark, s.turn = s.base, 2*s.turn
	}
	if s.first < 0 {
		s.first = int64(s.base)
	} else if next == 0 {
		return s.fail(0, "a later block links to itself")
	}
	if next < uint32(len(s.buf)) {
		s.pos = int(next)
		return end, nil
	}
	s.next += next - uint32(len(s.buf))
	if int64(s.next) < s.first {
		return s.fail(0, "a link goes back below the first block")
	}
	s.pos = len(s.buf)
	return end, nil
}
