package mi

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func text(s string) Value { return Value{Text: s} }

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		want       Record
	}{
		{"prompt", "(gdb) ", Record{Type: Prompt, Token: NoToken}},
		{"prompt with a carriage return", "(gdb) \r", Record{Type: Prompt, Token: NoToken}},
		{"result", "12^done", Record{Type: Result, Token: 12, Class: "done"}},
		{"error", `7^error,msg="No symbol \"x\" in current context."`, Record{Type: Result, Token: 7, Class: "error",
			Results: Results{{"msg", text(`No symbol "x" in current context.`)}}}},
		{"stopped", `*stopped,reason="breakpoint-hit",frame={addr="0x1000",args=[{name="n",value="1"}],line="12"},stopped-threads="all"`,
			Record{Type: Exec, Token: NoToken, Class: "stopped", Results: Results{
				{"reason", text("breakpoint-hit")},
				{"frame", Value{Kind: Tuple, Fields: []Field{
					{"addr", text("0x1000")},
					{"args", Value{Kind: List, Fields: []Field{{"", Value{Kind: Tuple, Fields: []Field{{"name", text("n")}, {"value", text("1")}}}}}}},
					{"line", text("12")},
				}}},
				{"stopped-threads", text("all")},
			}}},
		{"list of results", `^done,stack=[frame={level="0"},frame={level="1"}]`, Record{Type: Result, Token: NoToken, Class: "done",
			Results: Results{{"stack", Value{Kind: List, Fields: []Field{
				{"frame", Value{Kind: Tuple, Fields: []Field{{"level", text("0")}}}},
				{"frame", Value{Kind: Tuple, Fields: []Field{{"level", text("1")}}}},
			}}}}}},
		{"nameless values", `^done,bkpt={number="1"},{number="1.1"}`, Record{Type: Result, Token: NoToken, Class: "done",
			Results: Results{
				{"bkpt", Value{Kind: Tuple, Fields: []Field{{"number", text("1")}}}},
				{"", Value{Kind: Tuple, Fields: []Field{{"number", text("1.1")}}}},
			}}},
		{"empty", `=library-loaded,ranges=[],x={}`, Record{Type: Notify, Token: NoToken, Class: "library-loaded",
			Results: Results{{"ranges", Value{Kind: List}}, {"x", Value{Kind: Tuple}}}}},
		{"octal is UTF-8", `~"Gr\303\274\303\237e\n"`, Record{Type: Console, Token: NoToken, Text: "Grüße\n"}},
		{"raw UTF-8", `@"Grüße"`, Record{Type: Target, Token: NoToken, Text: "Grüße"}},
		{"escapes", `&"\t\e[1m\\\"\a\0"`, Record{Type: Log, Token: NoToken, Text: "\t\x1b[1m\\\"\a\x00"}},
		{"status", `+download,{section=".text"}`, Record{Type: Status, Token: NoToken, Class: "download",
			Results: Results{{"", Value{Kind: Tuple, Fields: []Field{{"section", text(".text")}}}}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse(tt.line)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestNotRecords(t *testing.T) {
	for _, line := range []string{
		"", "12", "hello", "^", "^,", "^done,", "^done,x", "^done,x=", `^done,x="`, `^done,x="\`, `^done,x="\q"`, `^done,x="\777"`,
		"^done,x={", "^done,x={a}", `^done,x=["1"`, `^done,x=["1" "2"]`, "^done x", `~"a"b`, `1~"a"`, "~a", "99999999999999999999^done",
		"^done,x=" + strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
	} {
		var se *SyntaxError
		if r, err := Parse(line); !errors.As(err, &se) {
			t.Errorf("%.40q: %v, %v", line, r, err)
		} else if se.Offset > len(line) || !strings.Contains(se.Error(), "at byte") {
			t.Errorf("%.40q: %v", line, se)
		}
	}
	if _, err := Parse(strings.Repeat("x", MaxLine+1)); !errors.Is(err, ErrTooLong) {
		t.Errorf("%v", err)
	}
	deep := "^done,x=" + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	if _, err := Parse(deep); err != nil {
		t.Errorf("deep enough: %v", err)
	}
}

func TestCommand(t *testing.T) {
	for _, tt := range []struct {
		op     string
		params []string
		want   string
	}{
		{"exec-step", nil, "3-exec-step\n"},
		{"break-insert", []string{"--source", "/home/a b/mü.c", "--line", "7"}, "3-break-insert --source \"/home/a b/mü.c\" --line 7\n"},
		{"interpreter-exec", []string{"console", `print "a\n"`}, "3-interpreter-exec console \"print \\\"a\\\\n\\\"\"\n"},
		{"x", []string{""}, "3-x \"\"\n"},
	} {
		if got, err := Command(3, tt.op, tt.params...); err != nil || got != tt.want {
			t.Errorf("%q, %v; want %q", got, err, tt.want)
		}
	}
	for _, bad := range []string{"a\nb", "a\rb", "a\x00b"} {
		if _, err := Command(1, "x", bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestValue(t *testing.T) {
	r, err := Parse(`^done,a={n="12",s="x"}`)
	if err != nil {
		t.Fatal(err)
	}
	a := r.Results.Get("a")
	if a.Int("n") != 12 || a.Int("s") != 0 || a.Str("s") != "x" || a.Has("z") || !a.Has("n") || r.Results.Has("b") || r.Results.Str("b") != "" {
		t.Errorf("%+v", a)
	}
}

// FuzzParse: a line is a record or an error, and what was read is written and
// read again as the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"(gdb) ", "12^done", `*stopped,reason="x",frame={a="1",b=[{c="\303\274"}]}`, `=breakpoint-created,bkpt={locations=[{},{}]}`,
		`~"a\n"`, `^done,a={b="1"},{c="2"}`, `+x,{`, `1^error,msg="\"`, "^done,x=[[[[",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, err := Parse(line)
		if err != nil {
			return
		}
		again, err := Parse(r.String())
		if err != nil {
			t.Fatalf("%q was written as %q: %v", line, r.String(), err)
		}
		if !reflect.DeepEqual(r, again) {
			t.Fatalf("%q: %+v became %+v", line, r, again)
		}
	})
}
