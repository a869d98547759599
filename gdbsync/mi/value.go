package mi

import "strconv"

// Kind is the kind of a value.
type Kind uint8

const (
	// String is a C string.
	String Kind = iota
	// Tuple is {name=value,...}.
	Tuple
	// List is [value,...] or [name=value,...].
	List
)

// Value is one value.
type Value struct {
	Kind Kind
	// Text is the contents of a String, its escapes undone.
	Text string
	// Fields are the elements of a Tuple or a List; those without a name have
	// an empty one.
	Fields []Field
}

// Field is one element: a value with its name.
type Field struct {
	Name  string
	Value Value
}

// Get returns the first field with a name, or an empty string value.
func (v Value) Get(name string) Value { return Results(v.Fields).Get(name) }

// Has says whether there is a field with that name.
func (v Value) Has(name string) bool { return Results(v.Fields).Has(name) }

// Str returns the text of the field with that name; "" if there is none.
func (v Value) Str(name string) string { return v.Get(name).Text }

// Int returns the number in the field with that name; 0 if there is none.
func (v Value) Int(name string) int {
	n, err := strconv.Atoi(v.Str(name))
	if err != nil {
		return 0
	}
	return n
}

// Results are the fields of a record.
type Results []Field

// Get returns the first field with a name, or an empty string value.
func (r Results) Get(name string) Value {
	for _, f := range r {
		if f.Name == name {
			return f.Value
		}
	}
	return Value{}
}

// Has says whether there is a field with that name.
func (r Results) Has(name string) bool {
	for _, f := range r {
		if f.Name == name {
			return true
		}
	}
	return false
}

// Str returns the text of the field with that name; "" if there is none.
func (r Results) Str(name string) string { return r.Get(name).Text }

// Type is the kind of a record.
type Type byte

// The kinds of records, by the character they begin with.
const (
	Result  Type = '^'
	Exec    Type = '*'
	Status  Type = '+'
	Notify  Type = '='
	Console Type = '~'
	Target  Type = '@'
	Log     Type = '&'
	Prompt  Type = '('
)

// NoToken is the token of a record that has none.
const NoToken = -1

// Record is one line of gdb's.
type Record struct {
	Type Type
	// Token is the number of the command it answers, or NoToken.
	Token int64
	// Class is the word behind the type: "done", "error", "stopped".
	Class string
	// Results are what follows the class.
	Results Results
	// Text is the text of a stream record (Console, Target, Log).
	Text string
}
