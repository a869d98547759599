package clientconf

import (
	"encoding/json"
	"strings"
	"testing"
)

var entry = Entry{Name: "stem-observe", Command: "/usr/bin/stem-hw", Args: []string{"mcp", "serve", "--level", "observe"}, Instance: "s1"}

// TestMergeLeavesTheRest: every byte that was there is there, and a second merge
// changes nothing.
func TestMergeLeavesTheRest(t *testing.T) {
	for _, tt := range []struct{ client, old string }{
		{"codex", ""}, {"codex", "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\" # keep\n"}, {"codex", "[a]\nb = 1"},
		{"codex", "[mcp_servers.stem-observe]\ncommand = \"old\"\nargs = []\n\n# about b\n[b]\nc = [\n  1,\n]\n"},
		{"claude", ""}, {"claude", "{}"}, {"claude", "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"y\"}\n  },\n  \"z\": 1\n}\n"},
		{"gemini", "{\n  // a comment\n  \"theme\": \"dark\", /* two */\n}\n"}, {"gemini", "{\"mcpServers\":{\"stem-observe\":{\"command\":\"old\",\"trust\":false}},\"a\":[1,2]}"},
		{"opencode", "{\n  \"$schema\": \"u\",\n  \"mcp\": {}\n}\n"}, {"opencode", "{\"mcp\": {\"a\": {\"x\": \"}\\\"{\"},},}"},
	} {
		out, err := Merge(tt.client, tt.old, entry)
		if err != nil {
			t.Errorf("%s %q: %v", tt.client, tt.old, err)
			continue
		}
		if !strings.Contains(out, "/usr/bin/stem-hw") || strings.Contains(out, "\"old\"") || strings.Contains(out, "trust\": true") {
			t.Errorf("%s %q:\n%s", tt.client, tt.old, out)
		}
		for _, piece := range []string{"# mine", "# keep", "# about b", "// a comment", "/* two */", "\"theme\": \"dark\"", "\"}\\\"{\""} {
			if strings.Contains(tt.old, piece) && !strings.Contains(out, piece) {
				t.Errorf("%s lost %q:\n%s", tt.client, piece, out)
			}
		}
		again, err := Merge(tt.client, out, entry)
		if err != nil || again != out {
			t.Errorf("%s: the second time\n%s\n%s\n%v", tt.client, out, again, err)
		}
	}
	for _, bad := range []struct{ client, old string }{{"codex", "a = "}, {"claude", "{"}, {"claude", "[]"}, {"gemini", "{\"mcpServers\": 3}"}, {"other", ""}} {
		if out, err := Merge(bad.client, bad.old, entry); err == nil {
			t.Errorf("%+v:\n%s", bad, out)
		}
	}
}

// FuzzMergeJSON: what parsed before parses after, and says the same besides.
func FuzzMergeJSON(f *testing.F) {
	for _, s := range []string{"{}", `{"mcpServers":{"a":1}}`, "{\n// c\n\"a\": [1, {\"b\": 2}],\n}", `{"a":"\\\"{"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, old string) {
		out, err := Merge("claude", old, entry)
		if err != nil {
			return
		}
		var doc struct {
			Servers map[string]json.RawMessage `json:"mcpServers"`
		}
		if err := json.Unmarshal([]byte(plain(out)), &doc); err != nil || doc.Servers[entry.Name] == nil {
			t.Fatalf("%q gives %q: %v", old, out, err)
		}
	})
}
