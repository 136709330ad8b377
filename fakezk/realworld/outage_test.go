package realworld

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/internal/check"
)

// stillServer is a server that notes when it stands still and when it goes on.
type stillServer struct {
	Server
	began time.Time
	notes []string
}

func (s *stillServer) StandStill(still bool) error {
	s.notes = append(s.notes, fmt.Sprintf("%t at %s", still, time.Since(s.began)))
	return nil
}

// TestFaultsThatOverlapStopAServerOnce, until the last of them is over. A server that is down is
// left alone.
func TestFaultsThatOverlapStopAServerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mu, s := &sync.Mutex{}, &stillServer{began: time.Now()}
		c := &clock{pace: 2, start: time.Now()}
		o := &outages{mu: mu, clock: c, journal: &journal{clock: c}, spells: map[spell]int{},
			servers: &servers{list: []Server{s, s}}, down: map[int]bool{1: true}}
		o.proxy = &proxy{mu: mu, clock: c, outages: o, ctx: t.Context()}
		pause := func(server int, d time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			f := fault.Fault{Kind: fault.PauseServer, For: d}
			driver{o.proxy}.PauseServer(server, &carry.Armed{Fault: f}, 0)
		}
		pause(0, 8*time.Second)
		time.Sleep(time.Second)
		pause(0, 4*time.Second)
		pause(1, time.Second)
		o.proxy.background.Wait()
		pause(0, 2*time.Second)
		o.proxy.background.Wait()
		check.List(t, s.notes, []string{"true at 0s", "false at 4s", "true at 4s", "false at 5s"},
			"what the server does")
		check.OK(t, o.journal.trouble())
		ctx, cancel := context.WithCancel(t.Context())
		o.proxy.ctx = ctx
		pause(0, time.Hour)
		cancel() // the scripts have ended
		o.proxy.background.Wait()
		check.Equal(t, s.notes[len(s.notes)-1], "false at 5s", "at the end of the run")
	})
}
