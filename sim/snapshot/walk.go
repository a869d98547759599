package snapshot

import (
	"fmt"
	"reflect"
	"sort"
	"unsafe"
)

// Policy says how to treat types that are not plain values.
type Policy struct {
	// Skip are types without state.
	Skip map[reflect.Type]bool
	// Identity are the types of objects that pointers are moved between. Every
	// such object must be met as a value or through a fixed pointer too.
	Identity map[reflect.Type]bool
	// Made are the types of objects that come and go; nil pointers to them are
	// filled and others emptied.
	Made map[reflect.Type]bool
}

// stream is where values go to or come from.
type stream interface {
	// raw writes p, or fills it.
	raw(p []byte)
	// length writes n, or returns what was written.
	length(n int) int
	failed() error
}

// walker goes through a graph.
type walker struct {
	p       *Policy
	s       stream
	reading bool
	seen    map[visit]bool
	objects map[reflect.Type][]unsafe.Pointer
	number  map[visit]int
	later   []reflect.Value // identity pointers
	err     error
	path    []string
}

type visit struct {
	at unsafe.Pointer
	t  reflect.Type
}

func newWalker(p *Policy, s stream, reading bool) *walker {
	return &walker{p: p, s: s, reading: reading, seen: map[visit]bool{},
		objects: map[reflect.Type][]unsafe.Pointer{}, number: map[visit]int{}}
}

func (w *walker) fail(format string, args ...any) {
	if w.err == nil {
		at := ""
		for _, p := range w.path {
			at += p
		}
		w.err = fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
	}
}

// graph walks the roots and then the pointers that were put off.
func (w *walker) graph(roots []any) error {
	for _, r := range roots {
		v := reflect.ValueOf(r)
		w.path = []string{v.Type().String()}
		w.pointer(v)
	}
	for _, v := range w.later {
		w.identity(v)
	}
	if w.err == nil {
		w.err = w.s.failed()
	}
	return w.err
}

// open returns v so that it can be read and set, exported or not.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}

// value walks one addressable value.
func (w *walker) value(v reflect.Value) {
	if w.err != nil {
		return
	}
	t := v.Type()
	if w.p.Skip[t] {
		return
	}
	if w.p.Identity[t] {
		k := visit{v.Addr().UnsafePointer(), t}
		if _, ok := w.number[k]; !ok {
			w.number[k] = len(w.objects[t])
			w.objects[t] = append(w.objects[t], k.at)
		}
	}
	if flat(t) {
		w.s.raw(bytesOf(v))
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			w.path = append(w.path, "."+t.Field(i).Name)
			w.value(open(v.Field(i)))
			w.path = w.path[:len(w.path)-1]
		}
	case reflect.Array:
		for i := range t.Len() {
			w.value(v.Index(i))
		}
	case reflect.Slice:
		w.slice(v)
	case reflect.String:
		w.text(v)
	case reflect.Map:
		w.table(v)
	case reflect.Pointer:
		switch e := t.Elem(); {
		case w.p.Skip[e]:
		case w.p.Identity[e] && !w.p.Made[e]:
			w.later = append(w.later, v)
		case w.p.Made[e]:
			w.made(v)
		default:
			w.pointer(v)
		}
	case reflect.Interface:
		w.dynamic(v)
	case reflect.Func:
	default:
		w.fail("a %s holds state that cannot be written", t)
	}
}

// pointer follows a pointer that was set when the board was made.
func (w *walker) pointer(v reflect.Value) {
	n := 0
	if !v.IsNil() {
		n = 1
	}
	if got := w.s.length(n); got != n {
		w.fail("%s is set in one board and not in the other", v.Type())
		return
	}
	if n == 0 || !w.first(v) {
		return
	}
	w.value(v.Elem())
}

// first reports whether an object is met for the first time.
func (w *walker) first(v reflect.Value) bool {
	k := visit{v.UnsafePointer(), v.Type()}
	if w.seen[k] {
		return false
	}
	w.seen[k] = true
	return true
}

// made writes an object that comes and goes.
func (w *walker) made(v reflect.Value) {
	n := 0
	if !v.IsNil() {
		n = 1
	}
	switch got := w.s.length(n); {
	case got == 0 && w.reading:
		v.SetZero()
		return
	case got == 0:
		return
	case w.reading && n == 0:
		v.Set(reflect.New(v.Type().Elem()))
	}
	if w.first(v) {
		w.value(v.Elem())
	}
}

