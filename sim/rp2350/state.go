package rp2350

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/image/boot"
	"github.com/stem-hw/stem-hw/sim/bus"
	"github.com/stem-hw/stem-hw/sim/cortexm33"
	"github.com/stem-hw/stem-hw/sim/hazard3"
	"github.com/stem-hw/stem-hw/sim/machine"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph"
	"github.com/stem-hw/stem-hw/sim/rp2350/periph/regs"
	"github.com/stem-hw/stem-hw/sim/snapshot"
)

// A snapshot file: a line that says what it is, the header, and the state of the
// chip and of what is connected to it, compressed.
const maxState = 64 << 20 // compressed; a board has some 20 MiB in all

const stateMagic = "stem-hw snapshot 1\n"

// stateHeader is what the chip must be made of before its state fits.
type stateHeader struct {
	Arm       [2]uint8
	Package   uint8
	Revision  uint8
	FlashSize uint32
	ChipID    uint64
}

// statePolicy is how a chip is written.
func statePolicy() *snapshot.Policy {
	p := &snapshot.Policy{
		Skip: map[reflect.Type]bool{}, Identity: map[reflect.Type]bool{}, Made: map[reflect.Type]bool{},
	}
	skip := append(hazard3.Stateless(), cortexm33.Stateless()...)
	skip = append(skip, periph.Stateless()...)
	skip = append(skip,
		reflect.TypeFor[Options](), reflect.TypeFor[machine.Hooks](), reflect.TypeFor[rom](),
		reflect.TypeFor[slot](), reflect.TypeFor[regs.Table](), reflect.TypeFor[BootselMode](),
		reflect.TypeFor[coreBus]())
	for _, t := range skip {
		p.Skip[t] = true
	}
	for _, t := range []reflect.Type{reflect.TypeFor[periph.Event](), reflect.TypeFor[Alarm]()} {
		p.Identity[t] = true
	}
	for _, t := range []reflect.Type{
		reflect.TypeFor[machine.Event](), reflect.TypeFor[ramImage](), reflect.TypeFor[boot.Table](),
	} {
		p.Made[t] = true
	}
	return p
}

func (c *Chip) header() stateHeader {
	h := stateHeader{
		Package: uint8(c.opt.Package), Revision: uint8(c.opt.Revision),
		FlashSize: c.flash.Size(), ChipID: c.opt.ChipID,
	}
	for i, n := range c.nodes {
		if n.isArm() {
			h.Arm[i] = 1
		}
	}
	return h
}

// SaveState writes the state of the whole board: the chip, and the objects that
// others point at, which are what is connected to it. The chip must stand still
// and must not be in BOOTSEL mode.
func (c *Chip) SaveState(w io.Writer, others ...any) error {
	if c.bootsel != nil {
		return errors.New("the boot ROM waits in BOOTSEL mode: there is no program to keep")
	}
	for _, b := range c.parts.PIO {
		b.CatchUp()
	}
	c.pins.Levels() // brings what runs late up to date
	if _, err := io.WriteString(w, stateMagic); err != nil {
		return err
	}
	if err := binary.Write(w, binary.LittleEndian, c.header()); err != nil {
		return err
	}
	var body bytes.Buffer
	z, err := flate.NewWriter(&body, flate.BestSpeed)
	if err != nil {
		return err
	}
	if err := snapshot.Save(z, statePolicy(), c.roots(others)...); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	// A damaged state would not fail but misbehave.
	sum := sha256.Sum256(body.Bytes())
	if _, err := w.Write(sum[:]); err != nil {
		return err
	}
	_, err = w.Write(body.Bytes())
	return err
}

func (c *Chip) roots(others []any) []any {
	return append([]any{c}, others...)
}

// badState is the fault for a snapshot that does not fit.
func badState(seen, wanted string) error {
	return &faults.Fault{
		Code: faults.CodeBadSnapshot, Status: faults.StatusImage,
		Summary: "the snapshot cannot be restored", Seen: seen, Wanted: wanted,
	}
}

// ReadHeader reads the beginning of a snapshot and returns the options of the
// chip it fits.
func ReadHeader(r io.Reader) (Options, error) {
	h, err := readHeader(r)
	if err != nil {
		return Options{}, err
	}
	return h.options(), nil
}

