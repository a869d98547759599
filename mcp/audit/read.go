package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Filter chooses records; empty fields choose all.
type Filter struct {
	Instance, Tool, Level, Phase, Client, Key string
	Since                                     time.Time
	// Last bounds how many there are, the latest ones; 0 is no bound.
	Last int
}

func (f Filter) match(r *Record) bool {
	for _, p := range [][2]string{
		{f.Instance, r.Instance}, {f.Tool, r.Tool}, {f.Level, r.Level}, {f.Phase, r.Phase}, {f.Client, r.Client}, {f.Key, r.Key},
	} {
		if p[0] != "" && p[0] != p[1] {
			return false
		}
	}
	return f.Since.IsZero() || !r.Time.Before(f.Since)
}

// Read returns the records that a filter chooses, oldest first, and how many
// lines were none.
func (l *Log) Read(f Filter) (out []Record, damaged int, err error) {
	paths, err := l.old()
	if errors.Is(err, fs.ErrNotExist) {
		return []Record{}, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	out = []Record{}
	for _, p := range append(paths, l.Path()) {
		file, err := os.Open(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, damaged, err
		}
		in := bufio.NewScanner(file)
		in.Buffer(make([]byte, 64<<10), 1<<20)
		for in.Scan() {
			var r Record
			if json.Unmarshal(in.Bytes(), &r) != nil || r.Schema != Schema {
				damaged++
				continue
			}
			if f.match(&r) {
				out = append(out, r)
			}
			if f.Last > 0 && len(out) > 4*f.Last+64 {
				out = append([]Record{}, out[len(out)-f.Last:]...)
			}
		}
		err = errors.Join(in.Err(), file.Close())
		if err != nil {
			return nil, damaged, err
		}
	}
	if f.Last > 0 && len(out) > f.Last {
		out = out[len(out)-f.Last:]
	}
	return out, damaged, nil
}
