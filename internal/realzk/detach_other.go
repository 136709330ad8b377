//go:build !linux

package realzk

import "os/exec"

// detach does nothing where a child cannot be bound to our death.
func detach(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) {
	// An error means that it has just ended. The server starts no process.
	_ = cmd.Process.Kill()
}
