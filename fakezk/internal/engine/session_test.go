package engine

import (
	"encoding/hex"
	"testing"
)

// The id and the password are of a session of a real 3.8.0.
func TestPasswordsAreZooKeepers(t *testing.T) {
	password := passwordOf(0x1000170efbd3029)
	if got, want := hex.EncodeToString(password[:]),
		"f3ab5d24dd3b738c848e6bbddd99d320"; got != want {
		t.Errorf("password %s; want %s", got, want)
	}
}
