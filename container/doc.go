// Package container brings up the containers of a session with podman: one pod
// with a private network, an editor container without a device, and a debug
// container with exactly one.
//
// podman is spoken to through its own bindings, over its service's Unix socket.
// Servers from 4.3 to 5.x are supported, as root and rootless. The bindings are
// linked only with the build tags containers_image_openpgp and
// exclude_graphdriver_btrfs (make sets them); without them every function answers
// with the fault missing-tool (exit status 11), and sessions run on the host.
//
// What the package holds to:
//
//   - A container is named by its full id alone, and its labels are checked
//     before anything is run in it: names and short ids can be taken by others.
//   - A container gets no privilege, no capability, no way to gain any, and at
//     most one device: a node, never a folder.
//   - podman cannot give a running container a device. When the pinned probe
//     comes back on another node, the debug container is made anew, and nothing
//     else is.
//   - Cancelling does not end a stream of the bindings by itself, and an attach
//     replaces their shared transport: each exec has a connection of its own,
//     whose sockets are closed when its context ends.
//
// The package must never choose a device, an image's contents, or what is run:
// package session says so.
package container
