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

// noteAtRest notes the server's state before the end, and ends the journal.
func (r *run) noteAtRest(ctx context.Context) error {
	r.mu.Lock()
	r.ended, r.out.Elapsed = true, r.now()
	r.out.Watches = r.watchesAtRest()
	r.mu.Unlock()
	if r.world.guest() {
		return r.fromOutside(ctx, r.noteGuestAtRest)
	}
	leader, zxid, err := r.leader(ctx)
	if err != nil {
		return err
	}
	r.restZxid = zxid
	if r.out.Sessions, err = r.sessionsAtRest(ctx, leader); err != nil {
		return err
	}
	return r.fromOutside(ctx, r.noteNodes)
}

// noteNodes notes the nodes of the clients. A node that cannot be read is an error: without it the
// record would have a gap.
func (r *run) noteNodes(conn *zk.Conn) error {
	r.out.Nodes = []view.Node{}
	return r.noteNodesFrom(conn, r.inside("/"))
}

// leader asks the servers which of them leads, or is the only one, and returns the newest zxid that
// it knows. An ensemble that elects one is asked again.
func (r *run) leader(ctx context.Context) (leader int, zxid int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	for {
		for i := range r.world.Servers {
			answer, wrong := r.fourLetters(ctx, i, "srvr")
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
				strings.Join(r.world.serverAddresses(), ","), errors.Join(ctx.Err(), err))
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
		answer, err := r.fourLetters(ctx, leader, "dump")
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
	return r.out.SessionClient[session] != ""
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
func (r *run) fourLetters(ctx context.Context, server int, word string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", r.world.Servers[server].Address())
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
func (r *run) clean(ctx context.Context) error {
	return r.fromOutside(ctx, func(conn *zk.Conn) error { return deleteAll(conn, "/") })
}

// noteNodesFrom notes a node and all below it, but for /zookeeper.
func (r *run) noteNodesFrom(conn *zk.Conn, path string) error {
	if path == "/zookeeper" {
		return nil
	}
	data, stat, err := conn.Get(path)
	if err != nil {
		return r.unread(path, err)
	}
	r.out.Nodes = append(r.out.Nodes, nodeAtRest(r.outside(path), data, stat))
	if stat.NumChildren == 0 {
		return nil
	}
	names, _, err := conn.Children(path)
	if err != nil {
		return r.unread(path, err)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := r.noteNodesFrom(conn, childOf(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// unread is the error for a node that cannot be read, nil if it is gone.
func (r *run) unread(path string, err error) error {
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
