package main

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/stem-hw/stem-hw/faults"
	"github.com/stem-hw/stem-hw/image"
	"github.com/stem-hw/stem-hw/uf2"
)

// parseFamily reads a UF2 family.
func parseFamily(s string) (uint32, error) {
	id, ok := uf2.ParseFamily(s)
	if !ok {
		f := faults.Usage("unknown UF2 family")
		f.Seen = strconv.Quote(s)
		var names []string
		for _, fam := range uf2.Families() {
			names = append(names, fam.Name)
		}
		f.Wanted = strings.Join(names, ", ") + ", or a number such as 0xe48bff59"
		return 0, f
	}
	return id, nil
}

var offsetText = regexp.MustCompile(`^(0[xX][0-9a-fA-F]+|[0-9]+)([kKmM]?)(i?[bB])?$`)

// parseOffset reads a place in flash: 65536, 0x10000, 64k and 1M are bytes
// from the start of flash; a number inside a memory of the chip, such as
// 0x10010000 or 0x20000000, is an address.
func parseOffset(s string) (addr uint32, err error) {
	bad := func(wanted string) error {
		f := faults.Usage("the offset is not usable")
		f.Seen, f.Wanted = strconv.Quote(s), wanted
		return f
	}
	m := offsetText.FindStringSubmatch(s)
	if m == nil {
		return 0, bad("bytes such as 65536, 0x10000, 64k or 1M, or an address such as 0x10010000")
	}
	n, perr := strconv.ParseUint(m[1], 0, 40)
	if strings.HasPrefix(m[1], "0") && len(m[1]) > 1 && m[1][1] != 'x' && m[1][1] != 'X' {
		n, perr = strconv.ParseUint(m[1], 10, 40) // not octal: people mean 0100 as 100
	}
	if perr != nil {
		return 0, bad("a number of at most 32 bits")
	}
	switch strings.ToLower(m[2]) {
	case "k":
		n <<= 10
	case "m":
		n <<= 20
	}
	flash := image.RP2350
	switch {
	case n < uint64(flash.FlashSize):
		return flash.FlashBase + uint32(n), nil
	case n <= 0xffffffff && flash.KindOf(uint32(n), 1) != image.KindOther:
		return uint32(n), nil
	}
	return 0, bad("an offset below 32M, or an address in " + flash.Text())
}
