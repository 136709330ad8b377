package gallery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var plantedRivals = []Exhibit{
	{
		Title: "deletes again without a reply", Property: linearizability.Safety,
		Wrong: rivalsOf(rivalDefects{deleteAgain: true}),
	},
	{
		Title: "writes into whatever is there", Property: linearizability.Safety,
		Wrong: rivalsOf(rivalDefects{seize: true}),
	},
	{
		Title: "does not take over", Property: linearizability.Presence,
		Wrong: rivalsOf(rivalDefects{giveUp: true}),
	},
	{
		Title: "takes another's node for its own", Property: linearizability.Presence,
		Wrong: rivalsOf(rivalDefects{adopt: true}),
	},
	{
		Title: "does not mind what others write into its node", Property: linearizability.Presence,
		Wrong: rivalsOf(rivalDefects{careless: true}),
	},
	{
		Title: "sees nothing any more beside what it may not read", Property: linearizability.Answers,
		Wrong: rivalsOf(rivalDefects{blind: true}),
	},
	{
		Title: "shows again what was before", Property: linearizability.Answers,
		Wrong: rivalsOf(rivalDefects{back: true}),
	},
}

type rivalDefects struct {
	deleteAgain bool // a deletion without a reply is repeated, whose node it may be
	seize       bool // its data is written into a node of another
	giveUp      bool // it does not try again when the node was another's
	adopt       bool // a node that exists is its own
	careless    bool // the data is written once
	blind       bool // a view that fails shows what was shown before
	back        bool // every other view is the one before
}

func rivalsOf(bad rivalDefects) scenario.Workload {
	return beside(object.Membership(func(env object.Env) object.Roster {
		return &plainRival{conn: env.Conn, path: membersDir + "/" + env.Name, bad: bad}
	}, object.MembershipClaims{Rivals: true}).Named(""), membersDir)
}

// plainRival keeps a node in a few lines: a loop looks at it and repairs it. It is
// right without faults, with one defect more for each flag.
type plainRival struct {
	conn *zk.Conn
	path string
	bad  rivalDefects
	data string
	stop context.CancelFunc // of the loop; nil: the node is not wanted
	idle chan struct{}
	seen []string
}

var errTaken = errors.New("it is another's")

// Join waits until the node is there.
func (n *plainRival) Join(ctx context.Context, data string) error {
	n.data = data
	err := n.repair()
	if n.stop == nil && !(n.bad.giveUp && errors.Is(err, errTaken)) {
		loop, stop := context.WithCancel(context.WithoutCancel(ctx))
		n.stop, n.idle = stop, make(chan struct{})
		go n.loop(loop, n.idle)
	}
	return err
}

// loop repairs the node whenever something happens to it.
func (n *plainRival) loop(ctx context.Context, idle chan struct{}) {
	defer close(idle)
	for ctx.Err() == nil {
		_, _, changed, err := n.conn.ExistsW(n.path)
		if err == nil {
			err = n.repair()
		}
		switch {
		case n.bad.giveUp && errors.Is(err, errTaken):
			return
		case err == nil, errors.Is(err, errTaken):
			if untilEvent(ctx, changed) != nil {
				return
			}
		default:
			awaitChange(ctx, after(200*time.Millisecond))
		}
	}
}

// repair looks at the node, and makes it what it should be.
func (n *plainRival) repair() error {
	_, err := n.conn.Create(n.path, []byte(n.data), zk.FlagEphemeral, acl)
	if errors.Is(err, zk.ErrNodeExists) && n.bad.adopt {
		return nil
	}
	if !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	data, stat, err := n.conn.Get(n.path)
	switch {
	case err != nil:
		return err
	case stat.EphemeralOwner != n.conn.SessionID() && !n.bad.seize:
		return errTaken
	case string(data) == n.data || n.bad.careless:
		return nil
	}
	_, err = n.conn.Set(n.path, []byte(n.data), stat.Version)
	return err
}

func (n *plainRival) Leave(ctx context.Context) error {
	if n.stop != nil {
		n.stop()
		<-n.idle
		n.stop = nil
	}
	for {
		_, stat, err := n.conn.Get(n.path)
		if err != nil || stat.EphemeralOwner != n.conn.SessionID() {
			return gone(err)
		}
		err = n.conn.Delete(n.path, stat.Version)
		for n.bad.deleteAgain && errors.Is(err, zk.ErrConnectionClosed) && ctx.Err() == nil {
			err = n.conn.Delete(n.path, -1)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

func (n *plainRival) View(context.Context) (string, error) {
	shown, err := n.look()
	if err != nil && n.bad.blind && len(n.seen) > 0 {
		return n.seen[len(n.seen)-1], nil
	}
	if err != nil {
		return "", err
	}
	n.seen = append(n.seen, shown)
	if n.bad.back && len(n.seen) > 2 {
		return n.seen[len(n.seen)-3], nil
	}
	return shown, nil
}

// look lists the group and reads what may be read.
func (n *plainRival) look() (string, error) {
	names, _, err := n.conn.Children(membersDir)
	if err != nil {
		return "", gone(err)
	}
	var entries []string
	for _, name := range names {
		data, _, err := n.conn.Get(membersDir + "/" + name)
		switch {
		case errors.Is(err, zk.ErrNoAuth) && !n.bad.blind, errors.Is(err, zk.ErrNoNode):
		case err != nil && n.bad.blind:
			return "", nil
		case err != nil:
			return "", err
		default:
			entries = append(entries, fmt.Sprintf("%s=%s", name, data))
		}
	}
	return strings.Join(entries, ","), nil
}
