package child

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"

	"github.com/stem-hw/stem-hw/faults"
)

// Find returns the path of a program, or a fault that says which package of
// Debian has it. pkg may be empty where there is no such package.
func Find(program, pkg string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		return path, nil
	}
	f := &faults.Fault{
		Code: faults.CodeMissingTool, Status: faults.StatusMissingTool,
		Summary: fmt.Sprintf("the program %s is not installed", program),
		Wanted:  program + " on the PATH",
	}
	if errors.Is(err, fs.ErrPermission) {
		f.Summary = fmt.Sprintf("the program %s may not be executed", program)
	}
	if pkg != "" {
		f.Try = []string{"sudo apt-get install " + pkg}
	}
	return "", f
}
