package realworld_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
)

// TestGuestsMeetTheSameFaults: several runs at a time on servers of somebody else end as in a
// World, although there is no transaction log, and leave nothing behind.
func TestGuestsMeetTheSameFaults(t *testing.T) {
	t.Parallel()
	server := startReal(t)
	var all sync.WaitGroup
	for _, line := range soloFaults(true) {
		all.Go(func() {
			t.Run(line, func(t *testing.T) {
				sameInBothWorlds(t, realworld.At(server.Address()), line)
			})
		})
	}
	all.Wait()
	conn, _, err := zk.Connect([]string{server.Address()}, time.Second,
		zk.WithLogInfo(false))
	check.OK(t, err)
	defer conn.Close()
	names, _, err := conn.Children("/")
	check.OK(t, err)
	if len(names) != 1 { // zookeeper
		t.Errorf("left behind: %v", names)
	}
}

// TestGuestsKillNoServer: faults that end a server are refused.
func TestGuestsKillNoServer(t *testing.T) {
	t.Parallel()
	for _, kind := range []fault.Kind{fault.Restart, fault.FailoverKeep} {
		w := realworld.World{
			Servers: []realworld.Server{realworld.At("127.0.0.1:1"), realworld.At("127.0.0.1:2")},
			Plan:    []fault.Fault{{Kind: kind, For: time.Second, Request: 1}},
		}
		_, err := w.Run(t.Context())
		check.Contains(t, fmt.Sprint(err), "somebody else runs the servers", "%s", kind)
	}
}

// TestProbeNamesTheServer: one that does not answer, one that is no ZooKeeper, and one that grants
// no session that is short enough.
func TestProbeNamesTheServer(t *testing.T) {
	t.Parallel()
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	defer deaf.Close()
	slow := realzk.Start(t, realzk.Options{TickTime: 3 * time.Second})
	for _, test := range []struct {
		address, want string
		patience      time.Duration
	}{
		{"127.0.0.1:1", "connection refused", time.Minute},
		{deaf.Addr().String(), "no answer", 100 * time.Millisecond},
		{slow.Address(), "no session shorter than 6s; expected 4s", time.Minute},
		{"zk.example.invalid:80", "lookup", time.Minute},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), test.patience)
		_, err := realworld.Probe(ctx, []realworld.Server{realworld.At(test.address)},
			4*time.Second)
		cancel()
		if err == nil || !strings.Contains(err.Error(), test.address+": ") ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%v; want %s", err, test.want)
		}
	}
	quick := startReal(t)
	pace, err := realworld.Probe(t.Context(), []realworld.Server{quick}, 4*time.Second)
	check.OK(t, err)
	check.Equal(t, pace, realPace, "pace")
}

// TestTheRootOfAGuest is like that of a server: it cannot be deleted, and names of sequential nodes
// may be numbers only.
func TestTheRootOfAGuest(t *testing.T) {
	t.Parallel()
	server := startReal(t)
	script := func(told *[]string) func(context.Context, *realworld.Client) {
		return func(_ context.Context, c *realworld.Client) {
			tell := func(answer any, err error) {
				*told = append(*told, fmt.Sprint(answer, " ", err))
			}
			acl := zk.WorldACL(zk.PermAll)
			tell("", c.Conn().Delete("/", -1))
			tell(c.Conn().Create("/", nil, 0, acl))
			tell(c.Conn().Multi(&zk.DeleteRequest{Path: "/", Version: -1}))
			tell(c.Conn().Create("/q", nil, 0, acl))
			tell(c.Conn().Create("/q/", nil, zk.FlagSequence, acl))
			name, err := c.Conn().Create("/", nil, zk.FlagSequence, acl)
			tell(len(name), err) // a used server has a greater number
		}
	}
	var guest, host []string
	for _, run := range []struct {
		at   realworld.Server
		told *[]string
	}{{realworld.At(server.Address()), &guest}, {server, &host}} {
		_, err := realWorld(run.at, nil, script(run.told)).Run(t.Context())
		check.OK(t, err)
	}
	if diff := cmp.Diff(host, guest); diff != "" || len(host) != 6 {
		t.Errorf("-host +guest\n%s", diff)
	}
}

// TestAGuestDeletesWhatOnlyItsClientsMayRead: its proxy takes their identities, also for the record
// of the nodes.
func TestAGuestDeletesWhatOnlyItsClientsMayRead(t *testing.T) {
	t.Parallel()
	server := startReal(t)
	w := realWorld(realworld.At(server.Address()), nil,
		func(_ context.Context, c *realworld.Client) {
			check.OK(t, c.Conn().AddAuth("digest", []byte("me:secret")))
			for _, path := range []string{"/mine", "/mine/too"} {
				_, err := c.Conn().Create(path, nil, 0, zk.AuthACL(zk.PermAll))
				check.OK(t, err)
			}
		})
	result, err := w.Run(t.Context())
	check.OK(t, err)
	check.Equal(t, len(result.Nodes), 3, "nodes of %v", result.Nodes)
}
