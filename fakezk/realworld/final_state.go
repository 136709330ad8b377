package realworld

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/view"
)

// atRest is the state of the servers before the end.
type atRest struct {
	at       time.Duration
	zxid     int64 // the newest
	nodes    []view.Node
	sessions []view.Session
	watches  []view.Watch
	diverged string // how the servers differ
}

// noteAtRest returns the state of the servers before the end, and ends the journal. A node that
// cannot be read is an error: without it the record would have a gap.
func (r *run) noteAtRest(ctx context.Context) (last atRest, err error) {
	r.mu.Lock()
	r.journal.ended, last.at = true, r.clock.now()
	last.watches = r.proxy.watchesAtRest()
	r.mu.Unlock()
	if r.world.guest() {
		err = r.servers.fromOutside(ctx, func(conn *zk.Conn) error {
			return r.guest.noteAtRest(conn, &last)
		})
	} else {
		err = r.noteServersAtRest(ctx, &last)
	}
	if err == nil {
		last.diverged, err = r.servers.divergence(ctx, r.guest.root)
	}
	return last, err
}

// noteServersAtRest is for servers of our own.
func (r *run) noteServersAtRest(ctx context.Context, last *atRest) (err error) {
	var leader int
	if leader, last.zxid, err = r.servers.leader(ctx); err != nil {
		return err
	}
	if last.sessions, err = r.sessionsAtRest(ctx, leader); err != nil {
		return err
	}
	return r.servers.fromOutside(ctx, func(conn *zk.Conn) (err error) {
		last.nodes, err = guestRoot("").nodes(conn)
		return err
	})
}

// checkEnsemble returns an error if a server does not have the nodes of a run that has just begun:
// then the servers know nothing of each other.
func (s *servers) checkEnsemble(ctx context.Context, root guestRoot) error {
	differs, err := s.divergence(ctx, root)
	if err == nil && differs != "" {
		err = fmt.Errorf("%s are not of one ensemble: at the beginning of the run, %s",
			strings.Join(s.addresses(), ","), differs)
	}
	return err
}

// divergence says how the nodes of the clients differ at the servers of an ensemble, "" if they do
// not, or if fewer than two servers answer. It looks several times, since a session may end
// meanwhile.
//
// They differ in a real ensemble if a server has kept a write that was lost with a leader
// (ZOOKEEPER-5010). Nothing that a client does is right then.
func (s *servers) divergence(ctx context.Context, root guestRoot) (differs string, err error) {
	for try := 0; len(s.list) > 1 && (try == 0 || try < 5 && differs != ""); try++ {
		sleep(ctx, time.Duration(try)*roundPause)
		differs = ""
		first, nodes := 0, []view.Node(nil)
		for i, address := range s.addresses() {
			var those []view.Node
			err := s.connected(ctx, address, leastShare, func(conn *zk.Conn) (err error) {
				those, err = root.nodes(conn)
				return err
			})
			switch {
			case errors.As(err, new(unreachable)):
				continue
			case err != nil:
				return "", err
			case nodes == nil:
				first, nodes = i, those
			case differs == "":
				differs = difference(first, nodes, i, those)
			}
		}
	}
	return differs, nil
}

// difference says how the nodes of two servers differ, "" if they do not.
func difference(first int, nodes []view.Node, second int, those []view.Node) string {
	rest := map[string]view.Node{}
	for _, t := range those {
		rest[t.Path] = t
	}
	for _, n := range nodes {
		t, ok := rest[n.Path]
		delete(rest, n.Path)
		switch {
		case !ok || t.Czxid != n.Czxid:
			return onlyAt(n, first, second)
		case t.Mzxid != n.Mzxid:
			return fmt.Sprintf("%s has different data at servers %d and %d", n.Path, first+1, second+1)
		}
	}
	for _, t := range those {
		if _, ok := rest[t.Path]; ok {
			return onlyAt(t, second, first)
		}
	}
	return ""
}

func onlyAt(n view.Node, has, hasNot int) string {
	return fmt.Sprintf("server %d has a node %s, made at zxid %d, that server %d does not have",
		has+1, n.Path, n.Czxid, hasNot+1)
}

// leader asks the servers which of them leads, or is the only one, and returns the newest zxid that
// it knows. An ensemble that elects one is asked again.
func (s *servers) leader(ctx context.Context) (leader int, zxid int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	for {
		for i := range s.list {
			answer, wrong := s.fourLetters(ctx, i, "srvr")
			if wrong != nil {
				err = wrong
			} else if leads.MatchString(answer) {
				zxid, err = zxidIn(answer)
				return i, zxid, err
			}
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return 0, 0, fmt.Errorf("no server of %s leads: %w",
				strings.Join(s.addresses(), ","), errors.Join(ctx.Err(), err))
		}
	}
}

