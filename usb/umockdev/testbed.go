//go:build cgo

package umockdev

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

typedef struct { unsigned int domain; int code; char *message; } stem_error;

static void *stem_lib, *stem_gobject;

static const char *stem_load(void) {
	if (stem_lib) return NULL;
	stem_gobject = dlopen("libgobject-2.0.so.0", RTLD_NOW | RTLD_GLOBAL);
	stem_lib = dlopen("libumockdev.so.0", RTLD_NOW | RTLD_GLOBAL);
	if (!stem_lib || !stem_gobject) return dlerror();
	return NULL;
}
static void *stem_new(void) {
	void *(*f)(void) = (void *(*)(void))dlsym(stem_lib, "umockdev_testbed_new");
	return f ? f() : NULL;
}
static const char *stem_root(void *t) {
	char *(*f)(void *) = (char *(*)(void *))dlsym(stem_lib, "umockdev_testbed_get_root_dir");
	return f(t);
}
static const char *stem_add(void *t, const char *text) {
	int (*f)(void *, const char *, stem_error **) = (int (*)(void *, const char *, stem_error **))dlsym(stem_lib, "umockdev_testbed_add_from_string");
	stem_error *e = NULL;
	f(t, text, &e);
	return e ? e->message : NULL;
}
static void stem_event(void *t, const char *path, const char *action) {
	void (*f)(void *, const char *, const char *) = (void (*)(void *, const char *, const char *))dlsym(stem_lib, "umockdev_testbed_uevent");
	f(t, path, action);
}
static void stem_remove(void *t, const char *path) {
	void (*f)(void *, const char *) = (void (*)(void *, const char *))dlsym(stem_lib, "umockdev_testbed_remove_device");
	f(t, path);
}
static void stem_unref(void *t) {
	void (*f)(void *) = (void (*)(void *))dlsym(stem_gobject, "g_object_unref");
	f(t);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// Testbed is a made-up machine. There is one at a time in a process.
type Testbed struct{ ptr unsafe.Pointer }

// New makes a machine without devices.
func New() (*Testbed, error) {
	if msg := C.stem_load(); msg != nil {
		return nil, fmt.Errorf("libumockdev cannot be loaded: %s", C.GoString(msg))
	}
	p := C.stem_new()
	if p == nil {
		return nil, errors.New("libumockdev makes no testbed")
	}
	return &Testbed{p}, nil
}

// Root is the folder that stands for "/".
func (t *Testbed) Root() string { return C.GoString(C.stem_root(t.ptr)) }

// Add adds the devices of a text.
func (t *Testbed) Add(text string) error {
	c := C.CString(text)
	defer C.free(unsafe.Pointer(c))
	if msg := C.stem_add(t.ptr, c); msg != nil {
		return errors.New(C.GoString(msg))
	}
	return nil
}

// Event sends a message about a device, named by its path with /sys.
func (t *Testbed) Event(path, action string) {
	p, a := C.CString(path), C.CString(action)
	defer C.free(unsafe.Pointer(p))
	defer C.free(unsafe.Pointer(a))
	C.stem_event(t.ptr, p, a)
}

// Remove takes a device away, with those below it.
func (t *Testbed) Remove(path string) {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	C.stem_remove(t.ptr, p)
}

// Close ends the machine.
func (t *Testbed) Close() { C.stem_unref(t.ptr) }
