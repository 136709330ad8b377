package gallery_test

import (
	"context"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
)

// dialing is a workload whose code dials by itself.
func dialing(w scenario.Workload) scenario.Workload {
	play := w.Play
	w.Play = func(p *scenario.Player, s scenario.Script) {
		conn, events, err := zk.Connect([]string{p.Address()}, scenario.SessionTimeout,
			zk.WithLogger(silent{}), zk.WithLogInfo(false))
		if err != nil {
			panic(err)
		}
		context.AfterFunc(p.Context(), conn.Close) // what is left at rest is judged
		p.UseConn(conn, events)
		play(p, s)
	}
	return w
}

// notByDial says why an exhibit does not show when it dials by itself.
var notByDial = map[string]string{
	"own-name-of-old-session": "its holder hears of the end of its session before a pause ends; " +
		"on a connection of its own all that follows the reply waits, too",
}

// leaves reports whether the client package leaves behind what is left: this one does not.
func leaves(*scenario.Outcome) bool { return false }

type silent struct{}

func (silent) Printf(string, ...any) {}
