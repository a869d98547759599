package image

import (
	"bytes"
	"fmt"
)

// Intel HEX record types (Intel Hexadecimal Object File Format
// Specification, revision A).
const (
	hexData     = 0
	hexEOF      = 1
	hexSegment  = 2 // base of an 8086 segment, in paragraphs
	hexCSIP     = 3
	hexLinear   = 4 // upper half of the address
	hexLinearPC = 5
)

// looksLikeHEX reports whether data begins like an Intel HEX file: a line
// of a colon and at least ten hexadecimal digits.
func looksLikeHEX(data []byte) bool {
	data = bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(data) < 11 || data[0] != ':' {
		return false
	}
	for _, c := range data[1:11] {
		if unhex(c) > 15 {
			return false
		}
	}
	return true
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 0xff
}

// parseHEX reads Intel HEX. The number of segments is bounded by the number
// of lines, the memory by the size of the file.
func parseHEX(path string, data []byte) (*Image, error) {
	im, segs, err := hexRecords(path, data, true)
	if err != nil {
		return nil, err
	}
	im.Segments, err = normalise(path, segs)
	if err != nil {
		// Read again record by record, so that the message names lines.
		if _, segs, e := hexRecords(path, data, false); e == nil {
			if _, e = normalise(path, segs); e != nil {
				err = e
			}
		}
		return nil, err
	}
	if len(im.Segments) == 0 {
		return nil, badImage(path, "the HEX file holds no data", "no data record", "at least one")
	}
	im.Segments = joinTouching(im.Segments)
	return im, nil
}

func hexRecords(path string, data []byte, join bool) (*Image, []Segment, error) {
	im := &Image{Path: path, Format: FormatHEX}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var (
		j       joiner
		base    uint64
		segment bool // base comes from a type 02 record: offsets wrap at 64 KiB
		ended   int  // line of the end record
		after   int  // records behind it
		rec     [260]byte
	)
	add := func(addr uint64, b []byte, line int) error {
		if addr+uint64(len(b)) > 1<<32 {
			return lineFault(path, line, "data wraps around the end of the address space",
				fmt.Sprintf("0x%08x with %d bytes", addr, len(b)), "an end at or below 0x100000000")
		}
		name := fmt.Sprintf("line %d", line)
		if join {
			j.add(uint32(addr), b, name)
		} else {
			j.segs = append(j.segs, Segment{Addr: uint32(addr), Data: append([]byte(nil), b...), Name: name})
		}
		return nil
	}
	for line := 1; len(data) > 0; line++ {
		var text []byte
		if i := bytes.IndexAny(data, "\r\n"); i < 0 {
			text, data = data, nil
		} else {
			n := 1
			if data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n' {
				n = 2
			}
			text, data = data[:i], data[i+n:]
		}
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		n, err := hexLine(path, line, text, rec[:])
		if err != nil {
			return nil, nil, err
		}
		if ended > 0 {
			after++
		}
		offset, body := uint64(rec[1])<<8|uint64(rec[2]), rec[4:n-1]
		size := func(want int) error {
			if len(body) != want {
				return lineFault(path, line, fmt.Sprintf("record of type %02x has the wrong size", rec[3]),
					fmt.Sprintf("%d bytes", len(body)), fmt.Sprintf("%d", want))
			}
			return nil
		}
		switch rec[3] {
		case hexData:
			if !segment {
				err = add(base+offset, body, line)
				break
			}
			first := min(uint64(len(body)), 0x10000-offset)
			if err = add(base+offset, body[:first], line); err == nil && first < uint64(len(body)) {
				err = add(base, body[first:], line)
			}
		case hexEOF:
			if err = size(0); err == nil && ended == 0 {
				ended = line
			}
		case hexSegment:
			if err = size(2); err == nil {
				base, segment = (uint64(body[0])<<8|uint64(body[1]))<<4, true
			}
		case hexCSIP:
			err = size(4) // the start address of an 8086: nothing to us
		case hexLinear:
			if err = size(2); err == nil {
				base, segment = (uint64(body[0])<<8|uint64(body[1]))<<16, false
			}
		case hexLinearPC:
			if err = size(4); err == nil {
				im.Entry = uint32(body[0])<<24 | uint32(body[1])<<16 | uint32(body[2])<<8 | uint32(body[3])
				im.HasEntry = true
			}
		default:
			err = lineFault(path, line, "unknown record type", fmt.Sprintf("%02x", rec[3]), "00 to 05")
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if ended == 0 {
		im.warn("the HEX file has no end record: it may be cut off")
	} else if after > 0 {
		im.warn(fmt.Sprintf("%d records follow the end record in line %d; they are used", after, ended))
	}
	return im, j.segs, nil
}

// hexLine decodes one record into rec and returns its length.
func hexLine(path string, line int, text, rec []byte) (int, error) {
	if text[0] != ':' {
		return 0, lineFault(path, line, "not a HEX record", quote(text), "a line that begins with ':'")
	}
	text = text[1:]
	if len(text)%2 != 0 || len(text) < 10 || len(text)/2 > len(rec) {
		return 0, lineFault(path, line, "HEX record of impossible length",
			fmt.Sprintf("%d digits", len(text)), "an even number from 10 to 520")
	}
	n := len(text) / 2
	var sum byte
	for i := range n {
		hi, lo := unhex(text[2*i]), unhex(text[2*i+1])
		if hi > 15 || lo > 15 {
			return 0, lineFault(path, line, "not a hexadecimal digit", quote(text[2*i:2*i+2]), "0-9, a-f")
		}
		rec[i] = hi<<4 | lo
		sum += rec[i]
	}
	if int(rec[0])+5 != n {
		return 0, lineFault(path, line, "HEX record length is wrong",
			fmt.Sprintf("%d data bytes, the record states %d", n-5, rec[0]), "equal numbers")
	}
	if sum != 0 {
		return 0, lineFault(path, line, "HEX checksum is wrong",
			fmt.Sprintf("0x%02x", rec[n-1]), fmt.Sprintf("0x%02x", rec[n-1]-sum))
	}
	return n, nil
}

func lineFault(path string, line int, summary, seen, wanted string) error {
	f := badImage(path, fmt.Sprintf("line %d: %s", line, summary), seen, wanted)
	f.Try = []string{"copy or build the file again"}
	return f
}

func quote(b []byte) string {
	if len(b) > 24 {
		return fmt.Sprintf("%q...", b[:24])
	}
	return fmt.Sprintf("%q", b)
}

// joinTouching merges neighbours whose addresses touch.
func joinTouching(segs []Segment) []Segment {
	out := segs[:0]
	for _, s := range segs {
		if n := len(out); n > 0 && out[n-1].End() == uint64(s.Addr) {
			out[n-1].Data = append(out[n-1].Data, s.Data...)
			continue
		}
		out = append(out, s)
	}
	return out
}
