package realworld

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
)

// servers are the servers of a World, as they are reached past the proxy. Its methods lock the
// mutex, but for noteIdentity.
type servers struct {
	list    []Server
	timeout time.Duration // of sessions, in real time
	mu      *sync.Mutex

	answering int          // the server that has answered last past the proxy
	ids       []proto.Auth // of the clients of a guest
}

// addresses are those of the servers themselves.
func (s *servers) addresses() (list []string) {
	for _, server := range s.list {
		list = append(list, server.Address())
	}
	return list
}

// clientAddresses are those that clients dial.
func (s *servers) clientAddresses() []string { return carry.Addresses(len(s.list)) }

// subject begins a line about one of several servers, which have the numbers from 1.
func (s *servers) subject(server int) string {
	if len(s.list) == 1 {
		return ""
	}
	return fmt.Sprintf("server %d ", server+1)
}

// to is the part of a line that says which of several servers a client has reached.
func (s *servers) to(server int) string {
	if len(s.list) == 1 {
		return ""
	}
	return fmt.Sprintf(" to server %d", server+1)
}

// fromOutside does something on a connection past the proxy, until ctx is done. If the connection
// is lost it does it again at the next server: do must bear that.
func (s *servers) fromOutside(ctx context.Context, do func(*zk.Conn) error) error {
	return s.atSomeServer(ctx, func(address string, within time.Duration) error {
		return s.connected(ctx, address, within, do)
	})
}

// unreachable is the error of a try at a server with which there was no connection, or which has
// lost it. Another try may succeed.
type unreachable struct{ error }

func (u unreachable) Unwrap() error { return u.error }

// atSomeServer calls try with one server after the other, and with the time in which that server
// must be reached, as long as the error is unreachable. It gives up when ctx is done, or when no
// server could be reached within serverPatience. It begins with the server that has answered last.
func (s *servers) atSomeServer(
	ctx context.Context, try func(address string, within time.Duration) error,
) error {
	servers := s.addresses()
	troubles := make([]error, len(servers))
	began, first := time.Now(), s.answeredLast(nil)
	until := began.Add(serverPatience)
	if end, ok := ctx.Deadline(); ok && end.Before(until) {
		until = end
	}
	for tries := 0; ctx.Err() == nil && (tries == 0 || time.Now().Before(until)); tries++ {
		server := (first + tries) % len(servers)
		untried := len(servers) - tries%len(servers)
		err := try(servers[server], share(time.Until(until), untried))
		var trouble unreachable
		again := errors.As(err, &trouble)
		if !again {
			s.answeredLast(&server)
			return err
		}
		if troubles[server] == nil || !errors.Is(trouble, errNoAnswer) {
			troubles[server] = trouble.error // a later try has less time
		}
		if untried == 1 {
			sleep(ctx, roundPause)
		}
	}
	return notReached(ctx, servers, troubles, time.Since(began))
}

// answeredLast is the server that has answered last past the proxy; now is that server if it is not
// nil.
func (s *servers) answeredLast(now *int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now != nil {
		s.answering = *now
	}
	return s.answering
}

// share is the time for one of the servers that are still untried in this round. They share the
// rest of the time with another round.
func share(rest time.Duration, untried int) time.Duration {
	return max(rest/time.Duration(untried+1), leastShare)
}

const (
	// leastShare is the least time in which a server must be reached.
	leastShare = 500 * time.Millisecond
	// roundPause is between two rounds of tries at all servers.
	roundPause = 200 * time.Millisecond
)

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// notReached says what was wrong with each server, and how long it was tried. The reason for an
// early end of ctx says enough.
func notReached(
	ctx context.Context, servers []string, troubles []error, tried time.Duration,
) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return reasonOf(ctx)
	}
	var list []string
	for i, address := range servers {
		if troubles[i] != nil {
			list = append(list, fmt.Sprintf("%s: %v", address, troubles[i]))
		}
	}
	if list == nil { // there was no time left
		return reasonOf(ctx)
	}
	return fmt.Errorf("tried for %s: %s", tried.Round(time.Second/10), strings.Join(list, "; "))
}

