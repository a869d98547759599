package board

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/stem-hw/stem-hw/board/state"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/sim/rp2350"
	"github.com/stem-hw/stem-hw/sim/rp2350/nor"
	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// Program is what was put into the board last.
type Program struct {
	Path   string       `json:"path"`
	SHA256 string       `json:"sha256"`
	Format image.Format `json:"format"`
}

// Contents is what a board keeps without power.
type Contents struct {
	// Arch is the architecture of the cores after power-up.
	Arch image.Arch
	// Flash are the bytes of the flash chip.
	Flash []byte
	// OTP are the raw rows of the fuses.
	OTP [otp.Rows]uint32
	// Program is what was flashed last, if stem-hw did it.
	Program *Program
}

// The file: a magic line, the length of the header (four bytes, big endian), the
// header as JSON, the sectors that are not blank, and the SHA-256 of all that.
const (
	magic       = "stem-hw simulated board 1\n"
	stateSchema = "stem-hw/sim-state/1"
	maxHeader   = 1 << 20
	maxFlash    = 16 << 20
	maxState    = maxFlash + maxHeader + 1024
)

type header struct {
	Schema    string         `json:"schema"`
	Arch      image.Arch     `json:"arch"`
	FlashSize int            `json:"flash_size"`
	Sectors   []int          `json:"sectors"`
	OTP       map[int]uint32 `json:"otp"`
	Program   *Program       `json:"program,omitempty"`
}

// NewContents is a board as it comes from the shop.
func (p Place) NewContents() *Contents {
	c := &Contents{Arch: image.ArchRISCV, Flash: bytes.Repeat([]byte{0xff}, rp2350.DefaultFlashSize)}
	c.takeOTP(rp2350.New(rp2350.Options{ChipID: p.ChipID()}).OTP())
	return c
}

func (c *Contents) takeOTP(a *otp.Array) {
	for i := range c.OTP {
		c.OTP[i] = a.Raw(i)
	}
}

// Fuses returns the fuses as an array of their own.
func (c *Contents) Fuses() *otp.Array {
	a := &otp.Array{}
	for i, v := range c.OTP {
		if v != 0 {
			a.Program(i, v)
		}
	}
	return a
}

// Equal reports whether two contents are the same.
func (c *Contents) Equal(o *Contents) bool {
	same := c.Program == nil && o.Program == nil || c.Program != nil && o.Program != nil && *c.Program == *o.Program
	return same && c.Arch == o.Arch && c.OTP == o.OTP && bytes.Equal(c.Flash, o.Flash)
}

// Load reads the board's file; a board without one is new.
func (p Place) Load() (*Contents, error) {
	f, err := os.Open(p.file("board"))
	if errors.Is(err, fs.ErrNotExist) {
		return p.NewContents(), nil
	}
	if err != nil {
		return nil, p.fault("cannot be read", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil {
		return nil, p.fault("cannot be read", err)
	}
	c, err := Decode(data)
	if err != nil {
		return nil, p.fault("has a damaged file", err)
	}
	return c, nil
}

// Save writes the board's file, whole or not at all.
func (p Place) Save(c *Contents) error {
	if err := state.MakeFolder(p.Dir); err != nil {
		return err
	}
	if err := state.Replace(p.file("board"), c.Encode()); err != nil {
		return p.fault("cannot be written", err)
	}
	return nil
}

// Encode returns the file's bytes.
func (c *Contents) Encode() []byte {
	h := header{Schema: stateSchema, Arch: c.Arch, FlashSize: len(c.Flash), Program: c.Program, OTP: map[int]uint32{}, Sectors: []int{}}
	for i := 0; i < len(c.Flash); i += nor.SectorSize {
		if !blank(c.Flash[i : i+nor.SectorSize]) {
			h.Sectors = append(h.Sectors, i/nor.SectorSize)
		}
	}
	for i, v := range c.OTP {
		if v != 0 {
			h.OTP[i] = v
		}
	}
	head, err := json.Marshal(h)
	if err != nil {
		// Numbers and strings always marshal.
		panic(err)
	}
	out := make([]byte, 0, len(magic)+4+len(head)+len(h.Sectors)*nor.SectorSize+sha256.Size)
	out = append(out, magic...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(head)))
	out = append(out, head...)
	for _, s := range h.Sectors {
		out = append(out, c.Flash[s*nor.SectorSize:][:nor.SectorSize]...)
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

// Decode reads the file's bytes strictly.
func Decode(data []byte) (*Contents, error) {
	if len(data) > maxState {
		return nil, fmt.Errorf("more than %d bytes", maxState)
	}
	if !bytes.HasPrefix(data, []byte(magic)) || len(data) < len(magic)+4+sha256.Size {
		return nil, errors.New("not the file of a simulated board, or one of another version")
	}
	body := data[:len(data)-sha256.Size]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], data[len(body):]) {
		return nil, errors.New("the checksum is wrong")
	}
	rest := body[len(magic):]
	n := binary.BigEndian.Uint32(rest)
	rest = rest[4:]
	if n > maxHeader || uint64(n) > uint64(len(rest)) {
		return nil, errors.New("the header is cut off")
	}
	var h header
	dec := json.NewDecoder(bytes.NewReader(rest[:n]))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&h); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	rest = rest[n:]
	switch {
	case h.Schema != stateSchema:
		return nil, fmt.Errorf("schema %q, need %q", h.Schema, stateSchema)
	case h.Arch != image.ArchARM && h.Arch != image.ArchRISCV:
		return nil, fmt.Errorf("architecture %q", h.Arch)
	case h.FlashSize < 64<<10 || h.FlashSize > maxFlash || h.FlashSize&(h.FlashSize-1) != 0:
		return nil, fmt.Errorf("%d bytes of flash", h.FlashSize)
	case len(rest) != len(h.Sectors)*nor.SectorSize:
		return nil, fmt.Errorf("%d bytes for %d sectors", len(rest), len(h.Sectors))
	}
	c := &Contents{Arch: h.Arch, Program: h.Program, Flash: bytes.Repeat([]byte{0xff}, h.FlashSize)}
	last := -1
	for i, s := range h.Sectors {
		if s <= last || s >= h.FlashSize/nor.SectorSize {
			return nil, fmt.Errorf("sector %d is out of place", s)
		}
		last = s
		copy(c.Flash[s*nor.SectorSize:], rest[i*nor.SectorSize:][:nor.SectorSize])
	}
	for row, v := range h.OTP {
		if row < 0 || row >= otp.Rows || v >= 1<<24 {
			return nil, fmt.Errorf("fuse row %d", row)
		}
		c.OTP[row] = v
	}
	return c, nil
}

var blankSector = bytes.Repeat([]byte{0xff}, nor.SectorSize)

func blank(sector []byte) bool { return bytes.Equal(sector, blankSector) }
