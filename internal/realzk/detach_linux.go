package realzk

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// detach gives a command its own process group and lets it die with this process.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// standStill stops a command and its children, or lets them go on.
func standStill(cmd *exec.Cmd, still bool) error {
	signal := syscall.SIGCONT
	if still {
		signal = syscall.SIGSTOP
	}
	return syscall.Kill(-cmd.Process.Pid, signal)
}

// killGroup kills a command and its children. The error is os.ErrProcessDone if they have ended.
func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
