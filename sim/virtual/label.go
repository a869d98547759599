package virtual

import (
	"unicode/utf16"

	"github.com/stem-hw/stem-hw/sim/rp2350/otp"
)

// Rows of the white-label table (otp_data.h, USB_WHITE_LABEL_ADDR_VALUE_INDEX_*).
const (
	labelVendor = iota
	labelProduct
	labelRelease
	labelLanguage
	labelManufacturer
	labelName
	labelSerial
	labelPower
	labelVolume
	labelSCSIVendor
	labelSCSIProduct
	labelSCSIVersion
	labelURL
	labelURLName
	labelModel
	labelBoardID

	rowWhiteLabel   = 0x5c
	labelTableValid = 1 << 22
)

// label is what fuses replace of BOOTSEL mode's identity.
type label struct {
	fuses *otp.Array
	valid uint32
	table int
}

// readLabel finds the white-label table.
func readLabel(f *otp.Array) label {
	l := label{fuses: f, valid: f.Majority3(otp.RowUSBFlags)}
	at, ok := f.Data(rowWhiteLabel)
	if !ok || l.valid&labelTableValid == 0 || int(at)+16 > otp.Rows {
		l.valid = 0
	}
	l.table = int(at)
	return l
}

// word is an entry that is a number.
func (l label) word(i int, standard uint16) uint16 {
	if l.valid>>i&1 == 0 {
		return standard
	}
	v, _ := l.fuses.Data(l.table + i)
	return v
}

// text is an entry that is a text: the low byte is its length, with bit 7 for
// UTF-16, the high byte the row of its first character behind the table.
func (l label) text(i int, standard string, longest int) string {
	if l.valid>>i&1 == 0 {
		return standard
	}
	def, _ := l.fuses.Data(l.table + i)
	n, row := min(int(def&0x7f), longest), l.table+int(def>>8)
	wide := def&0x80 != 0
	var units []uint16
	for c := 0; len(units) < n && row+c < otp.Rows; c++ {
		v, _ := l.fuses.Data(row + c)
		if wide {
			units = append(units, v)
			continue
		}
		units = append(units, v&0xff, v>>8)
	}
	return string(utf16.Decode(units[:min(n, len(units))]))
}
