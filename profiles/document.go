package profiles

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/stem-hw/stem-hw/faults"
)

// position is a place in a file, both from 1; the column counts bytes.
type position struct{ line, column int }

// document is one parsed file with the place of every key.
type document struct {
	Overlay
	tree map[string]any
	at   map[string]position // by dotted key
}

// hint is an error with the words to write instead.
type hint struct {
	err error
	try string
}

func (h *hint) Error() string { return h.err.Error() }

// parse checks the syntax and notes where each key stands.
func parse(o Overlay) (*document, error) {
	d := &document{Overlay: o, at: map[string]position{}}
	if err := toml.Unmarshal(o.Text, &d.tree); err != nil {
		var de *toml.DecodeError
		if errors.As(err, &de) {
			line, col := de.Position()
			return nil, d.faultAt(position{line, col}, errors.New(strings.TrimPrefix(de.Error(), "toml: ")))
		}
		return nil, d.faultAt(position{1, 1}, err)
	}
	var p unstable.Parser
	p.Reset(o.Text)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		var key []string
		first := -1
		it := e.Key()
		for it.Next() {
			n := it.Node()
			key = append(key, string(n.Data))
			if first < 0 {
				first = int(n.Raw.Offset)
			}
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = key
		case unstable.KeyValue:
			key = append(append([]string(nil), table...), key...)
		default:
			continue
		}
		name := strings.Join(key, ".")
		if _, ok := d.at[name]; !ok && first >= 0 {
			d.at[name] = d.position(first)
		}
	}
	if err := p.Error(); err != nil {
		return nil, d.faultAt(position{1, 1}, err)
	}
	return d, nil
}

func (d *document) position(offset int) position {
	before := d.Text[:min(offset, len(d.Text))]
	line := bytes.Count(before, []byte("\n"))
	return position{line + 1, offset - bytes.LastIndexByte(before, '\n')}
}

// decode lays the document over v, strictly.
func (d *document) decode(v any) error {
	if key, want := misfit(reflect.TypeOf(v), d.tree, ""); key != "" {
		return d.fault(key, fmt.Errorf("%s must be %s", key, want))
	}
	dec := toml.NewDecoder(bytes.NewReader(d.Text)).DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		return nil
	}
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := strict.Errors[0]
		line, col := e.Position()
		return d.faultAt(position{line, col}, unknownKey(reflect.TypeOf(v), e.Key()))
	}
	var de *toml.DecodeError
	if errors.As(err, &de) {
		line, col := de.Position()
		at := position{line, col}
		return d.faultAt(at, d.wrongValue(reflect.TypeOf(v), at, strings.TrimPrefix(de.Error(), "toml: ")))
	}
	return d.faultAt(position{1, 1}, err)
}

// unknownKey explains a key that the type has no place for.
func unknownKey(t reflect.Type, key toml.Key) error {
	name := strings.Join(key, ".")
	if key[0] == "chip" {
		return fmt.Errorf("%s belongs to the profile itself and cannot be changed in a file", name)
	}
	var places []string
	for i := range key {
		places = names(typeAt(t, key[:i]))
		if typeAt(t, key[:i+1]) == nil {
			err := fmt.Errorf("there is no key %s", strings.Join(key[:i+1], "."))
			if full := elsewhere(t, key[i]); full != "" {
				return &hint{err, full}
			}
			if n := nearest(key[i], places); n != "" {
				return &hint{err, strings.Join(append(append([]string(nil), key[:i]...), n), ".")}
			}
			return fmt.Errorf("%w (there are %s)", err, strings.Join(places, ", "))
		}
	}
	return fmt.Errorf("there is no key %s", name)
}

// wrongValue explains a value of the wrong type, or one its type refuses.
func (d *document) wrongValue(t reflect.Type, at position, why string) error {
	key := d.keyBefore(at)
	if key == "" {
		return errors.New(why)
	}
	if !strings.HasPrefix(why, "cannot ") {
		return fmt.Errorf("%s: %s", key, why)
	}
	if want := kindAt(t, strings.Split(key, ".")); want != "" {
		return fmt.Errorf("%s must be %s", key, want)
	}
	return fmt.Errorf("%s: %s", key, why)
}

// keyBefore returns the last key that begins at or before a place.
func (d *document) keyBefore(at position) (key string) {
	var best position
	for k, p := range d.at {
		before := p.line < at.line || p.line == at.line && p.column <= at.column
		after := p.line > best.line || p.line == best.line && p.column > best.column
		if before && after {
			key, best = k, p
		}
	}
	return key
}

// fault places err at a key of the document.
func (d *document) fault(key string, err error) error {
	at, ok := d.at[key]
	if !ok {
		at = position{1, 1}
	}
	return d.faultAt(at, err)
}

func (d *document) faultAt(at position, err error) error {
	f := &faults.Fault{
		Code: faults.CodeBadProfile, Status: faults.StatusUsage,
		Summary: fmt.Sprintf("%s:%d:%d: %v", d.Path, at.line, at.column, err),
	}
	var h *hint
	if errors.As(err, &h) {
		f.Try = []string{h.try}
	}
	if lines := strings.Split(string(d.Text), "\n"); at.line >= 1 && at.line <= len(lines) {
		f.Details = []string{strings.TrimRight(lines[at.line-1], "\r")}
	}
	return f
}
