package hold

import (
	"context"
	"errors"
	"testing"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// TestGrantedWhileClosing: Close ends an operation's context a moment after it has marked the
// recipe as closed. A grant in between is given back, and the call returns an error.
func TestGrantedWhileClosing(t *testing.T) {
	never := context.Background()
	testconn.InBubble(t, func(t *testing.T, s *testconn.Server) {
		opts := request.NewOptions[func(*request.Options)](nil)
		line := &Turnstile{
			Dir: "/lock", Kind: "lock-", Markers: []string{"lock-"}, Opts: opts, Ahead: Predecessor,
		}
		l := NewHandle(s.Connect(), "/lock", opts, line)
		l.Tasks.Cancel(request.ErrClosed)
		granted := task.Start(func(t *task.Task[*Hold]) (*Hold, error) {
			return l.contend(l.Tasks.Sender(never), t, nil, nil, true)
		})
		if held, _, err := granted.Await(never); held != nil || !errors.Is(err, request.ErrClosed) {
			t.Errorf("%v, %v; want %v", held, err, request.ErrClosed)
		}
		s.WantBelow(t, "/lock", 0)
	})
}
