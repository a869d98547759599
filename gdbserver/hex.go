package gdbserver

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
)

// hexDigit returns the value of a hexadecimal digit, or -1.
func hexDigit(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b >= 'a' && b <= 'f':
		return int(b-'a') + 10
	case b >= 'A' && b <= 'F':
		return int(b-'A') + 10
	}
	return -1
}

// parseHex reads a whole string of hexadecimal digits of at most bits bits.
func parseHex(s string, bits int) (uint64, bool) {
	if s == "" || strings.ContainsAny(s, "+-_xX") {
		return 0, false
	}
	v, err := strconv.ParseUint(s, 16, bits)
	return v, err == nil
}

// parseRange reads "addr,length".
func parseRange(s string) (addr, n uint32, ok bool) {
	a, l, found := strings.Cut(s, ",")
	if !found {
		return 0, 0, false
	}
	av, ok1 := parseHex(a, 32)
	lv, ok2 := parseHex(l, 32)
	return uint32(av), uint32(lv), ok1 && ok2
}

// unhex decodes pairs of digits.
func unhex(s string) ([]byte, bool) {
	p, err := hex.DecodeString(s)
	return p, err == nil
}

// appendValue appends a register value of bits bits in target byte order.
func appendValue(dst []byte, v uint64, bits int) []byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return hex.AppendEncode(dst, b[:(bits+7)/8])
}

// parseValue reads a register value in target byte order.
func parseValue(s string) (uint64, bool) {
	p, ok := unhex(s)
	if !ok || len(p) == 0 || len(p) > 8 {
		return 0, false
	}
	var b [8]byte
	copy(b[:], p)
	return binary.LittleEndian.Uint64(b[:]), true
}
