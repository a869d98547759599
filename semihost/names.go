package semihost

import (
	"fmt"
)

// tmpNam writes a name for a temporary file. The same identifier gives the
// same name.
func (h *Host) tmpNam(c Core, addr, id, size uint32) uint32 {
	if id > 255 {
		return h.fail(eInval)
	}
	name := fmt.Appendf(nil, "tmp%03d.tmp\x00", id)
	if uint64(len(name)) > uint64(size) {
		return h.fail(eInval)
	}
	if !c.Write(addr, name) {
		return h.fail(eFault)
	}
	return 0
}

func (h *Host) remove(c Core, addr, n uint32) uint32 {
	name, ok := h.name(c, addr, n)
	if !ok {
		return failed
	}
	if h.files == nil {
		return h.fail(eAccess)
	}
	if err := h.files.Remove(name); err != nil {
		return h.fail(errnoOf(err))
	}
	return 0
}

func (h *Host) rename(c Core, addr1, n1, addr2, n2 uint32) uint32 {
	from, ok := h.name(c, addr1, n1)
	if !ok {
		return failed
	}
	to, ok := h.name(c, addr2, n2)
	if !ok {
		return failed
	}
	if h.files == nil {
		return h.fail(eAccess)
	}
	if err := h.files.Rename(from, to); err != nil {
		return h.fail(errnoOf(err))
	}
	return 0
}
