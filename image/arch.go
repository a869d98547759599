package image

// arch fills Arch from the image definition where the container is silent.
func (im *Image) arch() {}