var leads = regexp.MustCompile(`(?m)^Mode: (leader|standalone)$`)

// zxidIn is the newest zxid in an answer to srvr.
func zxidIn(answer string) (int64, error) {
	for line := range strings.Lines(answer) {
		if digits, ok := strings.CutPrefix(strings.TrimSpace(line), "Zxid: 0x"); ok {
			return strconv.ParseInt(digits, 16, 64)
		}
	}
	return 0, fmt.Errorf("srvr: no zxid in %q", answer)
}

// sessionsAtRest are the clients' sessions that the server lists. It does not list them at one
// moment: a session that is heard of meanwhile moves to another set, and may be missed. A busy
// server may also close the connection before it has sent all of its answer. So it is asked often.
func (r *run) sessionsAtRest(ctx context.Context, leader int) ([]view.Session, error) {
	const times = 5
	listed := map[int64]bool{}
	for range times {
		answer, err := r.servers.fourLetters(ctx, leader, "dump")
		if err != nil {
			return nil, err
		}
		sets, _, _ := strings.Cut(answer, "ephemeral nodes dump:")
		for line := range strings.Lines(sets) {
			if id, ok := sessionOf(line); ok && r.hasSession(id) {
				listed[id] = true
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	list := []view.Session{}
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		list = append(list, view.Session{ID: id})
	}
	return list, nil
}

// hasSession reports whether a session is one of the clients.
func (r *run) hasSession(session int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[session] != nil
}

// sessionOf reads a line that holds the id of a session and nothing else.
func sessionOf(line string) (int64, bool) {
	digits, ok := strings.CutPrefix(strings.TrimSpace(line), "0x")
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseUint(digits, 16, 64)
	return int64(id), err == nil
}

// fourLetters asks a server a word.
func (s *servers) fourLetters(ctx context.Context, server int, word string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", s.list[server].Address())
	if err != nil {
		return "", fmt.Errorf("%s: %w", word, err)
	}
	defer closeQuietly(conn)
	defer context.AfterFunc(ctx, func() { closeQuietly(conn) })()
	if _, err := io.WriteString(conn, word); err != nil {
		return "", fmt.Errorf("%s: %w", word, err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return "", fmt.Errorf("%s: %w", word, err)
	}
	return string(answer), nil
}

// clean deletes all znodes of the server but its own.
func (s *servers) clean(ctx context.Context) error {
	return s.fromOutside(ctx, func(conn *zk.Conn) error { return deleteAll(conn, "/") })
}

// nodes are the nodes of the clients.
func (r guestRoot) nodes(conn *zk.Conn) ([]view.Node, error) {
	return r.appendNodes([]view.Node{}, conn, r.inside("/"))
}

// appendNodes appends a node and all below it, but for /zookeeper.
func (r guestRoot) appendNodes(list []view.Node, conn *zk.Conn, path string) ([]view.Node, error) {
	if path == "/zookeeper" {
		return list, nil
	}
	data, stat, err := conn.Get(path)
	if err != nil {
		return list, r.unread(path, err)
	}
	list = append(list, nodeAtRest(r.outside(path), data, stat))
	if stat.NumChildren == 0 {
		return list, nil
	}
	names, _, err := conn.Children(path)
	if err != nil {
		return list, r.unread(path, err)
	}
	slices.Sort(names)
	for _, name := range names {
		if list, err = r.appendNodes(list, conn, childOf(path, name)); err != nil {
			return list, err
		}
	}
	return list, nil
}

// unread is the error for a node that cannot be read, nil if it is gone.
func (r guestRoot) unread(path string, err error) error {
	if ignoreNoNode(err) == nil {
		return nil
	}
	return fmt.Errorf("read the node %s at the end of the run: %w", r.outside(path), err)
}

// childOf is the path of a child of a node.
func childOf(path, name string) string { return strings.TrimSuffix(path, "/") + "/" + name }

// ignoreNoNode is for nodes that go while one looks.
func ignoreNoNode(err error) error {
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// nodeAtRest returns the properties of a node that a client can read.
func nodeAtRest(path string, data []byte, stat *zk.Stat) view.Node {
	n := view.Node{
		Path: path, Data: data, Owner: stat.EphemeralOwner, Czxid: stat.Czxid, Mzxid: stat.Mzxid,
		Version: stat.Version, NumChildren: int(stat.NumChildren),
	}
	if n.Owner != 0 {
		n.Kind = view.EphemeralNode
	}
	return n
}
