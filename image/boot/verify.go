package boot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/stem-hw/stem-hw/image/picobin"
	"github.com/stem-hw/stem-hw/image/secp256k1"
)

// LoadOp is one step of a load map, with the addresses worked out.
type LoadOp struct {
	// From and To are bus addresses; To is the run-time address for RAM and
	// the storage address for flash. Clear means that To is filled with zeros
	// and From does not count.
	From, To, Size uint32
	Clear          bool
}

// Copies reports whether the step changes memory: an entry whose addresses
// are equal is only there to be hashed.
func (l LoadOp) Copies() bool { return l.Clear || l.From != l.To }

// Verification is the outcome of the ROM's check of one block.
type Verification struct {
	// OK is the verdict.
	OK bool
	// Reason says why not.
	Reason string
	// Hashed is true if a hash was computed; Got is it, Want the one stored
	// (its leading words).
	Hashed    bool
	Got, Want []byte
	// Signed is true if a signature was checked.
	Signed bool
	// Loads are the steps of the load map that were worked out.
	Loads []LoadOp

	covered bool
	// spoiled is true if a step of the load map reads what an earlier one wrote.
	spoiled bool
}

// spoils reports whether a step reads what earlier ones wrote.
func spoils(done []LoadOp, op LoadOp) bool {
	for _, d := range done {
		if d.Copies() && uint64(op.From) < uint64(d.To)+uint64(d.Size) && uint64(d.To) < uint64(op.From)+uint64(op.Size) {
			return true
		}
	}
	return false
}

// maxHash bounds what one verification reads: every load map that fits into
// the windows does. The ROM itself has no such bound.
const maxHash = 64 << 20

// check verifies a block as the ROM would before it uses it. cosign is a
// partition table block that the image's signature may cover.
func (c *searcher) check(b *Block, sigNeeded, hashNeeded bool, cosign *Block) *Verification {
	if b == nil {
		return nil
	}
	if b.verified != unknown {
		return b.verify
	}
	v := &Verification{}
	b.verify = v
	c.checkBlock(b, v, sigNeeded, hashNeeded, cosign)
	v.OK = v.Reason == ""
	b.verified = failed
	if v.OK {
		b.verified = passed
	}
	return v
}

func (c *searcher) checkBlock(b *Block, v *Verification, sigNeeded, hashNeeded bool, cosign *Block) {
	if b.Rejected != "" {
		v.Reason = b.Rejected
		return
	}
	doHash := len(b.HashValue) > 0 || sigNeeded || hashNeeded
	if doHash && !b.HashSHA256 {
		v.Reason = "a hash is needed, but the block does not say how to compute it"
		return
	}
	sum := sha256.New()
	read := uint64(0)
	var word [4]byte
	for i, e := range b.Loads {
		op, why := b.loadOp(e, i)
		if why != "" {
			v.Reason = fmt.Sprintf("load map entry %d: %s", i, why)
			return
		}
		v.Loads = append(v.Loads, op)
		if op.Clear {
			binary.LittleEndian.PutUint32(word[:], op.Size)
			sum.Write(word[:])
			continue
		}
		v.spoiled = v.spoiled || c.booting && spoils(v.Loads[:i], op)
		if !doHash {
			continue
		}
		if cosign != nil {
			at, n := b.Window.Base+cosign.Offset, uint32(4*len(cosign.Words))
			v.covered = v.covered || (at >= op.From && at+n <= op.From+op.Size)
		}
		if read += uint64(op.Size); read > maxHash {
			v.Reason = "the load map covers more than any memory holds"
			return
		}
		// While booting, earlier steps are carried out by then.
		var done []LoadOp
		if c.booting {
			done = v.Loads[:i]
		}
		c.hashRange(sum, done, op.From, op.Size)
	}
	if !doHash {
		return
	}
	n := min(b.HashWords, picobin.MaxBlockSize/4)
	words := make([]uint32, n)
	copy(words, b.Words)
	sum.Write(picobin.Bytes(words))
	v.Hashed, v.Got = true, sum.Sum(nil)
	if sigNeeded {
		v.Signed = true
		switch {
		case !b.KeyMatch:
			v.Reason = "this chip only starts images signed with its key"
		case !secp256k1.Verify(picobin.Bytes(b.PublicKey), picobin.Bytes(b.Signature), v.Got):
			v.Reason = "the signature is wrong"
		}
		return
	}
	if len(b.HashValue) == 0 {
		v.Reason = "a hash is needed, but the block holds none to compare with"
		return
	}
	v.Want = picobin.Bytes(b.HashValue)
	if !bytes.Equal(v.Want, v.Got[:len(v.Want)]) {
		v.Reason = "the hash is wrong: the image was changed after it was sealed"
		if v.spoiled {
			v.Reason = "its load map overwrites a part of the image before that part is used"
		}
	}
}

