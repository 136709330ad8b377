package command

import (
	"errors"
	"fmt"
	"os"
)

// CheckDir makes the directory of a flag and checks, before any other work, that a file can be
// written there. An empty name is no error.
func CheckDir(flag, dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	probe, err := os.CreateTemp(dir, ".zksim-*")
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		return fmt.Errorf("%s: the directory %s cannot be written to: %w", flag, dir, path.Err)
	}
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}
