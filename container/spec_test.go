package container

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stem-hw/stem-hw/faults"
)

func TestContainerIsChecked(t *testing.T) {
	good := func() Spec {
		return Spec{
			Pod: strings.Repeat("0a", 32), Session: "0123abcd-4567cdef", Role: RoleDebug, Image: "x", Device: "/dev/bus/usb/001/017",
			Binds: []Bind{{Source: "/home/u/card", Target: "/home/u/card"}},
		}
	}
	s := good()
	if err := s.check(); err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(*Spec){
		"a short id":                func(s *Spec) { s.Pod = s.Pod[:12] },
		"a name in place of an id":  func(s *Spec) { s.Pod = "stem" },
		"no label":                  func(s *Spec) { s.Session = "" },
		"an unknown role":           func(s *Spec) { s.Role = "x" },
		"a device for the editor":   func(s *Spec) { s.Role = RoleEditor },
		"a folder of devices":       func(s *Spec) { s.Device = "/dev/bus/usb" },
		"a folder with a bus":       func(s *Spec) { s.Device = "/dev/bus/usb/001" },
		"another device":            func(s *Spec) { s.Device = "/dev/sda" },
		"a way up":                  func(s *Spec) { s.Device = "/dev/bus/usb/001/../002/003" },
		"a renamed device":          func(s *Spec) { s.Device = "/dev/bus/usb/001/017:/dev/bus/usb/009/001" },
		"devices as a folder":       func(s *Spec) { s.Binds[0].Source = "/dev/bus/usb" },
		"devices as a folder there": func(s *Spec) { s.Binds[0].Target = "/dev" },
		"the whole computer":        func(s *Spec) { s.Binds[0].Source = "/" },
		"a relative path":           func(s *Spec) { s.Binds[0].Source = "card" },
		"a path with a way up":      func(s *Spec) { s.Binds[0].Target = "/home/u/../v" },
	} {
		s := good()
		spoil(&s)
		if s.check() == nil {
			t.Errorf("%s was taken", what)
		}
	}
}

func TestEverythingNeedsAFullID(t *testing.T) {
	for _, id := range []string{"", "stem", "0123456789ab", strings.Repeat("A", 64), strings.Repeat("0", 63) + "/"} {
		if checkID(id) == nil {
			t.Errorf("%q was taken", id)
		}
	}
}

func TestNoPodman(t *testing.T) {
	_, err := Connect(context.Background(), "unix:///nonexistent/podman.sock")
	if faults.StatusOf(err) != faults.StatusMissingTool {
		t.Errorf("%v", err)
	}
	if !Built && !errors.Is(err, ErrNotBuilt) {
		t.Errorf("%v", err)
	}
	if Answers("unix:///nonexistent/podman.sock") {
		t.Error("nobody listens there")
	}
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	if got := Socket(env(map[string]string{"CONTAINER_HOST": "unix:///x"})); got != "unix:///x" {
		t.Error(got)
	}
	if _, err := Serve(context.Background(), nil, env(map[string]string{"CONTAINER_HOST": "unix:///nonexistent/x"}), t.TempDir()); faults.StatusOf(err) != faults.StatusMissingTool {
		t.Errorf("%v", err)
	}
}

func TestRecipe(t *testing.T) {
	text := string(containerfile)
	for _, p := range []string{"rp2350", "hazard3-sim", "native-amd64"} {
		if !strings.Contains(text, " AS "+p+"\n") {
			t.Errorf("the recipe has no stage %s", p)
		}
		if i := Image(p); !strings.HasPrefix(i, "localhost/stem-hw/"+p+":") {
			t.Error(i)
		}
	}
	if !strings.Contains(text, "ARG BASE=") || !strings.Contains(text, "FROM ${BASE} AS base") {
		t.Error("the base is no argument")
	}
}
