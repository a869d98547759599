package board

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stem-hw/stem-hw/faults"
)

// Kind is the form of a selector.
type Kind uint8

const (
	// KindWord is a nickname or the beginning of a serial number.
	KindWord Kind = iota
	// KindPort is a USB port path.
	KindPort
	// KindUSB is vendor, product and serial number.
	KindUSB
	// KindSim is a simulated board.
	KindSim
	// KindNative is a program of the host.
	KindNative
)

// Selector is how a person names a board.
type Selector struct {
	Kind Kind
	// Text is the word, the port path, the serial number, or the name of the
	// simulated board.
	Text string
	// Vendor and Product are the numbers of KindUSB.
	Vendor, Product uint16
}

// maxSelector bounds a selector; USB strings have at most 126 characters.
const maxSelector = 160

// maxName bounds names that people give.
const maxName = 32

// Parse reads a selector.
func Parse(s string) (Selector, error) {
	bad := func(why string) (Selector, error) {
		f := faults.Usage("this names no board")
		f.Seen, f.Wanted = strconv.Quote(s)+": "+why, Forms
		f.Try = []string{"stem-hw list"}
		return Selector{}, f
	}
	switch {
	case s == "":
		return bad("nothing")
	case len(s) > maxSelector:
		return bad("too long")
	case !utf8.ValidString(s) || strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0:
		return bad("a character that cannot be printed")
	case s == "sim":
		return Selector{Kind: KindSim, Text: DefaultSim}, nil
	case s == "native":
		return Selector{Kind: KindNative}, nil
	}
	kind, rest, colon := strings.Cut(s, ":")
	switch {
	case !colon:
		if strings.TrimSpace(s) != s {
			return bad("spaces around it")
		}
		return Selector{Kind: KindWord, Text: s}, nil
	case kind == "sim":
		if why := CheckName(rest); why != "" {
			return bad(why)
		}
		return Selector{Kind: KindSim, Text: rest}, nil
	case kind == "usb":
		if !validPort(rest) {
			return bad("no USB port path")
		}
		return Selector{Kind: KindPort, Text: rest}, nil
	}
	product, serial, two := strings.Cut(rest, ":")
	v, vok := hex4(kind)
	p, pok := hex4(product)
	if !two || !vok || !pok || serial == "" {
		return bad("neither usb:PORT nor VENDOR:PRODUCT:SERIAL")
	}
	return Selector{Kind: KindUSB, Text: serial, Vendor: v, Product: p}, nil
}

// Forms lists the forms of a selector for a message.
const Forms = "a nickname, the beginning of a serial number, usb:3-1.2, 2e8a:000c:SERIAL, sim, sim:NAME or native"

// String writes the selector as Parse reads it.
func (s Selector) String() string {
	switch s.Kind {
	case KindPort:
		return "usb:" + s.Text
	case KindUSB:
		return fmt.Sprintf("%04x:%04x:%s", s.Vendor, s.Product, s.Text)
	case KindSim:
		if s.Text == DefaultSim {
			return "sim"
		}
		return "sim:" + s.Text
	case KindNative:
		return "native"
	}
	return s.Text
}

// CheckName says what is wrong with a name for a board, "" if nothing: names
// of simulated boards become names of folders.
func CheckName(s string) string {
	switch {
	case s == "":
		return "no name"
	case len(s) > maxName:
		return fmt.Sprintf("a name of more than %d characters", maxName)
	case !letter(s[0]):
		return "a name that does not begin with a letter"
	}
	for i := range len(s) {
		if c := s[i]; !letter(c) && (c < '0' || c > '9') && c != '-' && c != '_' {
			return "a name with other characters than letters, digits, - and _"
		}
	}
	return ""
}

// CheckNickname says what is wrong with a nickname, "" if nothing.
func CheckNickname(s string) string {
	switch strings.ToLower(s) {
	case "sim", "native", "usb":
		return "a word that means something else"
	}
	return CheckName(s)
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// hex4 reads four hexadecimal digits.
func hex4(s string) (uint16, bool) {
	n, err := strconv.ParseUint(s, 16, 16)
	return uint16(n), err == nil && len(s) == 4
}

// validPort reports whether s is a bus number and port numbers, as the kernel
// names USB devices: "3-1.2".
func validPort(s string) bool {
	bus, ports, ok := strings.Cut(s, "-")
	if !ok || !number(bus) {
		return false
	}
	for _, p := range strings.Split(ports, ".") {
		if !number(p) {
			return false
		}
	}
	return true
}

func number(s string) bool {
	n, err := strconv.ParseUint(s, 10, 8)
	return err == nil && n > 0 && s[0] != '+' && s[0] != '0'
}
