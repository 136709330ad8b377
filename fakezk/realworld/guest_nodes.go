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
	"github.com/zksim/zksim/fakezk/internal/tracetext"
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

// LeftError is the error of a run whose nodes are left on servers of somebody else. While the nodes
// are in use its text is a note of package inflight: for the process that outlives the run.
type LeftError struct {
	root    string // of the run
	servers string // their addresses
	why     error  // nil in a note
}

func (e *LeftError) Error() string {
	text := fmt.Sprintf("%s is left on %s: deleteall %[1]s in zkCli.sh deletes it", e.root,
		e.servers)
	if e.why != nil {
		text += fmt.Sprintf(" (%v)", e.why)
	}
	return text
}

func (e *LeftError) Unwrap() error { return e.why }

// IsLeft reports whether a note of package inflight is the text of a LeftError.
func IsLeft(note []byte) bool { return bytes.HasPrefix(note, []byte(rootPrefix)) }

// cleanUpPatience is how long, in real time, a guest tries to make its nodes, to end its sessions,
// and to delete its nodes: that long each.
const cleanUpPatience = 10 * time.Second

// createNodes makes the nodes of a guest. It is not interrupted: a node of a request under way
// could be made after deleteNodes. If no node can have been made, the run has no root.
func (r *run) createNodes() error {
	root := rootPrefix + strings.ToLower(rand.Text()[:12])
	mayExist := false // the root: it was made, or an answer was lost
	return r.withPatience(func(conn *zk.Conn) error {
		r.noteRoot(root)
		err := createNode(conn, root)
		if mayExist = mayExist || err == nil || isLost(err); !mayExist {
			r.endNote()
			r.root = ""
		}
		for _, node := range []string{treeNode, sessionsNode} {
			if err == nil {
				err = createNode(conn, root+node)
			}
		}
		return err
	})
}

// noteRoot notes the root of the run, for the process that outlives this one, before it is made.
func (r *run) noteRoot(root string) {
	if r.root == "" {
		r.root = root
		r.endNote = inflight.Note(func() []byte { return []byte(r.leftError(nil).Error()) })
	}
}

// createNode makes a node that everybody may use. One that is there already was made by an earlier
// try, since its name, or that of its parent, is random.
func createNode(conn *zk.Conn, path string) error {
	_, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return nil
}

// deleteNodes ends the sessions of a guest and deletes its nodes, also after an interrupt.
func (r *run) deleteNodes() error {
	defer r.endNote()
	ended := r.endSessions()
	err := r.withPatience(func(conn *zk.Conn) error { return deleteAll(conn, r.root) })
	if err != nil {
		return r.leftError(err) // a session that has not ended is the lesser trouble
	}
	return ended
}

func (r *run) leftError(why error) error {
	return &LeftError{r.root, strings.Join(r.world.serverAddresses(), ","), why}
}

// endSessions ends the sessions of a guest. Those that no server ends in time end by themselves.
func (r *run) endSessions() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpPatience)
	defer cancel()
	r.mu.Lock()
	sessions := maps.Clone(r.sessions)
	r.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		err := r.atSomeServer(ctx, func(address string, within time.Duration) error {
			ctx, cancel := context.WithTimeoutCause(ctx, within, noAnswerWithin(within))
			defer cancel()
			if err := r.endSessionAt(ctx, address, id, sessions[id].password); err != nil {
				return unreachable{err}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("end session %s: %w", tracetext.Session(id), err)
		}
	}
	return nil
}

// withPatience is fromOutside for at most cleanUpPatience, also after an interrupt.
func (r *run) withPatience(do func(*zk.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpPatience)
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
