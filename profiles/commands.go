package profiles

// CommandsIn returns the commands of a project's files and the file that each
// stands in. A later file's command takes the place of an earlier one's.
func CommandsIn(overlays []Overlay) (build, test []string, buildFile, testFile Overlay, err error) {
	for _, o := range overlays {
		d, err := parse(o)
		if err != nil {
			return nil, nil, Overlay{}, Overlay{}, err
		}
		var file overlay
		if err := d.decode(&file); err != nil {
			return nil, nil, Overlay{}, Overlay{}, err
		}
		if len(file.Commands.Build) > 0 {
			build, buildFile = file.Commands.Build, o
		}
		if len(file.Commands.Test) > 0 {
			test, testFile = file.Commands.Test, o
		}
	}
	return build, test, buildFile, testFile, nil
}
