package realworld

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
)

// TestAServerThatDoesNotAnswerHoldsNobody: what is done past the proxy, and the end of a session,
// end with their contexts.
func TestAServerThatDoesNotAnswerHoldsNobody(t *testing.T) {
	t.Parallel()
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	defer deaf.Close()
	s := newRun(World{Servers: []Server{At(deaf.Addr().String())}}).servers
	enough := errors.New("enough")
	for name, do := range map[string]func(context.Context) error{
		"outside": func(ctx context.Context) error {
			return s.fromOutside(ctx, func(*zk.Conn) error { return nil })
		},
		"session": func(ctx context.Context) error { return s.endSession(ctx, 1, nil) },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			conn, err := deaf.Accept()
			if err == nil {
				defer conn.Close()
			}
			cancel(enough)
		}()
		err := do(ctx)
		if !errors.Is(err, enough) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v; want that its context has ended", name, err)
		}
	}
}

// TestALeftNodeIsANote: the error is told from the notes of scenarios.
func TestALeftNodeIsANote(t *testing.T) {
	t.Parallel()
	g := newRun(World{Servers: []Server{At("a:1"), At("b:2")}}).guest
	g.root = rootPrefix + "x"
	const want = "/zksim-x is left on a:1,b:2: deleteall /zksim-x in zkCli.sh deletes it"
	check.Equal(t, g.leftError(nil).Error(), want)
	check.Equal(t, g.leftError(zk.ErrClosing).Error(), want+" ("+zk.ErrClosing.Error()+")")
	check.Equal(t, IsLeft([]byte(want)), true)
	check.Equal(t, IsLeft([]byte(`{"workload":"lock"}`)), false)
	check.Is(t, g.leftError(zk.ErrClosing), zk.ErrClosing)
}
