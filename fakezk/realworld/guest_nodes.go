package realworld

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

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

// guest makes and deletes the nodes of a run on servers of somebody else. Its methods are called
// without the mutex.
type guest struct {
	mu        *sync.Mutex // of the sessions and exchanges
	servers   *servers
	sessions  sessions
	exchanges *exchanges

	root    guestRoot // "" on servers of our own, and until it is made
	endNote func()    // ends the note that the root is there
}

// cleanUpPatience is how long, in real time, a guest tries to make its nodes, to end its sessions,
// and to delete its nodes: that long each.
const cleanUpPatience = 10 * time.Second

// createNodes makes the nodes of a guest. It is not interrupted: a node of a request under way
// could be made after deleteNodes. If no node can have been made, the run has no root.
func (g *guest) createNodes() error {
	root := rootPrefix + strings.ToLower(rand.Text()[:12])
	mayExist := false // the root: it was made, or an answer was lost
	return g.withPatience(func(conn *zk.Conn) error {
		g.noteRoot(guestRoot(root))
		err := createNode(conn, root)
		if mayExist = mayExist || err == nil || isLost(err); !mayExist {
			g.endNote()
			g.root = ""
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
func (g *guest) noteRoot(root guestRoot) {
	if g.root == "" {
		g.root = root
		g.endNote = inflight.Note(func() []byte { return []byte(g.leftError(nil).Error()) })
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
func (g *guest) deleteNodes() error {
	if g.root == "" {
		return nil
	}
	defer g.endNote()
	ended := g.endSessions()
	err := g.withPatience(func(conn *zk.Conn) error { return deleteAll(conn, string(g.root)) })
	if err != nil {
		return g.leftError(err) // a session that has not ended is the lesser trouble
	}
	return ended
}

func (g *guest) leftError(why error) error {
	return &LeftError{string(g.root), strings.Join(g.servers.addresses(), ","), why}
}

// endSessions ends the sessions of a guest. Those that no server ends in time end by themselves.
func (g *guest) endSessions() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpPatience)
	defer cancel()
	sessions := g.sessionsNow()
	for _, id := range sessions.ids() {
		err := g.servers.atSomeServer(ctx, func(address string, within time.Duration) error {
			ctx, cancel := context.WithTimeoutCause(ctx, within, noAnswerWithin(within))
			defer cancel()
			if err := g.servers.endSessionAt(ctx, address, id, sessions[id].password); err != nil {
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
func (g *guest) withPatience(do func(*zk.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpPatience)
	defer cancel()
	return g.servers.fromOutside(ctx, do)
}

// sessionsNow are the sessions of the moment.
func (g *guest) sessionsNow() sessions {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.sessions)
}
