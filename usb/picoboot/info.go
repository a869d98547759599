package picoboot

import (
	"context"
	"fmt"
	"strings"
)

// Types of GET_INFO and flags of the system information (RP2350 datasheet
// 5.4.8.17 and 5.6.4.11).
const (
	infoSystem    = 1
	infoPartition = 2
	infoTarget    = 3
	infoUF2       = 4

	sysChip     = 0x01
	sysCritical = 0x02
	sysCPU      = 0x04
	sysFlash    = 0x08
	sysBoot     = 0x40
)

// System is what the ROM says about the chip.
type System struct {
	// ChipID is the 64-bit device id.
	ChipID uint64
	// Critical are the fuses of OTP rows CRIT0 and CRIT1 as GET_INFO packs them.
	Critical uint32
	// RISCV says that the boot ROM runs on a Hazard3 now.
	RISCV bool
	// FlashInfo is laid out as the OTP row FLASH_DEVINFO.
	FlashInfo uint32
	// Boot are the four words about the last boot.
	Boot [4]uint32
}

// ArmOff says that fuses forbid the Arm cores (bit 16).
func (s System) ArmOff() bool { return s.Critical>>16&1 != 0 }

// RISCVOff says that fuses forbid the RISC-V cores: bit 17, or secure boot (bit 0).
func (s System) RISCVOff() bool { return s.Critical>>17&1 != 0 || s.Critical&1 != 0 }

// Fuses are the critical ones that are set, in words (RP2350 datasheet 5.4.8.17
// and the OTP rows CRIT0 and CRIT1).
func (s System) Fuses() []string {
	out := []string{}
	for _, f := range []struct {
		bit  int
		text string
	}{
		{0, "secure boot"}, {1, "secure debugging off"}, {2, "debugging off"}, {3, "RISC-V at power-up"},
		{4, "glitch detector on"}, {16, "Arm off"}, {17, "RISC-V off"},
	} {
		if s.Critical>>f.bit&1 != 0 {
			out = append(out, f.text)
		}
	}
	return out
}

// LastBoot says in words how the chip started last (RP2350 datasheet 5.4.8.17,
// boot info).
func (s System) LastBoot() string {
	kinds := map[uint32]string{0: "normal", 2: "into BOOTSEL mode", 3: "an image in RAM", 4: "after a flash update", 0xd: "at an address"}
	kind, ok := kinds[s.Boot[0]>>8&0x7f]
	if !ok {
		kind = fmt.Sprintf("type %d", s.Boot[0]>>8&0x7f)
	}
	out := kind
	switch p := int8(s.Boot[0] >> 16); {
	case p >= 0:
		out += fmt.Sprintf(", from partition %d", p)
	case p == -2 || p == -3:
		out += fmt.Sprintf(", from slot %d", -2-int(p))
	}
	for i, half := range []uint32{s.Boot[1] & 0xffff, s.Boot[1] >> 16} {
		if text := diagnosis(half); text != "" {
			out += fmt.Sprintf("; slot %d: %s", i, text)
		}
	}
	return out
}

// diagnosis puts what the ROM found in a slot into words.
func diagnosis(bits uint32) string {
	if bits&1 == 0 {
		return ""
	}
	for _, d := range []struct {
		bit  uint32
		text string
	}{
		{0x4000, "started"}, {0x8000, "a condition failed"}, {0x1000, "an image that was verified, not started"},
		{0x40, "chosen, not started"}, {0x8, "an image definition, not chosen"}, {0x10, "a partition table"},
		{0x4, "blocks, but no image"}, {0x2, "a broken block loop"},
	} {
		if bits&d.bit != 0 {
			return d.text
		}
	}
	return "nothing"
}

