package realworld

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/inflight"
)

// rootPrefix begins the name of the node of a guest: the root of its run.
const rootPrefix = "/zksim-"

// The nodes of a guest, below the root of the run: the root of its clients, and one node for each
// session. Below that of a session stands an ephemeral node as long as the session lives, and its
// zxids tell when the session began and ended.
const (
	treeNode     = "/tree"
	sessionsNode = "/sessions"
	aliveNode    = "/alive"
)

// LeftError is the error of a run whose node is left on servers of somebody else. While the node is
// in use its text is a note of package inflight: for the process that outlives the run.
type LeftError struct {
	node, servers string
	why           error // nil in a note
}

func (e *LeftError) Error() string {
	text := fmt.Sprintf("%s is left on %s: deleteall %[1]s in zkCli.sh deletes it", e.node,
		e.servers)
	if e.why != nil {
		text += fmt.Sprintf(" (%v)", e.why)
	}
	return text
}

func (e *LeftError) Unwrap() error { return e.why }

// IsLeft reports whether a note of package inflight is the text of a LeftError.
func IsLeft(note []byte) bool { return bytes.HasPrefix(note, []byte(rootPrefix)) }

// leavePatience is how long, in real time, a guest tries to end its sessions, and how long it then
// tries to delete its nodes.
const leavePatience = 10 * time.Second

// createNodes makes the nodes of a guest. It is not interrupted: a node of a request under way could
// be made after deleteNodes.
func (r *run) createNodes() error {
	r.root = rootPrefix + strings.ToLower(rand.Text()[:12])
	r.endNote = inflight.Note(func() []byte { return []byte(r.left(nil).Error()) })
	return r.withPatience(func(conn *zk.Conn) error {
		for _, name := range []string{"", treeNode, sessionsNode} {
			if _, err := conn.Create(r.root+name, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				return fmt.Errorf("create %s: %w", r.root+name, err)
			}
		}
		return nil
	})
}

// deleteNodes ends the sessions of a guest and deletes its nodes, also after an interrupt.
func (r *run) deleteNodes() error {
	defer r.endNote()
	ended := r.endSessions()
	err := r.withPatience(func(conn *zk.Conn) error { return deleteAll(conn, r.root) })
	if err != nil {
		return r.left(errors.Join(ended, err))
	}
	return ended
}

func (r *run) left(why error) error {
	return &LeftError{r.root, strings.Join(r.world.serverAddresses(), ","), why}
}

// endSessions ends the sessions of a guest. If no server ends one of them the others end in time,
// by themselves: each try may take long.
func (r *run) endSessions() error {
	ctx, cancel := context.WithTimeout(context.Background(), leavePatience)
	defer cancel()
	r.mu.Lock()
	sessions := maps.Clone(r.sessions)
	r.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		if err := r.endSession(ctx, id, sessions[id].password); err != nil {
			return err
		}
	}
	return nil
}

// withPatience is fromOutside for at most leavePatience, also after an interrupt.
func (r *run) withPatience(do func(*zk.Conn) error) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), leavePatience,
		fmt.Errorf("no answer within %s", leavePatience))
	defer cancel()
	return r.fromOutside(ctx, do)
}

// noteIdentity notes by which authentication a client of a guest has become somebody: nobody else
// may be allowed to read or to delete its nodes.
func (r *run) noteIdentity(q *request) {
	auth, ok := q.Body.(*proto.Auth)
	known := func(id proto.Auth) bool {
		return ok && id.Scheme == auth.Scheme && bytes.Equal(id.Data, auth.Data)
	}
	if ok && r.world.guest() && !slices.ContainsFunc(r.ids, known) {
		r.ids = append(r.ids, *auth)
	}
}

// authenticate makes a connection past the proxy the superuser, if the servers know it, and
// everybody that the clients of a guest have been.
func (r *run) authenticate(conn *zk.Conn) error {
	r.mu.Lock()
	ids := slices.Concat([]proto.Auth{{Scheme: "digest", Data: []byte(SuperPassword)}}, r.ids)
	r.mu.Unlock()
	for _, id := range ids {
		if err := conn.AddAuth(id.Scheme, id.Data); err != nil {
			return err
		}
	}
	return nil
}
