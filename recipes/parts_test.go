package recipes_test

import (
	"testing"

	. "github.com/zksim/zksim/recipes"
)

func TestFlappingConnectionIsNotTakenForClosed(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		for i := range 30 {
			c.On("create", i+1, loseRequest)
		}
		l := NewLock(c, "/l")
		mustLock(t, l)
		mustUnlock(t, l)
	})
}
