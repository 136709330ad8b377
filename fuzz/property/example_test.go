package property_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/property"
	"pgregory.net/rapid"
)

// announcer keeps the address of a service in an ephemeral znode. It is a plain service, no recipe.
type announcer struct {
	conn    *zk.Conn
	path    string
	address atomic.Value // a string
	// once is the bug: the announcer does not look whether its znode is still there.
	once bool
}

// announce stores an address and keeps it there.
func (a *announcer) announce(address string) { a.address.Store(address) }

// run looks after the znode once a second.
func (a *announcer) run(ctx context.Context) {
	stored := ""
	for ctx.Err() == nil {
		address, _ := a.address.Load().(string)
		if address != "" && (!a.once || stored != address) && a.store(address) == nil {
			stored = address
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

func (a *announcer) store(address string) error {
	_, stat, err := a.conn.Get(a.path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
	case err != nil:
		return err
	case stat.EphemeralOwner == a.conn.SessionID():
		_, err = a.conn.Set(a.path, []byte(address), -1)
		return err
	default: // of a session that has ended, or is about to
		if err := a.conn.Delete(a.path, stat.Version); err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
	}
	_, err = a.conn.Create(a.path, []byte(address), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	return err
}

// announces is the property: half a minute after the last action, the tree has the address that was
// announced last.
func announces(once bool) func(rt *rapid.T, w *property.World) {
	return func(rt *rapid.T, w *property.World) {
		a := &announcer{conn: w.Conn("a"), path: "/service", once: once}
		ctx, stop := context.WithCancel(w.Context())
		defer stop()
		w.Go("a", func() { a.run(ctx) })
		want := ""
		rt.Repeat(map[string]func(*rapid.T){
			"announce": func(rt *rapid.T) {
				want = rapid.StringMatching(`[a-z]{1,4}:80`).Draw(rt, "address")
				a.announce(want)
			},
			"wait": func(*rapid.T) { w.Sleep(30 * time.Second) },
			"look": func(rt *rapid.T) {
				w.Sleep(30 * time.Second)
				if got := w.Tree("/")["/service"]; got != want {
					rt.Fatalf("the tree has the address %q; expected %q", got, want)
				}
			},
		})
		stop()
	}
}

// The test of a service that announces its address.
func ExampleCheck() {
	var t *testing.T // of the test
	property.Check(t, announces(false))
}
