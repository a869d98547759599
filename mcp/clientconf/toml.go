package clientconf

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/stem-hw/stem-hw/faults"
)

// tomlHeader is a line that begins a table.
var tomlHeader = regexp.MustCompile(`^\s*\[\[?[^\[]`)

// mergeTOML writes [mcp_servers.NAME] into a file of Codex's.
func mergeTOML(old, name string, argv []string) (string, error) {
	var args []string
	for _, a := range argv[1:] {
		args = append(args, quoted(a))
	}
	entry := "[mcp_servers." + name + "]\ncommand = " + quoted(argv[0]) + "\nargs = [" + strings.Join(args, ", ") +
		"]\nstartup_timeout_sec = 20\ntool_timeout_sec = 60\ndefault_tools_approval_mode = \"writes\"\n"
	own := regexp.MustCompile(`^\s*\[\s*mcp_servers\s*\.\s*(` + regexp.QuoteMeta(name) + `|"` + regexp.QuoteMeta(name) + `"|'` + regexp.QuoteMeta(name) + `')\s*\]`)
	var out []string
	inside, done := false, false
	for _, line := range strings.SplitAfter(old, "\n") {
		if tomlHeader.MatchString(line) {
			inside = own.MatchString(line)
			if inside && !done {
				out, done = append(out, entry), true
			}
		}
		// What stands behind the entry, up to the next table, is not of the entry.
		if !inside || strings.HasPrefix(strings.TrimSpace(line), "#") || strings.TrimSpace(line) == "" {
			out = append(out, line)
		}
	}
	text := strings.Join(out, "")
	if !done {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if strings.TrimSpace(text) != "" {
			text += "\n"
		}
		text += entry
	}
	var before, after map[string]any
	if err := toml.Unmarshal([]byte(old), &before); err != nil {
		return "", unusable("TOML", err)
	}
	if err := toml.Unmarshal([]byte(text), &after); err != nil {
		return "", unusable("TOML", err)
	}
	if !same(before, after, []string{"mcp_servers", name}) {
		return "", unusable("TOML", nil)
	}
	return text, nil
}

func unusable(kind string, err error) error {
	return &faults.Fault{
		Code: faults.CodeBadState, Status: faults.StatusUsage, Summary: "the client's file cannot be changed without changing more than the entry", Wanted: kind + " that parses", Err: err,
		Try: []string{"the same command without --write prints the entry"},
	}
}

// same says whether two documents say the same but for what is at a path.
func same(before, after map[string]any, path []string) bool {
	return reflect.DeepEqual(without(before, path), without(after, path))
}

// without is a document without what is at a path, and without tables that are
// empty then.
func without(m map[string]any, path []string) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		if k == path[0] {
			if len(path) == 1 {
				continue
			}
			if sub, ok := v.(map[string]any); ok {
				if rest := without(sub, path[1:]); len(rest) > 0 {
					out[k] = rest
				}
				continue
			}
		}
		out[k] = v
	}
	return out
}
