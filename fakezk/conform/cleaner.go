package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// A cleaner is a client with the superuser's rights: scripts create nodes that only the
// superuser may delete.
type cleaner struct {
	link    *link
	fresh   bool // the server has no other client, and no other nodes
	start   mark // taken when it got its session
	session int64
	xid     int32
	t       Target
}

// SuperPassword is the superuser's name and password, with which the comparison
// authenticates itself by the scheme digest.
const SuperPassword = "super:zksim"

// SuperDigest is the digest of SuperPassword, with which a server must be started:
//
//	-Dzookeeper.DigestAuthenticationProvider.superDigest=super:...
var SuperDigest = Digest(SuperPassword)

func newCleaner(ctx context.Context, t Target, fresh bool) (*cleaner, error) {
	l, err := dial(ctx, t)
	if err != nil {
		return nil, err
	}
	c := &cleaner{link: l, fresh: fresh, t: t}
	if err := c.begin(ctx); err != nil {
		c.close(ctx)
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return c, nil
}

// close ends the session, so that it does not expire during a later comparison, and the
// connection. It does so even if ctx is done.
func (c *cleaner) close(ctx context.Context) {
	if c.session != 0 {
		ctx, cancel := cleanupContext(ctx)
		defer cancel()
		_, _ = c.call(ctx, &proto.Simple{Code: proto.OpCloseSession}) // else it expires
	}
	c.link.close()
}

// cleanupContext returns a context for cleaning up, even if ctx is done.
func cleanupContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}

// begin gets a session and the superuser's rights.
func (c *cleaner) begin(ctx context.Context) error {
	connect := proto.ConnectRequest{TimeoutMs: 60_000, Password: make([]byte, 16)}
	c.link.write(wire.AppendConnectRequest(nil, connect))
	frame, err := c.receive(ctx)
	if err != nil {
		return err
	}
	resp, ok := connectResponse(frame)
	if !ok || resp.SessionID == 0 {
		return fmt.Errorf("no session: answered % x", frame)
	}
	c.session = resp.SessionID
	if c.start, err = c.mark(ctx); err != nil {
		return err
	}
	if c.fresh {
		if err := c.checkUnused(ctx); err != nil {
			return err
		}
	}
	auth, err := c.call(ctx, &proto.Auth{Scheme: "digest", Data: []byte(SuperPassword)})
	if err == nil && auth.code != proto.OK {
		err = fmt.Errorf("auth: %s", auth.code)
	}
	if err != nil {
		return err
	}
	// Only the superuser may write here.
	set, err := c.call(ctx, &proto.SetData{Path: "/zookeeper/config", Version: -7})
	if err == nil && set.code == proto.NoAuth {
		err = fmt.Errorf("it does not know the superuser; it needs "+
			"-Dzookeeper.DigestAuthenticationProvider.superDigest=%s", SuperDigest)
	}
	return err
}

// checkUnused returns an error if the root has ever been changed.
func (c *cleaner) checkUnused(ctx context.Context) error {
	a, err := c.call(ctx, &proto.GetChildren{Code: proto.OpGetChildren2, Path: "/"})
	if err != nil {
		return err
	}
	root, ok := a.body.(proto.ChildrenStatReply)
	if !ok || !slices.Equal(root.Names, []string{"zookeeper"}) ||
		root.Stat.Cversion != -1 || root.Stat.Version != 0 {
		return errors.New("not a fresh server: the root has or had other nodes")
	}
	return nil
}

// answer is the reply to one request.
type answer struct {
	zxid int64
	code proto.ErrCode
	body proto.Reply
}

func (c *cleaner) call(ctx context.Context, req proto.Request) (answer, error) {
	c.xid++
	c.link.write(wire.AppendRequest(nil, c.xid, req))
	for {
		frame, err := c.receive(ctx)
		if err != nil {
			return answer{}, fmt.Errorf("%s: %w", req.Op(), err)
		}
		h, body, err := wire.DecodeReplyHeader(frame)
		if err != nil {
			return answer{}, err
		}
		if h.Xid != c.xid {
			continue // an event
		}
		a := answer{zxid: h.Zxid, code: h.Err}
		if h.Err == proto.OK && len(body) > 0 {
			a.body, err = wire.DecodeReply(req.Op(), body)
		}
		return a, err
	}
}

func (c *cleaner) receive(ctx context.Context) ([]byte, error) {
	frame, status := c.link.next(ctx)
	switch status {
	case ended:
		return nil, errors.New(c.link.ending())
	case silent:
		return nil, fmt.Errorf("no answer within %s", c.link.patience)
	case canceled:
		return nil, context.Cause(ctx)
	}
	return frame, nil
}

// mark returns the server's last zxid with the present time.
func (c *cleaner) mark(ctx context.Context) (mark, error) {
	earliest := nowMs()
	a, err := c.call(ctx, &proto.Exists{Path: "/"})
	return mark{zxid: a.zxid, earliest: earliest, latest: nowMs()}, err
}

// systemNodes are the nodes that cannot be deleted.
var systemNodes = []string{"/zookeeper", "/zookeeper/config", "/zookeeper/quota"}

// clean deletes the nodes of scripts: those below Root and its quota, and on a fresh
// server all others, too.
func (c *cleaner) clean(ctx context.Context) error {
	roots := []string{Root, "/zookeeper/quota" + Root}
	if c.fresh {
		roots = []string{"/"}
	}
	for _, path := range roots {
		if err := c.remove(ctx, path); err != nil {
			return fmt.Errorf("clean up: %w", err)
		}
	}
	return nil
}

// remove deletes a node and its descendants.
func (c *cleaner) remove(ctx context.Context, path string) error {
	list, err := c.call(ctx, &proto.GetChildren{Code: proto.OpGetChildren, Path: path})
	if err != nil || list.code == proto.NoNode {
		return err
	}
	children, _ := list.body.(proto.ChildrenReply)
	slices.Sort(children.Names)
	for _, name := range children.Names {
		child := path + "/" + name
		if path == "/" {
			child = path + name
		}
		if err := c.remove(ctx, child); err != nil {
			return err
		}
	}
	if path == "/" || slices.Contains(systemNodes, path) {
		return nil
	}
	del, err := c.call(ctx, &proto.Delete{Path: path, Version: -1})
	if err == nil && del.code != proto.OK && del.code != proto.NoNode {
		err = fmt.Errorf("delete %s: %s", path, del.code)
	}
	return err
}

// restoreRoot sets the data and the ACL of "/", which scripts for fresh servers change, to
// those of a new server.
func (c *cleaner) restoreRoot(ctx context.Context) error {
	for _, req := range []proto.Request{
		&proto.SetACL{Path: "/", ACL: worldNode(proto.OpCreate, "/", "").ACL, Version: -1},
		&proto.SetData{Path: "/", Data: []byte{}, Version: -1},
	} {
		a, err := c.call(ctx, req)
		if err == nil && a.code != proto.OK {
			err = fmt.Errorf("restore the root: %s: %s", req.Op(), a.code)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cleaner) makeRoot(ctx context.Context) error {
	a, err := c.call(ctx, worldNode(proto.OpCreate, Root, ""))
	if err == nil && a.code != proto.OK {
		err = fmt.Errorf("create %s: %s", Root, a.code)
	}
	return err
}
