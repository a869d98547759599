//go:build containers_image_openpgp && exclude_graphdriver_btrfs

package container

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	buildah "github.com/containers/buildah/define"
	"github.com/containers/podman/v5/pkg/bindings/images"
	entities "github.com/containers/podman/v5/pkg/domain/entities/types"
)

// Build builds a profile's image from the Containerfile.
func (e *Engine) Build(ctx context.Context, o BuildOptions, log io.Writer) error {
	dir, err := os.MkdirTemp("", "stem-hw-image")
	if err != nil {
		return fmt.Errorf("a folder for the image's recipe: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "Containerfile")
	if err := os.WriteFile(file, containerfile, 0o600); err != nil {
		return fmt.Errorf("the image's recipe: %w", err)
	}
	args := map[string]string{}
	if o.Base != "" {
		args["BASE"] = o.Base
	}
	network := buildah.NetworkDefault
	if o.Bare {
		args["PACKAGES"] = "no"
		network = buildah.NetworkDisabled
	}
	_, err = images.Build(e.with(ctx), []string{file}, entities.BuildOptions{BuildOptions: buildah.BuildOptions{
		ContextDirectory: dir, Output: Image(o.Profile), Target: o.Profile, Args: args, Out: log, Err: log, ReportWriter: log,
		CommonBuildOpts: &buildah.CommonBuildOptions{}, Isolation: buildah.IsolationOCI, ConfigureNetwork: network,
		Layers: true, RemoveIntermediateCtrs: true, ForceRmIntermediateCtrs: true, OutputFormat: buildah.OCIv1ImageManifest,
		PullPolicy: buildah.PullIfMissing,
	}})
	if err != nil {
		return fmt.Errorf("podman: the image of %s: %w", o.Profile, err)
	}
	return nil
}
