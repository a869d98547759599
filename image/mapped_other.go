//go:build !unix

package image

// With opens an image for the time of use.
func With(path string, opt Options, use func(*Image) error) error {
	im, err := OpenWith(path, opt)
	if err != nil {
		return err
	}
	return use(im)
}
