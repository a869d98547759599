package child

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// The watcher learns of groups from its standard input, one a line, and kills
// those it still knows when the input ends. It knows numbers only.
const watcherScript = `trap '' TERM INT HUP QUIT PIPE
groups=' '
while read -r op id; do
	case $op in
	+) groups="$groups$id " ;;
	-) groups="${groups%% $id *} ${groups#* $id }" ;;
	esac
done
for id in $groups; do kill -s KILL -- "-$id" 2>/dev/null; done
`

// watcher is the process that outlives a killed owner by a moment.
type watcher struct {
	mu   sync.Mutex
	cmd  *exec.Cmd
	pipe *os.File // write end; the only one in any process
}

func startWatcher() (*watcher, error) {
	r, w, err := os.Pipe() // close-on-exec, so no child inherits the write end
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", watcherScript)
	cmd.Stdin = r
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	// A session of its own: a ctrl-c or a killed group does not reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("start the watcher of child processes: %w", err)
	}
	return &watcher{cmd: cmd, pipe: w}, nil
}

// add and remove tell the watcher of a group.
func (w *watcher) add(pgid int) error    { return w.tell('+', pgid) }
func (w *watcher) remove(pgid int) error { return w.tell('-', pgid) }

func (w *watcher) tell(op byte, pgid int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := fmt.Fprintf(w.pipe, "%c %d\n", op, pgid)
	return err
}

// stop ends the watcher. The groups it still knows are killed.
func (w *watcher) stop() {
	w.pipe.Close()
	_ = w.cmd.Wait() // how it ended does not matter: it knows nothing any more
}
