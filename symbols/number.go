package symbols

import "strconv"

func hexTrim(v uint32) string { return strconv.FormatUint(uint64(v), 16) }

func hex32(v uint32) string {
	s := hexTrim(v)
	return "0x" + "00000000"[len(s):] + s
}

func itoa(n int) string { return strconv.Itoa(n) }
