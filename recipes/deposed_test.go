package recipes_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// TestReadsAtADeposedLeader: the leader stood still, the others have elected another one, and a
// client has changed the object there. The client of the old leader sees the change, as the
// contract says. With SyncOnly it does not, until the old leader notices.
func TestReadsAtADeposedLeader(t *testing.T) {
	type object struct {
		change func(ctx context.Context) error
		sees   func(ctx context.Context) (changed bool, err error)
	}
	kinds := map[string]func(a, b Conn, opts ...Option) object{
		"Counter": func(a, b Conn, opts ...Option) object {
			reader, writer := NewCounter(a, "/c", opts...), NewCounter(b, "/c")
			return object{
				func(ctx context.Context) error { return errOf(writer.Add(ctx, 1)) },
				func(ctx context.Context) (bool, error) {
					n, err := reader.Get(ctx)
					return n == 1, err
				},
			}
		},
		"SharedValue": func(a, b Conn, opts ...Option) object {
			reader, writer := NewSharedValue(a, "/v", opts...), NewSharedValue(b, "/v")
			return object{
				func(ctx context.Context) error { return errOf(writer.Set(ctx, nil)) },
				func(ctx context.Context) (bool, error) {
					v, err := reader.Get(ctx)
					return v.Exists, err
				},
			}
		},
		"Barrier": func(a, b Conn, opts ...Option) object {
			return object{NewBarrier(b, "/b").Set, NewBarrier(a, "/b", opts...).IsSet}
		},
		"Queue": func(a, b Conn, opts ...Option) object {
			reader, writer := NewQueue(a, "/q", opts...), NewQueue(b, "/q")
			return object{
				func(ctx context.Context) error { return writer.Offer(ctx, nil) },
				func(ctx context.Context) (bool, error) { return errOf2(reader.Poll(ctx)) },
			}
		},
		"LockQueue": func(a, b Conn, opts ...Option) object {
			reader, writer := NewLockQueue(a, "/l", opts...), NewLockQueue(b, "/l")
			return object{
				func(ctx context.Context) error { return writer.Offer(ctx, nil) },
				func(ctx context.Context) (bool, error) { return errOf2(reader.Poll(ctx)) },
			}
		},
	}
	pause := fault.Fault{Kind: fault.PauseServer, Server: 3, For: 12 * time.Second, At: 1}
	for name, make := range kinds {
		for _, syncOnly := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s := fakezk.Start(t, fakezk.Options{Servers: 3})
				old, beside := connectTo(t, s, 3), connectTo(t, s, 1)
				var opts []Option
				if syncOnly {
					opts = append(opts, SyncOnly())
				}
				o := make(old, beside, opts...)
				sees := func(want bool) {
					t.Helper()
					changed, err := o.sees(t.Context())
					check.OK(t, err)
					check.Equal(t, changed, want, "%s, sync only %t: sees the change", name,
						syncOnly)
				}
				sees(false)
				check.OK(t, s.Inject(pause))
				time.Sleep(11 * time.Second)
				check.OK(t, o.change(t.Context()))
				time.Sleep(1500 * time.Millisecond)
				sees(!syncOnly)
				time.Sleep(5 * time.Second)
			})
		}
	}
}

// connectTo is a client of one server, with a session that outlives a server that stands still.
func connectTo(t *testing.T, s *fakezk.Server, server int) *zk.Conn {
	conn, _ := s.ConnectAs(t, fakezk.Client{Server: server, Timeout: 40 * time.Second})
	_, _, err := conn.Exists("/")
	check.OK(t, err)
	return conn
}
