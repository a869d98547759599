package virtual

import (
	"encoding/hex"
	"testing"
)

// FuzzParseConfig reads configuration descriptors, which firmware makes.
func FuzzParseConfig(f *testing.F) {
	for _, s := range []string{
		// The SDK's serial port with its reset interface.
		"0902540003010080 7d080b0002020200000904000001020200040524002001052401000104240206052406000107058103080010" +
			"090401" + "00020a00000007050202400000070582024000000904020000ff000105",
		"0902200001010080320904000002ff000000" + "07050102400000" + "07058202400000",
	} {
		b, err := hex.DecodeString(trimmed(s))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := parseConfig(b)
		if len(p.endpoints)*7+len(p.interfaces)*9 > len(b) {
			t.Fatalf("%d bytes are %+v", len(b), p)
		}
	})
}

func trimmed(s string) (out string) {
	for _, c := range s {
		if c != ' ' {
			out += string(c)
		}
	}
	return out
}
