package periph

import (
	"math/bits"

	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
)

// Registers of SHA256 (datasheet 12.13.5).
const (
	shaCSR   = 0x00
	shaWData = 0x04
	shaSum0  = 0x08

	shaStart = 1 << 0
	shaErr   = 1 << 4
	shaBSwap = 1 << 12

	// shaCycles is how long a block takes (datasheet 12.13.2).
	shaCycles = 57
)

// SHA256 is the hash accelerator (datasheet 12.13): one FIPS 180-4 block at a
// time, fed word by word or in narrower pieces.
type SHA256 struct {
	storage
	requests *Requests
	sum      [8]uint32
	block    [16]uint32
	words    int
	piece    uint32 // bytes collected from narrow writes
	pieces   uint
	ready    bool // WDATA_RDY
	valid    bool // SUM_VLD
	failed   bool
	done     Event
	paused   pausedEvent
}

func newSHA256(env Env, requests *Requests) *SHA256 {
	s := &SHA256{storage: newStorage("SHA256", env, regs.SHA256), requests: requests}
	s.done.Fire = func(uint64) {
		s.compress()
		s.setReady(true)
		s.valid = true
	}
	return s
}

// Reset leaves the initial hash in the sum registers unset, as on the chip.
func (s *SHA256) Reset() {
	s.storage.Reset()
	s.env.Cancel(&s.done)
	s.paused = pausedEvent{}
	s.sum = [8]uint32{}
	s.words, s.pieces, s.piece = 0, 0, 0
	s.valid, s.failed = true, false
	s.setReady(true)
}

func (s *SHA256) setReady(on bool) {
	s.ready = on
	s.requests.Set(DREQSHA256, on)
}

// Read returns a register.
func (s *SHA256) Read(offset uint32, peek bool) uint32 {
	switch {
	case offset == shaCSR:
		return s.get(offset)&^uint32(shaErr|6) | bit(s.failed, 4) | bit(s.valid, 2) | bit(s.ready, 1)
	case offset >= shaSum0 && offset < shaSum0+32:
		return s.sum[(offset-shaSum0)/4]
	}
	return 0
}

// Write writes a register.
func (s *SHA256) Write(offset uint32, w Write) {
	switch offset {
	case shaCSR:
		s.storage.Write(offset, w)
		if w.Ones(shaErr) != 0 {
			s.failed = false
		}
		if w.Ones(shaStart) != 0 {
			s.env.Cancel(&s.done)
			s.sum = shaInit
			s.words, s.pieces, s.piece = 0, 0, 0
			s.setReady(true)
		}
	case shaWData:
		s.push(w)
	}
}

// push takes 1, 2 or 4 bytes; narrow data is the lane that was written.
func (s *SHA256) push(w Write) {
	if !s.ready {
		s.failed = true
		return
	}
	s.valid = false
	switch w.Size {
	case 1:
		s.piece |= (w.Raw >> (8 * uint(w.Lane&3)) & 0xff) << (8 * s.pieces)
		s.pieces++
	case 2:
		s.piece |= (w.Raw >> (8 * uint(w.Lane&2)) & 0xffff) << (8 * s.pieces)
		s.pieces += 2
	default:
		s.piece, s.pieces = w.Raw, 4
	}
	if s.pieces < 4 {
		return
	}
	v := s.piece
	s.piece, s.pieces = 0, 0
	if s.get(shaCSR)&shaBSwap != 0 {
		v = bits.ReverseBytes32(v)
	}
	s.block[s.words] = v
	if s.words++; s.words == len(s.block) {
		s.words = 0
		s.setReady(false)
		s.env.Schedule(&s.done, s.env.Now()+shaCycles)
	}
}

// shaInit is the initial hash value and shaK the round constants (FIPS 180-4,
// 5.3.3 and 4.2.2).
var shaInit = [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}

var shaK = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

// compress adds the block to the hash (FIPS 180-4, 6.2.2).
func (s *SHA256) compress() {
	var w [64]uint32
	copy(w[:], s.block[:])
	for i := 16; i < 64; i++ {
		a, b := w[i-15], w[i-2]
		w[i] = w[i-16] + (bits.RotateLeft32(a, -7) ^ bits.RotateLeft32(a, -18) ^ a>>3) + w[i-7] +
			(bits.RotateLeft32(b, -17) ^ bits.RotateLeft32(b, -19) ^ b>>10)
	}
	v := s.sum
	for i := range w {
		e := bits.RotateLeft32(v[4], -6) ^ bits.RotateLeft32(v[4], -11) ^ bits.RotateLeft32(v[4], -25)
		t1 := v[7] + e + (v[4]&v[5] ^ ^v[4]&v[6]) + shaK[i] + w[i]
		a := bits.RotateLeft32(v[0], -2) ^ bits.RotateLeft32(v[0], -13) ^ bits.RotateLeft32(v[0], -22)
		t2 := a + (v[0]&v[1] ^ v[0]&v[2] ^ v[1]&v[2])
		v = [8]uint32{t1 + t2, v[0], v[1], v[2], v[3] + t1, v[4], v[5], v[6]}
	}
	for i := range v {
		s.sum[i] += v[i]
	}
}
