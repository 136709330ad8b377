package sim

import (
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
)

// A client that has dialed all its servers in vain fails the requests that wait for a connection
// with ErrNoServer, and pauses for a second. The client itself would do so while the callers ask
// again: the scheduler would decide whether it fails a second request of theirs. So the World does
// it at rest, one request after the other, and the client never learns that it has tried all (see
// worldHosts).

// retryPause is the client's pause.
const retryPause = time.Second

// failDial lets a dial fail, after the pause if it is the last of all servers.
func (s *simulation) failDial(d *dialing, err error) {
	end := func() { d.end(dialResult{err: err}) }
	if d.connect == 0 || s.closing.Load() || !s.hasTriedAll(d) {
		end()
		return
	}
	s.failUnsent(d)
	s.agenda.Schedule(s.agenda.Now()+retryPause, end)
}

// hasTriedAll counts a dial that fails, and reports whether the client has dialed all servers since
// it was connected, or since it has paused.
func (s *simulation) hasTriedAll(d *dialing) bool {
	if d.client.failedDials == nil {
		d.client.failedDials = map[int]int{}
	}
	d.client.failedDials[d.connect]++
	return d.client.failedDials[d.connect]%s.world.servers() == 0
}

// failUnsent fails the requests that wait for the connection.
func (s *simulation) failUnsent(d *dialing) {
	c := d.client
	conn := c.conn(d.connect)
	if conn == nil || c.dead.Load() {
		return
	}
	unsent := zkclient.TakeUnsent(conn)
	if len(unsent) == 0 {
		return
	}
	s.record.Log(c.name, "fails what it has not sent: %v", zk.ErrNoServer)
	for _, request := range unsent {
		s.agenda.Schedule(s.agenda.Now(), func() {
			c.markWoken()
			request.Fail(zk.ErrNoServer)
		})
	}
}