// identity writes which object a pointer leads to.
func (w *walker) identity(v reflect.Value) {
	t := v.Type().Elem()
	n := 0
	if !v.IsNil() {
		i, ok := w.number[visit{v.UnsafePointer(), t}]
		if !ok && !w.reading {
			w.fail("a pointer to a %s that belongs to nobody", t)
			return
		}
		n = i + 1
	}
	got := w.s.length(n)
	if !w.reading {
		return
	}
	switch list := w.objects[t]; {
	case got == 0:
		v.SetZero()
	case got > len(list):
		w.fail("there is no %s number %d", t, got)
	default:
		v.Set(reflect.NewAt(t, list[got-1]))
	}
}

func (w *walker) slice(v reflect.Value) {
	e := v.Type().Elem()
	if w.p.Skip[e] || e.Kind() == reflect.Func || e.Kind() == reflect.Pointer && w.p.Skip[e.Elem()] {
		return
	}
	n := w.s.length(v.Len())
	if w.reading && n != v.Len() {
		if !w.movable(e) {
			w.fail("%d elements of %s, the other board has %d", v.Len(), e, n)
			return
		}
		if n > maxElements/max(int(e.Size()), 1) {
			w.fail("%d elements of %s are too many", n, e)
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
	}
	if w.err != nil || n == 0 {
		return
	}
	if flat(e) {
		w.s.raw(unsafe.Slice((*byte)(v.UnsafePointer()), n*int(e.Size())))
		return
	}
	for i := range n {
		w.value(v.Index(i))
	}
}

// maxElements bounds the bytes of a slice that is read.
const maxElements = 256 << 20

// movable reports whether elements of a type can be made anew: they hold plain
// values and pointers that are found by identity or made.
func (w *walker) movable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !w.movable(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		return w.p.Identity[t.Elem()] || w.p.Made[t.Elem()]
	case reflect.String:
		return true
	case reflect.Slice, reflect.Array:
		return w.movable(t.Elem())
	}
	return flat(t)
}

func (w *walker) text(v reflect.Value) {
	s := v.String()
	n := w.s.length(len(s))
	if !w.reading {
		w.s.raw([]byte(s))
		return
	}
	if n > maxElements {
		w.fail("a text of %d bytes", n)
		return
	}
	b := make([]byte, n)
	w.s.raw(b)
	v.SetString(string(b))
}

// table writes a map of plain values.
func (w *walker) table(v reflect.Value) {
	t := v.Type()
	if !w.movable(t.Key()) || !w.movable(t.Elem()) {
		w.fail("a %s holds state that cannot be written", t)
		return
	}
	keys := v.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return fmt.Sprint(keys[i]) < fmt.Sprint(keys[j]) })
	n := w.s.length(len(keys))
	if w.reading {
		m := reflect.MakeMap(t)
		for range n {
			k, e := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			w.value(k)
			w.value(e)
			if w.err != nil || w.s.failed() != nil {
				return
			}
			m.SetMapIndex(k, e)
		}
		if n > 0 || !v.IsNil() {
			v.Set(m)
		}
		return
	}
	for _, key := range keys {
		k, e := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		k.Set(key)
		e.Set(v.MapIndex(key))
		w.value(k)
		w.value(e)
	}
}

// dynamic follows an interface to what it holds.
func (w *walker) dynamic(v reflect.Value) {
	if v.IsNil() {
		return
	}
	e := v.Elem()
	if w.p.Skip[e.Type()] || e.Kind() == reflect.Pointer && w.p.Skip[e.Type().Elem()] {
		return
	}
	switch e.Kind() {
	case reflect.Pointer:
		if w.first(e) {
			w.value(e.Elem())
		}
	case reflect.Struct:
		// What is stored by value cannot change, but leads on.
		c := reflect.New(e.Type()).Elem()
		c.Set(e)
		w.value(c)
	default:
		w.fail("a %s in a %s", e.Type(), v.Type())
	}
}

// flat reports whether a type is plain memory without pointers.
func flat(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return true
	case reflect.Array:
		return flat(t.Elem())
	}
	return false
}

func bytesOf(v reflect.Value) []byte {
	return unsafe.Slice((*byte)(v.Addr().UnsafePointer()), v.Type().Size())
}
