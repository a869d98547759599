package gdbserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxPacket is the largest packet in bytes that either side sends, announced
// as PacketSize. gdb's load writes flash in pieces of this size.
const maxPacket = 0x4000

// errTooLong is a packet beyond maxPacket: the connection is not gdb's.
var errTooLong = errors.New("packet longer than the announced PacketSize")

// packetKind is what arrived on the wire.
type packetKind uint8

const (
	kindPacket    packetKind = iota // a packet with a right checksum
	kindBadSum                      // a packet with a wrong checksum
	kindInterrupt                   // 0x03
	kindAck                         // +
	kindNak                         // -
)

// readPacket reads the next item from the wire. Bytes that belong to none are
// skipped, as gdb's own stub does. The data of a packet is unescaped.
func readPacket(r *bufio.Reader) (packetKind, []byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, nil, err
		}
		switch b {
		case '+':
			return kindAck, nil, nil
		case '-':
			return kindNak, nil, nil
		case 0x03:
			return kindInterrupt, nil, nil
		case '$':
			return readBody(r)
		}
	}
}

// readBody reads a packet behind its '$'.
func readBody(r *bufio.Reader) (packetKind, []byte, error) {
	var data []byte
	var sum byte
	escaped := false
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, nil, unexpectedEOF(err)
		}
		switch {
		case b == '#':
			want, err := readSum(r)
			if err != nil {
				return 0, nil, err
			}
			if want != int(sum) || escaped {
				return kindBadSum, nil, nil
			}
			return kindPacket, data, nil
		case b == '$':
			// A packet that was cut off; its successor begins here.
			data, sum, escaped = data[:0], 0, false
			continue
		case escaped:
			data = append(data, b^0x20)
			escaped = false
		case b == '}':
			escaped = true
		default:
			data = append(data, b)
		}
		sum += b
		if len(data) > maxPacket {
			return 0, nil, errTooLong
		}
	}
}

// readSum reads the two digits of a checksum; -1 stands for digits that are
// none.
func readSum(r *bufio.Reader) (int, error) {
	sum := 0
	for range 2 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, unexpectedEOF(err)
		}
		d := hexDigit(b)
		if d < 0 || sum < 0 {
			sum = -1
			continue
		}
		sum = sum<<4 | d
	}
	return sum, nil
}

func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// appendPacket frames data, escaping what must be.
func appendPacket(dst, data []byte) []byte {
	dst = append(dst, '$')
	var sum byte
	for _, b := range data {
		switch b {
		case '#', '$', '}', '*':
			sum += '}' + (b ^ 0x20)
			dst = append(dst, '}', b^0x20)
		default:
			sum += b
			dst = append(dst, b)
		}
	}
	return fmt.Appendf(dst, "#%02x", sum)
}