// System asks for it.
func (d *Device) System(ctx context.Context) (s System, err error) {
	w, err := d.Info(ctx, infoSystem, sysChip|sysCritical|sysCPU|sysFlash|sysBoot)
	if err != nil {
		return s, err
	}
	if len(w) == 0 {
		return s, fmt.Errorf("GET_INFO brings no system information")
	}
	has := w[0]
	w = w[1:]
	take := func(flag uint32, n int) []uint32 {
		if has&flag == 0 || len(w) < n {
			return make([]uint32, n)
		}
		v := w[:n]
		w = w[n:]
		return v
	}
	c := take(sysChip, 3)
	s.ChipID = uint64(c[2])<<32 | uint64(c[1])
	s.Critical = take(sysCritical, 1)[0]
	s.RISCV = take(sysCPU, 1)[0] == 1
	s.FlashInfo = take(sysFlash, 1)[0]
	s.Boot = [4]uint32(take(sysBoot, 4))
	return s, nil
}

// Target is where the ROM would put a UF2 file of a family.
type Target struct {
	// Accepted is false where the board has no place for the family.
	Accepted bool
	// Partition is its number, -1 without partitions.
	Partition int
	// First and Last are its sectors.
	First, Last uint32
	// Flags are the partition's.
	Flags uint32
}

// Target asks for it.
func (d *Device) Target(ctx context.Context, family uint32) (t Target, err error) {
	w, err := d.Info(ctx, infoTarget, family)
	if err != nil {
		return t, err
	}
	if len(w) != 3 {
		return t, fmt.Errorf("GET_INFO brings %d words about a UF2 target", len(w))
	}
	const allOfFlash = 0xff
	switch {
	case w[0] == allOfFlash:
		t.Accepted, t.Partition = true, -1
	case int32(w[0]) < 0:
		t.Partition = -1
		return t, nil
	default:
		t.Accepted, t.Partition = true, int(w[0]&0xff)
	}
	t.First, t.Last, t.Flags = w[1]&0x1fff, w[1]>>13&0x1fff, w[2]
	return t, nil
}

// Table says whether the board has a partition table, and of how many
// partitions.
func (d *Device) Table(ctx context.Context) (has bool, count int, err error) {
	w, err := d.Info(ctx, infoPartition, 1)
	if err != nil {
		return false, 0, err
	}
	if len(w) < 2 {
		return false, 0, fmt.Errorf("GET_INFO brings %d words about partitions", len(w))
	}
	return w[1]>>8&1 != 0, int(w[1] & 0xff), nil
}

// UF2Status is what the drive made of the last file.
type UF2Status struct {
	Flags    uint16
	RAM      bool
	NoReboot bool
	Family   uint32
	// Seen of Total blocks.
	Seen, Total uint32
}

// UF2Status asks for it.
func (d *Device) UF2Status(ctx context.Context) (s UF2Status, err error) {
	w, err := d.Info(ctx, infoUF2)
	if err != nil {
		return s, err
	}
	if len(w) != 4 {
		return s, fmt.Errorf("GET_INFO brings %d words about the drive", len(w))
	}
	return UF2Status{
		Flags: uint16(w[0]), RAM: w[0]>>16&0xff != 0, NoReboot: w[0]>>24 != 0,
		Family: w[1], Seen: w[2], Total: w[3],
	}, nil
}

// String says in words why a file did not start, as far as the ROM knows.
func (s UF2Status) String() string {
	var why []string
	for _, f := range []struct {
		bit  uint16
		text string
	}{
		{0x01, "the family of the file is not accepted by this board"},
		{0x10, "a program has exclusive access over PICOBOOT"},
		{0x20, "an address is outside of what the file may write"},
		{0x40, "a write to flash failed"},
		{0x80, "the restart failed"},
	} {
		if s.Flags&f.bit != 0 {
			why = append(why, f.text)
		}
	}
	switch {
	case s.Total == 0:
		why = append(why, "no block was accepted")
	case s.Seen < s.Total:
		why = append(why, fmt.Sprintf("%d of %d blocks of family 0x%08x came", s.Seen, s.Total, s.Family))
	case s.NoReboot:
		why = append(why, "its partition is one that is not started")
	}
	return strings.Join(why, "; ")
}
