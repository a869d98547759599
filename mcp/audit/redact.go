package audit

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// maxArgument bounds a text in the record.
const maxArgument = 512

// secretName is an argument's name whose value is not kept.
var secretName = regexp.MustCompile(`(?i)pass(word|wd|phrase)?|token|secret|api_?key|credential|authorization|cookie`)

// secretText is what looks like a secret inside a text.
var secretText = regexp.MustCompile(strings.Join([]string{
	`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)`,
	`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}`,
	`(?i)\b[a-z0-9_-]*(password|passwd|passphrase|token|secret|api_?key)[a-z0-9_-]*["']?\s*[=:]\s*["']?[^\s"',;&]{3,}`,
	`\b(sk|pk|rk)[-_][A-Za-z0-9_-]{16,}`, `\bgh[pousr]_[A-Za-z0-9]{20,}`, `\bgithub_pat_[A-Za-z0-9_]{20,}`, `\bglpat-[A-Za-z0-9_-]{16,}`,
	`\bAKIA[0-9A-Z]{16}\b`, `\bAIza[0-9A-Za-z_-]{30,}`, `\bxox[baprs]-[A-Za-z0-9-]{10,}`, `\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`,
	`://[^/\s:@]+:[^/\s:@]+@`,
}, "|"))

const cut = "[cut]"

// Redact cuts secrets and long texts out of arguments. What is no JSON is not
// kept at all.
func Redact(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return nil
	}
	var v any
	if json.Unmarshal(args, &v) != nil {
		return json.RawMessage(fmt.Sprintf(`"[%d bytes that are no JSON]"`, len(args)))
	}
	out, err := json.Marshal(redact("", v, 0))
	if err != nil || len(out) > 16<<10 {
		return json.RawMessage(fmt.Sprintf(`"[%d bytes]"`, len(args)))
	}
	return out
}

func redact(name string, v any, depth int) any {
	if depth > 16 {
		return cut
	}
	if name != "" && secretName.MatchString(name) {
		return cut
	}
	switch v := v.(type) {
	case string:
		return Text(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[Text(k)] = redact(k, e, depth+1)
		}
		return out
	case []any:
		for i := range v {
			v[i] = redact(name, v[i], depth+1)
		}
	}
	return v
}

// Text cuts secrets out of a text, and its end if it is long.
func Text(s string) string {
	s = secretText.ReplaceAllString(s, cut)
	if len(s) > maxArgument {
		s = strings.ToValidUTF8(s[:maxArgument], "") + fmt.Sprintf("[and %d bytes]", len(s)-maxArgument)
	}
	return s
}
