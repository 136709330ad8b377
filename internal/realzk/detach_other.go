//go:build !linux

package realzk

import (
	"errors"
	"os/exec"
)

// detach does nothing: elsewhere a child cannot be bound to the end of its parent.
func detach(*exec.Cmd) {}

// standStill is only there on Linux.
func standStill(*exec.Cmd, bool) error { return errors.ErrUnsupported }

// killGroup kills a command, which has no children. The error is os.ErrProcessDone if it has ended.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
