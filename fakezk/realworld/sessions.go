package realworld

import (
	"maps"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// sessions are those of the clients, by id. None is ever removed.
type sessions map[int64]*session

// session is a session of a client.
type session struct {
	client   *Client
	password []byte
	timeout  time.Duration  // that the server has granted
	lastSent time.Time      // when the newest frame went to a server
	expired  time.Time      // when a fault began to end it
	over     bool           // a fault, its client or the server has ended it
	marked   bool           // a guest has made its nodes
	began    proto.LogEntry // of a guest at rest, without a zxid if it is unknown
	ended    proto.LogEntry // likewise, if it has ended
}

// of are the sessions of a client that have not ended, as far as the proxy knows.
func (s sessions) of(c *Client) (list []int64) {
	for _, id := range s.ids() {
		if s[id].client == c && !s[id].over {
			list = append(list, id)
		}
	}
	return list
}

// ids are those of all sessions, in order.
func (s sessions) ids() []int64 { return slices.Sorted(maps.Keys(s)) }