// loadOp works out the addresses of a load map entry.
func (b *Block) loadOp(e LoadEntry, i int) (LoadOp, string) {
	toStorage := b.Window.Base + b.slotRoll - FlashBase + uint32(b.Roll)
	to := e.Runtime
	if to < CS1Base {
		to += toStorage
	}
	size := e.Third
	if b.loadAbs {
		size -= e.Runtime
	}
	end := to + size
	last := end
	if size != 0 {
		last--
	}
	valid := func(a uint32) bool { return isRAM(a) || isXIP(a) }
	if to&3 != 0 || !valid(to) || !valid(last) || (end-to)>>27 != 0 {
		return LoadOp{}, fmt.Sprintf("0x%08x-0x%08x is not memory to load into", to, end)
	}
	if e.Storage == 0 {
		return LoadOp{To: to, Size: (size + 3) &^ 3, Clear: true}, ""
	}
	from := e.Storage
	if !b.loadAbs {
		from += b.Window.Base + b.Offset + 4*uint32(b.loadAt)
	} else if !isRAM(from) {
		from += toStorage
	}
	winEnd := b.Window.Base + b.Window.Size
	if from&3 != 0 || from < b.Window.Base || from+size >= winEnd || from+size < from {
		return LoadOp{}, fmt.Sprintf("0x%08x-0x%08x is outside the image's place", from, from+size)
	}
	return LoadOp{From: from, To: to, Size: size}, ""
}

// hashRange hashes stored bytes as they are after some steps of a load map,
// zero padded to words.
func (c *searcher) hashRange(sum io.Writer, done []LoadOp, from, size uint32) {
	var buf [16 * 1024]byte
	for size > 0 {
		n := min(size, uint32(len(buf)))
		p := buf[:n]
		c.readAfter(done, p, from)
		if n&3 != 0 {
			pad := (n + 3) &^ 3
			clear(buf[n:pad])
			p = buf[:pad]
		}
		_, _ = sum.Write(p)
		from += n
		size -= n
	}
}

// readAfter reads what an address holds after steps of a load map.
func (c *searcher) readAfter(done []LoadOp, p []byte, addr uint32) {
	for n := len(done); n > 0 && len(p) > 0; n-- {
		op := done[n-1]
		lo, hi := max(uint64(addr), uint64(op.To)), min(uint64(addr)+uint64(len(p)), uint64(op.To)+uint64(op.Size))
		if !op.Copies() || lo >= hi {
			continue
		}
		// What the step wrote, then what lies before and behind it.
		in := p[lo-uint64(addr) : hi-uint64(addr)]
		if op.Clear {
			clear(in)
		} else {
			c.readAfter(done[:n-1], in, op.From+uint32(lo-uint64(op.To)))
		}
		c.readAfter(done[:n-1], p[:lo-uint64(addr)], addr)
		p, addr, done = p[hi-uint64(addr):], uint32(hi), done[:n-1]
	}
	if len(p) > 0 {
		_, _ = c.mem.ReadAt(p, int64(addr))
	}
}

// HashOf computes the hash of a block with its load map, as it would be signed
// or stored; nil if the block does not say how, or the load map is wrong.
func HashOf(m Memory, b *Block) []byte {
	c := b.clone()
	return newRun(m, Options{Chip: A4}, false).check(c, false, true, nil).Got
}

// clone copies a block without the outcome of an earlier check.
func (b *Block) clone() *Block {
	c := *b
	c.verified, c.verify = unknown, nil
	return &c
}
