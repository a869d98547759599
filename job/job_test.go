package job

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stem-hw/stem-hw/faults"
)

func open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func request(t *testing.T, s *Store, text string) Request {
	t.Helper()
	digest, n, err := s.Keep(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return Request{Kind: "flash", Instance: "i", Board: "sim:x", Serial: "S1", Chip: "C1", SHA256: digest, Size: n, Name: "a.elf", Requester: Requester{Account: "me", Client: "c"}}
}

func add(t *testing.T, s *Store, r Request) *Job {
	t.Helper()
	j, _, err := s.Add(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestDuplicates: twenty requests at once that mean the same are one.
func TestDuplicates(t *testing.T) {
	s := open(t)
	r := request(t, s, "image")
	var mu sync.Mutex
	ids, fresh := map[string]bool{}, 0
	var wg sync.WaitGroup
	for range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			j, f, err := s.Add(context.Background(), r)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			ids[j.ID] = true
			if f {
				fresh++
			}
		}()
	}
	wg.Wait()
	if len(ids) != 1 || fresh != 1 {
		t.Fatalf("%v, %d", ids, fresh)
	}
	other := r
	other.Board = "sim:y"
	if j := add(t, s, other); ids[j.ID] {
		t.Error("another board is another job")
	}
	// Once it is over, the same is a new one.
	for id := range ids {
		if _, err := s.Reject(context.Background(), id, "me", "no"); err != nil {
			t.Fatal(err)
		}
	}
	if j := add(t, s, r); ids[j.ID] || j.State != AwaitingApproval {
		t.Errorf("%+v", j)
	}
}

// fake is a runner that says what it is told.
type fake struct {
	check, write []error
	wrote        []string
	texts        []string
}

func pop(l *[]error) error {
	if len(*l) == 0 {
		return nil
	}
	e := (*l)[0]
	*l = (*l)[1:]
	return e
}

func (f *fake) Check(context.Context, *Job) error { return pop(&f.check) }
func (f *fake) Write(_ context.Context, j *Job, image string) (json.RawMessage, error) {
	if err := pop(&f.write); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(image)
	f.wrote, f.texts = append(f.wrote, j.ID), append(f.texts, string(text))
	return json.RawMessage(`{"ok":true}`), err
}
func (f *fake) Verify(context.Context, *Job, string) error { return nil }

func noPause(context.Context, time.Duration) error { return nil }

func TestWork(t *testing.T) {
	ctx := context.Background()
	busy := &faults.Fault{Code: faults.CodeBusy, Summary: "busy"}
	other := &faults.Fault{Code: faults.CodeOtherChip, Summary: "another chip"}
	for name, tt := range map[string]struct {
		runner   fake
		want     State
		attempts int
	}{
		"well":                    {fake{}, Flashed, 1},
		"busy twice":              {fake{check: []error{busy, busy}}, Flashed, 3},
		"busy for ever":           {fake{check: []error{busy, busy, busy, busy}}, FlashFailed, 3},
		"another chip is final":   {fake{check: []error{other}}, FlashFailed, 1},
		"a failed write is final": {fake{write: []error{&faults.Fault{Code: faults.CodeVerify, Summary: "differs"}}}, FlashFailed, 1},
	} {
		s := open(t)
		j := add(t, s, request(t, s, "image"))
		// Nothing is done that nobody approved.
		if _, err := s.Work(ctx, &tt.runner, noPause); err != nil || len(tt.runner.wrote) != 0 {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := s.Approve(ctx, j.ID, "me", "another digest"); faults.StatusOf(err) != faults.StatusRefused {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Approve(ctx, j.ID, "me", j.SHA256); err != nil {
			t.Fatal(err)
		}
		if ok, err := s.Work(ctx, &tt.runner, noPause); err != nil || !ok {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := s.Get(ctx, j.ID)
		if err != nil || got.State != tt.want || got.Attempts != tt.attempts || got.Approver != "me" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if tt.want == Flashed && (len(tt.runner.texts) != 1 || tt.runner.texts[0] != "image") {
			t.Errorf("%s: %q", name, tt.runner.texts)
		}
		if _, err := s.Cancel(ctx, j.ID, "me"); faults.StatusOf(err) != faults.StatusRefused {
			t.Errorf("%s: a job that is over was cancelled: %v", name, err)
		}
	}
}

// TestApprovedIsWritten: an image that changed in the state folder is not written.
func TestApprovedIsWritten(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	j := add(t, s, request(t, s, "image"))
	if _, err := s.Approve(ctx, j.ID, "me", j.SHA256); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.ImagePath(j.SHA256), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	var r fake
	if _, err := s.Work(ctx, &r, noPause); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Get(ctx, j.ID); got.State != FlashFailed || len(r.wrote) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestExpiry(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	waits, approved := add(t, s, request(t, s, "1")), add(t, s, request(t, s, "2"))
	if _, err := s.Approve(ctx, approved.ID, "me", approved.SHA256); err != nil {
		t.Fatal(err)
	}
	now = now.Add(Life + time.Second)
	var r fake
	if _, err := s.Work(ctx, &r, noPause); err != nil || len(r.wrote) != 0 {
		t.Fatalf("%v %v", r.wrote, err)
	}
	for _, id := range []string{waits.ID, approved.ID} {
		if got, err := s.Get(ctx, id); err != nil || got.State != Expired {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if _, err := s.Approve(ctx, waits.ID, "me", waits.SHA256); faults.StatusOf(err) != faults.StatusRefused {
		t.Errorf("%v", err)
	}
}

// TestResume: what a worker that was killed had begun goes on, and counts.
func TestResume(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	j := add(t, s, request(t, s, "image"))
	if _, err := s.Approve(ctx, j.ID, "me", j.SHA256); err != nil {
		t.Fatal(err)
	}
	if _, err := s.change(ctx, j.ID, Flashing, "w", "", &set{attempt: true}); err != nil {
		t.Fatal(err)
	}
	var r fake
	if _, err := s.Work(ctx, &r, noPause); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Get(ctx, j.ID); got.State != Flashed || got.Attempts != 2 {
		t.Errorf("%+v", got)
	}
}

// TestMigrations: a queue of the first version is brought to the newest with what
// is in it; one of a newer program is left alone.
func TestMigrations(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "jobs"), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "jobs", "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{migrations[0], "PRAGMA user_version = 1", `INSERT INTO jobs (id, kind, instance, board, serial, chip, image, sha256, size, options, live_key,
		requester, state, created, updated, expires) VALUES ('abcdefghijkl', 'flash', 'i', 'sim:x', 'S', 'C', 'a.elf', 'd', 1, '[]', 'k', '{"account":"me"}', 'flashed', 1, 1, 1)`} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	j, err := s.Get(ctx, "abcd")
	if err != nil || j.State != Flashed || j.Requester.Account != "me" {
		t.Fatalf("%+v, %v", j, err)
	}
	r := request(t, s, "x")
	r.Reason = "why"
	if j := add(t, s, r); j.Reason != "why" {
		t.Errorf("%+v", j)
	}
	if _, err := s.db.ExecContext(ctx, "PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, dir); !faults.Is(err, faults.CodeBadState) {
		t.Errorf("%v", err)
	}
}