// connected does something on a connection past the proxy to a server. The connection must be there
// within a time, and the server have the newest changes. The error is unreachable if it is not, or
// if the connection is lost later.
func (s *servers) connected(
	ctx context.Context, address string, within time.Duration, do func(*zk.Conn) error,
) error {
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	d := dialer{ctx: ctx, failed: hangUp}
	conn, _, err := zk.Connect([]string{address}, serverPatience/2, zk.WithDialer(d.dial),
		zk.WithHostProvider(&oneServer{}), zk.WithLogger(zkclient.Quiet{}), zk.WithLogInfo(false))
	if err != nil {
		return err // only a wrong option of ours can do it
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, conn.Close)() // ends the requests that wait
	late := time.AfterFunc(within, hangUp)
	err = s.introduce(conn)
	if !late.Stop() {
		return unreachable{noAnswerWithin(within)}
	}
	if err == nil {
		err = do(conn)
	}
	switch {
	case isLost(err):
		return unreachable{d.reason(err)}
	case err != nil:
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}

var errNoAnswer = errors.New("no answer")

func noAnswerWithin(d time.Duration) error {
	return fmt.Errorf("%w within %s", errNoAnswer, d.Round(time.Second/10))
}

// isLost reports whether a request has an error because its connection, or its session, has ended.
func isLost(err error) bool {
	for _, end := range []error{zk.ErrConnectionClosed, zk.ErrNoServer, zk.ErrClosing,
		zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrAuthFailed} {
		if errors.Is(err, end) {
			return true
		}
	}
	var trouble net.Error
	ok := errors.As(err, &trouble)
	return ok
}

// oneServer is the address of a connection. The dialer looks up its name: a look-up ends with ctx,
// too.
type oneServer struct {
	address string
	dialed  bool
}

func (o *oneServer) Init(servers []string) error {
	o.address = servers[0]
	return nil
}

func (o *oneServer) Len() int   { return 1 }
func (o *oneServer) Connected() { o.dialed = false }
func (o *oneServer) Next() (server string, retryStart bool) {
	again := o.dialed
	o.dialed = true
	return o.address, again
}

// dialer dials for a connection until ctx is done. When a dial has failed it calls failed: the
// client itself would let its requests wait and dial again.
type dialer struct {
	ctx    context.Context
	failed func()

	mu  sync.Mutex
	err error
}

func (d *dialer) dial(network, address string, _ time.Duration) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(d.ctx, network, address)
	if err == nil {
		context.AfterFunc(d.ctx, func() { closeQuietly(conn) })
		return conn, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() == nil {
		d.err = err
		d.failed()
	}
	return nil, err
}

// reason is why the requests of a connection have failed.
func (d *dialer) reason(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.err != nil:
		return d.err
	case d.ctx.Err() != nil:
		return errors.New("not finished in time")
	case errors.Is(err, zk.ErrNoServer):
		return errors.New("it accepts no session")
	}
	return err
}

// introduce gives a connection past the proxy its identities. Then it lets the server, which may be
// a follower, get the newest changes.
func (s *servers) introduce(conn *zk.Conn) error {
	for _, id := range s.identities() {
		if err := conn.AddAuth(id.Scheme, id.Data); err != nil {
			return err
		}
	}
	_, err := conn.Sync("/")
	return err
}

// identities are those of a connection past the proxy: everybody that the clients of a guest have
// been, or the superuser.
func (s *servers) identities() []proto.Auth {
	if !isGuest(s.list) {
		return []proto.Auth{{Scheme: "digest", Data: []byte(SuperPassword)}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ids)
}

// noteIdentity notes by which authentication a client of a guest has become somebody: nobody else
// may be allowed to read or to delete its nodes.
func (s *servers) noteIdentity(q *request) {
	auth, ok := q.Body.(*proto.Auth)
	known := func(id proto.Auth) bool {
		return ok && id.Scheme == auth.Scheme && bytes.Equal(id.Data, auth.Data)
	}
	if ok && isGuest(s.list) && !slices.ContainsFunc(s.ids, known) {
		s.ids = append(s.ids, *auth)
	}
}
