package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fakezk/tree"
	"github.com/zksim/zksim/fakezk/view"
)

// A DumpCommand is zksim dump with its flags.
type DumpCommand struct {
	Servers string   `arg:"" help:"Server to read from, or all of an ensemble, with commas between." placeholder:"HOST:PORT"`
	Path    string   `help:"Node to begin at; nodes elsewhere are left out." default:"/" placeholder:"PATH"`
	Auth    []string `help:"Identity for nodes with an ACL, such as digest:user:password; may be repeated." sep:"none" placeholder:"SCHEME:ID"`
	Format  string   `help:"Format of the tree: yaml or json." enum:"yaml,json" default:"yaml"`
}

// Help is the text of dump --help before the flags.
func (*DumpCommand) Help() string {
	return "It prints a tree file, which serve --load and tests read. It only reads, node by node, so " +
		"writes of others meanwhile may be in the tree or not. Quotas, and nodes of sessions, are left " +
		"out. So are nodes that it may not read, with all below them: it names them, and ends with " +
		"status 1. A server does not tell containers and TTL nodes from others; a copy of its data " +
		"directory, which serve --load reads, too, does."
}

const (
	// connectWithin is the time for a connection, and dumpTimeout the timeout of sessions.
	connectWithin, dumpTimeout = 10 * time.Second, 10 * time.Second
)

// Run reads the tree and prints it.
func (c *DumpCommand) Run(env *command.Env) error {
	d := dumping{refused: func(at string, err error) {
		env.PrintError(fmt.Errorf("%s, and all below it, is left out: %w", at, err))
	}}
	if err := c.dump(env, &d); err != nil {
		return fmt.Errorf("dump %s: %w", c.Servers, err)
	}
	return env.Ending(d.partial, nil)
}

func (c *DumpCommand) dump(env *command.Env, d *dumping) error {
	dials := dialing{}
	conn, events, err := zk.Connect(strings.Split(c.Servers, ","), dumpTimeout, zk.WithDialer(dials.dial),
		zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(env.Context, conn.Close)() // ends a request that waits
	if err := dials.awaitSession(env.Context, events); err != nil {
		return err
	}
	d.conn = conn
	if err := c.read(d); err != nil {
		return cmp.Or(context.Cause(env.Context), err)
	}
	return d.Write(env.Raw, tree.Format(c.Format))
}

// read reads the tree, with the identities of --auth.
func (c *DumpCommand) read(d *dumping) error {
	for _, auth := range c.Auth {
		scheme, id, found := strings.Cut(auth, ":")
		if !found {
			return fmt.Errorf("--auth: %q; expected a scheme and an identity, such as "+
				"digest:user:password", auth)
		}
		if err := d.conn.AddAuth(scheme, []byte(id)); err != nil {
			return fmt.Errorf("--auth: %s: %w", scheme, err)
		}
	}
	if err := d.add(c.Path); err != nil {
		return err
	}
	if d.Nodes == nil {
		return fmt.Errorf("%s: %w, or belongs to a session", c.Path, zk.ErrNoNode)
	}
	return nil
}

// dialing has the error of the latest dial, nil if it succeeded.
type dialing struct{ failure atomic.Pointer[error] }

func (d *dialing) dial(network, address string, within time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, within)
	d.failure.Store(&err)
	return conn, err
}

// awaitSession waits for the first session of a connection.
func (d *dialing) awaitSession(ctx context.Context, events <-chan zk.Event) error {
	late := time.NewTimer(connectWithin)
	defer late.Stop()
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return nil
			}
		case <-late.C:
			if err := d.failure.Load(); err != nil && *err != nil {
				return fmt.Errorf("no session within %s: %w", connectWithin, *err)
			}
			return fmt.Errorf("no session within %s", connectWithin)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// dumping is a tree that is read node by node.
type dumping struct {
	tree.Tree
	conn    *zk.Conn
	refused func(at string, err error) // is told of nodes that may not be read
	partial bool                       // there were some
}

// add reads a node and all below it. One that is deleted meanwhile is left out, and so is one that
// may not be read, unless it is the first.
func (d *dumping) add(at string) error {
	spec, children, err := d.read(at)
	for late := time.Now().Add(connectWithin); isLost(err) && time.Now().Before(late); {
		spec, children, err = d.read(at) // waits for the next connection
	}
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil
	case errors.Is(err, zk.ErrNoAuth) && d.Nodes != nil:
		d.refused(at, err)
		d.partial = true
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", at, err)
	}
	if spec != nil {
		d.Nodes = append(d.Nodes, *spec)
	}
	slices.Sort(children)
	for _, name := range children {
		if child := path.Join(at, name); child != "/zookeeper" {
			if err := d.add(child); err != nil {
				return err
			}
		}
	}
	return nil
}

// isLost reports whether the error of a read says that there was no connection.
func isLost(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer)
}

// read reads a node. spec is nil if a session owns the node.
func (d *dumping) read(at string) (spec *view.NodeSpec, children []string, err error) {
	data, _, err := d.conn.Get(at)
	if err != nil {
		return nil, nil, err
	}
	acl, _, err := d.conn.GetACL(at)
	if err != nil {
		return nil, nil, err
	}
	children, stat, err := d.conn.Children(at)
	if err != nil {
		return nil, nil, err
	}
	d.Zxid = max(d.Zxid, stat.Czxid, stat.Mzxid, stat.Pzxid)
	if stat.EphemeralOwner != 0 {
		return nil, nil, nil
	}
	// The server's count of changes has a deletion for each child that it no longer has.
	spec = &view.NodeSpec{Path: at, Data: data, Next: (stat.Cversion + stat.NumChildren) / 2}
	for _, a := range acl {
		spec.ACL = append(spec.ACL, view.ACL{Perms: a.Perms, Scheme: a.Scheme, ID: a.ID})
	}
	return spec, children, nil
}
