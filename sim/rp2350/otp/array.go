package otp

// The geometry (datasheet 13.1).
const (
	Rows        = 4096
	RowsPerPage = 64
	Pages       = Rows / RowsPerPage
	rowMask     = 1<<24 - 1
)

// Rows that the simulator and the boot ROM use (otp_data.h).
const (
	RowChipID0    = 0x000 // four ECC rows, 16 bits each, lowest first
	RowRandID0    = 0x004 // eight ECC rows
	RowNumGPIOs   = 0x018 // ECC: 30 on QFN60, 48 on QFN80
	RowCrit0      = 0x038 // eight copies, majority of three or more
	RowCrit1      = 0x040 // eight copies
	RowBootFlags0 = 0x048 // three copies
	RowBootFlags1 = 0x04b // three copies
	RowFlashDev   = 0x054 // ECC: FLASH_DEVINFO
	RowSlotSize   = 0x055 // ECC: FLASH_PARTITION_SLOT_SIZE
	RowUSBFlags   = 0x059 // three copies
	RowKey1       = 0xf48 // access keys, write-only
	RowPage0Lock0 = 0xf80 // two rows a page: LOCK0 and LOCK1
)

// Array is the memory itself.
type Array struct {
	rows [Rows]uint32
	// soft are the SW_LOCK bits written since reset, as in the register: 1:0
	// secure, 3:2 non-secure.
	soft [Pages]uint8
}

// Raw returns the 24 bits of a row.
func (a *Array) Raw(row int) uint32 { return a.rows[row&(Rows-1)] }

// Program blows fuses: bits that are 1 in v become 1. It reports whether the
// row then holds v exactly.
func (a *Array) Program(row int, v uint32) bool {
	row &= Rows - 1
	a.rows[row] |= v & rowMask
	return a.rows[row] == v&rowMask
}

// Data returns the 16 bits of an ECC row after correction; ok is false for two
// or more wrong bits. A blank row is 0.
func (a *Array) Data(row int) (v uint16, ok bool) { return Decode(a.Raw(row)) }

// SetData programs an ECC row. It reports whether the row then reads as v.
func (a *Array) SetData(row int, v uint16) bool {
	a.Program(row, Encode(v))
	got, ok := a.Data(row)
	return ok && got == v
}

// Majority3 returns the bitwise majority of three copies of a raw row.
func (a *Array) Majority3(row int) uint32 {
	x, y, z := a.Raw(row), a.Raw(row+1), a.Raw(row+2)
	return x&y | y&z | x&z
}

// AnyOf8 returns the bits that at least three of eight copies of a row have, as
// the hardware reads CRIT0 and CRIT1 (datasheet 13.4).
func (a *Array) AnyOf8(row int) uint32 {
	var v uint32
	for bit := uint32(1); bit <= rowMask; bit <<= 1 {
		n := 0
		for i := range 8 {
			if a.Raw(row+i)&bit != 0 {
				n++
			}
		}
		if n >= 3 {
			v |= bit
		}
	}
	return v
}
