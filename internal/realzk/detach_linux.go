package realzk

import (
	"os/exec"
	"syscall"
)

// detach gives a command a process group of its own and lets it die with us.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(cmd *exec.Cmd) {
	// An error means that it has just ended.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