func readHeader(r io.Reader) (h stateHeader, err error) {
	magic := make([]byte, len(stateMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != stateMagic {
		return h, badState("a file of another kind", "a file that --snapshot wrote")
	}
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		return h, badState("a file that was cut off", "a file that --snapshot wrote")
	}
	ok := h.FlashSize >= 4096 && h.FlashSize <= 16<<20 && h.FlashSize&(h.FlashSize-1) == 0 &&
		h.Package <= uint8(QFN80) && h.Revision >= uint8(hazard3.A2) && h.Revision <= uint8(hazard3.A4) && h.Arm[0] <= 1 && h.Arm[1] <= 1
	if !ok {
		return h, badState("a damaged header", "a file that --snapshot wrote")
	}
	return h, nil
}

func (h stateHeader) options() Options {
	o := Options{
		Package: Package(h.Package), Revision: hazard3.Revision(h.Revision),
		FlashSize: h.FlashSize, ChipID: h.ChipID, Arch: image.ArchRISCV,
	}
	if h.Arm[0] == 1 {
		o.Arch = image.ArchARM
	}
	return o
}

// LoadState puts the chip into the state that SaveState wrote. The chip must be
// made of the options that ReadHeader returns, and others must be objects of the
// same kinds in the same order. After an error the chip must not be used.
func (c *Chip) LoadState(r io.Reader, others ...any) error {
	h, err := readHeader(r)
	if err != nil {
		return err
	}
	mine := c.header()
	mine.Arm = h.Arm
	if h != mine {
		return badState("a board with another chip", fmt.Sprintf("revision A%d, %d bytes of flash, chip id %016x", h.Revision, h.FlashSize, h.ChipID))
	}
	var sum [sha256.Size]byte
	if _, err := io.ReadFull(r, sum[:]); err != nil {
		return badState("a file that was cut off", "a file that --snapshot wrote")
	}
	packed, err := io.ReadAll(io.LimitReader(r, maxState+1))
	if err != nil || len(packed) > maxState || sha256.Sum256(packed) != sum {
		return badState("a file that was changed or cut off", "a file that --snapshot wrote")
	}
	for i, n := range c.nodes {
		if n.isArm() != (h.Arm[i] == 1) {
			n.cpu = c.newCPU(n, h.Arm[i] == 1)
			n.cycle = n.cpu.ClockAt()
			c.hook(n)
		}
	}
	c.q.clear()
	c.powerUpOutside()
	body := flate.NewReader(bytes.NewReader(packed))
	if err := snapshot.Load(body, statePolicy(), c.roots(others)...); err != nil {
		if errors.Is(err, snapshot.ErrOther) {
			return badState(err.Error(), "a snapshot of this version of stem-hw, with the same things connected")
		}
		return badState(err.Error(), "a snapshot of this board, with the same things connected")
	}
	var one [1]byte
	if n, _ := body.Read(one[:]); n != 0 {
		return badState("data behind the end", "a file that --snapshot wrote")
	}
	c.restored()
	return nil
}

// restored makes again what is derived from the state.
func (c *Chip) restored() {
	c.opt.Arch = image.ArchRISCV
	if c.nodes[0].isArm() {
		c.opt.Arch = image.ArchARM
	}
	for _, a := range c.alarms {
		c.arm(a)
	}
	for _, n := range c.nodes {
		c.armLaunch(n)
	}
	for i := range c.flags {
		c.flags[i] &^= bus.LineCode // there is no decoded code yet
	}
	c.remap()
	for _, n := range c.nodes {
		n.cpu.Refresh()
	}
}

// StateDiff names the first difference between the states of two chips, "" if
// there is none. What depends on which code is decoded already does not count:
// line flags, and the count of stores in the upper bits of a core's instret.
func StateDiff(a, b *Chip) (string, error) {
	for i, n := range a.nodes {
		if x, y := n.cpu.Instret(), b.nodes[i].cpu.Instret(); x != y {
			return fmt.Sprintf("instructions of core %d: %d and %d", i, x, y), nil
		}
	}
	return snapshot.Diff(statePolicy(), []any{a}, []any{b}, func(path string) bool {
		return strings.HasSuffix(path, ".flags") || strings.HasSuffix(path, ".instret")
	})
}
