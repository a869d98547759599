package otp

// Lock is what software may do with a page (datasheet 13.5.2).
type Lock uint8

const (
	ReadWrite    Lock = 0
	ReadOnly     Lock = 1
	Inaccessible Lock = 3
)

// Locks returns the effective locks of a page: the stronger of LOCK1 in the
// fuses and the soft lock written since reset.
func (a *Array) Locks(page int) (secure, nonSecure Lock) {
	page &= Pages - 1
	hard := vote(a.rows[RowPage0Lock0+2*page+1])
	both := hard | a.soft[page]
	return Lock(both & 3), Lock(both >> 2 & 3)
}

// SoftLock reads the SW_LOCK register of a page.
func (a *Array) SoftLock(page int) uint8 {
	s, n := a.Locks(page)
	return uint8(s) | uint8(n)<<2
}

// AddSoftLock sets bits of it; bits are never cleared before reset.
func (a *Array) AddSoftLock(page int, v uint8) { a.soft[page&(Pages-1)] |= v & 15 }

// Reset forgets the soft locks. The fuses stay.
func (a *Array) Reset() { a.soft = [Pages]uint8{} }

// vote returns the low nibble of the three bytes of a lock row by majority:
// LOCK_S in bits 1:0, LOCK_NS in 3:2.
func vote(row uint32) uint8 {
	x, y, z := uint8(row), uint8(row>>8), uint8(row>>16)
	return (x&y | y&z | x&z) & 15
}

// Readable and Writable apply the locks of a row's page to one access.
func (a *Array) Readable(row int, nonSecure bool) bool {
	return a.lockOf(row, nonSecure)&2 == 0
}

// Writable reports whether a row may be programmed.
func (a *Array) Writable(row int, nonSecure bool) bool {
	return a.lockOf(row, nonSecure) == ReadWrite
}

func (a *Array) lockOf(row int, nonSecure bool) Lock {
	s, n := a.Locks(row / RowsPerPage)
	if nonSecure {
		return s | n
	}
	return s
}
