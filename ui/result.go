package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Result is what a verb found out or did: one value with two renderings. Its
// JSON is what encoding/json makes of it, which must be an object.
type Result interface {
	// Kind names the schema: "list" gives "stem-hw/list/1".
	Kind() string
	// Text writes it for people.
	Text(t *Text)
}

// Schema returns the schema of a kind of result.
func Schema(kind string) string { return "stem-hw/" + kind + "/1" }

// Result renders r on standard output: as text, or as one indented document.
func (u *UI) Result(r Result) error { return u.render(r, true) }

// Event renders r as one of a stream: as text, or as one line of JSON.
func (u *UI) Event(r Result) error { return u.render(r, false) }

func (u *UI) render(r Result, indent bool) error {
	if !u.opt.JSON {
		t := &Text{paint: u.paintOut}
		r.Text(t)
		u.mu.Lock()
		defer u.mu.Unlock()
		_, err := u.writeOut(t.finish())
		return err
	}
	doc, err := Document(r, indent)
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	_, err = u.writeOut(doc)
	return err
}

// Document returns the JSON of r with its schema in front and a line feed
// behind, indented or on one line.
func Document(r Result, indent bool) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("rendering %s as JSON: %w", r.Kind(), err)
	}
	p := bytes.TrimSpace(body.Bytes())
	if len(p) < 2 || p[0] != '{' {
		return nil, fmt.Errorf("rendering %s as JSON: not an object", r.Kind())
	}
	head, err := json.Marshal(Schema(r.Kind()))
	if err != nil {
		return nil, fmt.Errorf("rendering %s as JSON: %w", r.Kind(), err)
	}
	out := append([]byte(`{"schema":`), head...)
	if p[1] != '}' {
		out = append(out, ',')
	}
	out = append(out, p[1:]...)
	if indent {
		var b bytes.Buffer
		if err := json.Indent(&b, out, "", "  "); err != nil {
			return nil, fmt.Errorf("rendering %s as JSON: %w", r.Kind(), err)
		}
		out = b.Bytes()
	}
	return append(harmless(out), '\n'), nil
}

// harmless writes the characters that a terminal or a reader may take for
// commands (C1 controls, bidirectional overrides) as \u escapes. They can only
// stand inside strings.
func harmless(doc []byte) []byte {
	out := doc[:0:0]
	for i := 0; i < len(doc); {
		r, n := utf8.DecodeRune(doc[i:])
		switch {
		case r < 0x7f || unicode.IsGraphic(r):
			out = append(out, doc[i:i+n]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
	}
	return out
}
