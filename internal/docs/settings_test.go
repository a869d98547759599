package docs

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"github.com/stem-hw/stem-hw/profiles"
)

// TestSettingsDocument compares docs/settings.md with the settings there are.
func TestSettingsDocument(t *testing.T) {
	src, err := os.ReadFile(filepath.Join("..", "..", "docs", "settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\|").FindAllStringSubmatch(string(src), -1) {
		documented[m[1]] = true
	}
	want := map[string]bool{"profile": true}
	tables := reflect.TypeOf(profiles.Settings{})
	for i := range tables.NumField() {
		table := tables.Field(i)
		for j := range table.Type.NumField() {
			want[table.Tag.Get("toml")+"."+table.Type.Field(j).Tag.Get("toml")] = true
		}
	}
	if len(want) < 10 {
		t.Fatalf("only %v", want)
	}
	for k := range want {
		if !documented[k] {
			t.Errorf("docs/settings.md lacks %s", k)
		}
	}
	for k := range documented {
		if !want[k] {
			t.Errorf("docs/settings.md has %s, which does not exist", k)
		}
	}
}
