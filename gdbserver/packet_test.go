package gdbserver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
)

func read(t *testing.T, wire string) (packetKind, string, error) {
	t.Helper()
	k, p, err := readPacket(bufio.NewReader(bytes.NewReader([]byte(wire))))
	return k, string(p), err
}

func TestReadPacket(t *testing.T) {
	tests := []struct {
		name, wire string
		kind       packetKind
		data       string
	}{
		{"plain", "$g#67", kindPacket, "g"},
		{"upper-case sum", "$O#4F", kindPacket, "O"},
		{"junk before", "xyz$g#67", kindPacket, "g"},
		{"escaped", "$}\x03#80", kindPacket, "#"},
		{"wrong sum", "$g#68", kindBadSum, ""},
		{"sum of no digits", "$g#zz", kindBadSum, ""},
		{"escape at the end", "$g}#e4", kindBadSum, ""},
		{"cut off, then whole", "$abc$g#67", kindPacket, "g"},
		{"interrupt", "\x03", kindInterrupt, ""},
		{"ack", "+", kindAck, ""},
		{"nak", "-", kindNak, ""},
		{"empty", "$#00", kindPacket, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k, data, err := read(t, tt.wire)
			if err != nil || k != tt.kind || data != tt.data {
				t.Fatalf("got kind %d %q %v, want kind %d %q", k, data, err, tt.kind, tt.data)
			}
		})
	}
}

func TestReadPacketEnds(t *testing.T) {
	if _, _, err := read(t, ""); !errors.Is(err, io.EOF) {
		t.Errorf("between packets: %v, want EOF", err)
	}
	for _, wire := range []string{"$", "$abc", "$abc#", "$abc#1"} {
		if _, _, err := read(t, wire); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v, want unexpected EOF", wire, err)
		}
	}
	long := "$" + string(bytes.Repeat([]byte{'a'}, maxPacket+1)) + "#00"
	if _, _, err := read(t, long); !errors.Is(err, errTooLong) {
		t.Errorf("endless packet: %v, want %v", err, errTooLong)
	}
}

func FuzzReadPacket(f *testing.F) {
	for _, s := range []string{"$g#67", "+$qSupported:swbreak+#9a", "$X20000000,4:\x00}\x03}]#00", "$abc$g#67", "\x03-+"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		r := bufio.NewReader(bytes.NewReader(wire))
		for {
			k, data, err := readPacket(r)
			if err != nil {
				return
			}
			if k != kindPacket {
				continue
			}
			// What was read survives being sent.
			k2, again, err := readPacket(bufio.NewReader(bytes.NewReader(appendPacket(nil, data))))
			if err != nil || k2 != kindPacket || !bytes.Equal(again, data) {
				t.Fatalf("%q came back as %q (kind %d, %v)", data, again, k2, err)
			}
		}
	})
}

func TestParseThread(t *testing.T) {
	for s, want := range map[string]int{"1": 1, "-1": -1, "0": 0, "p1.2": 2, "p1.-1": -1, "p1": -1, "10": 16} {
		if got, ok := parseThread(s); !ok || got != want {
			t.Errorf("parseThread(%q) = %d, %v, want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "x", "p1.z", "ffffffffff"} {
		if got, ok := parseThread(s); ok {
			t.Errorf("parseThread(%q) = %d, want a refusal", s, got)
		}
	}
}

func TestChecksumTable(t *testing.T) {
	// The check value of CRC-32/MPEG-2 for "123456789".
	crc := ^uint32(0)
	for _, b := range []byte("123456789") {
		crc = crc<<8 ^ crcTable[byte(crc>>24)^b]
	}
	if crc != 0x0376e6e7 {
		t.Errorf("CRC of 123456789 = %#08x, want 0x0376e6e7", crc)
	}
}
