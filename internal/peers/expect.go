package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// expectation is what one file must do.
type expectation struct {
	file, machine string
	limit         uint64
	texts         []string
	runs          bool
	exit          *int
	output        string // file with the whole output
	signature     string // file with the words of the signature
	wires         []string
	wiring        string // file that says what is connected
}

// parse reads an expect.tsv. Lines for one file and machine become one.
func parse(r io.Reader) ([]*expectation, error) {
	var list []*expectation
	byKey := map[string]*expectation{}
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimRight(sc.Text(), "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cols := strings.Split(line, "\t")
		if len(cols) != 4 {
			return nil, fmt.Errorf("line %d: %d columns, want file, machine, expectation, limit", n, len(cols))
		}
		limit, err := strconv.ParseUint(strings.TrimSpace(cols[3]), 10, 64)
		if err != nil || limit == 0 {
			return nil, fmt.Errorf("line %d: the limit %q is no number of cycles", n, cols[3])
		}
		key := cols[0] + "\t" + cols[1]
		e := byKey[key]
		if e == nil {
			e = &expectation{file: cols[0], machine: cols[1]}
			byKey[key] = e
			list = append(list, e)
		}
		e.limit = max(e.limit, limit)
		if err := e.add(cols[2]); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return list, sc.Err()
}

// add takes one cell with expectations.
func (e *expectation) add(cell string) error {
	if text, ok := strings.CutPrefix(cell, "text:"); ok {
		if text == "" {
			return fmt.Errorf("an empty text")
		}
		e.texts = append(e.texts, text)
		return nil
	}
	if w, ok := strings.CutPrefix(cell, "wire:"); ok {
		e.wires = append(e.wires, w)
		return nil
	}
	if f, ok := strings.CutPrefix(cell, "wiring:"); ok && f != "" {
		e.wiring = f
		return nil
	}
	for _, part := range strings.Split(cell, ";") {
		name, value, _ := strings.Cut(part, ":")
		switch name {
		case "runs":
			e.runs = true
		case "exit":
			code, err := strconv.Atoi(value)
			if err != nil {
				return fmt.Errorf("the status %q is no number", value)
			}
			e.exit = &code
		case "file":
			e.output = value
		case "signature":
			e.signature = value
		default:
			return fmt.Errorf("the expectation %q is none of exit, file, signature, text, runs, wire, wiring", part)
		}
	}
	return nil
}
