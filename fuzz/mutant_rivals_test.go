package fuzz_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// rivalMutants are deliberately wrong ways to keep a node that others want, too, and
// to look at it.
var rivalMutants = []struct {
	about    string
	bad      rivalDefects
	property string
}{
	{"writes into whatever is there", rivalDefects{seize: true}, linearizability.Safety},
	{"does not take over", rivalDefects{giveUp: true}, linearizability.Presence},
	{"takes another's node for its own", rivalDefects{adopt: true}, linearizability.Presence},
	{"does not mind what others write into its node", rivalDefects{careless: true}, linearizability.Presence},
	{"sees nothing any more beside what it may not read", rivalDefects{blind: true}, linearizability.Answers},
	{"shows again what was before", rivalDefects{back: true}, linearizability.Answers},
}

func TestRivalMutantsAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range rivalMutants {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, mutantRivals(m.bad), m.property) })
	}
}

// TestARepeatedDeletionIsFound whose session has ended in between: it hits the next
// owner's node. Among all faults it takes long to come by this one.
func TestARepeatedDeletionIsFound(t *testing.T) {
	t.Parallel()
	s := scenario.Scenario{Workload: mutantRivals(rivalDefects{deleteAgain: true}), Script: scenario.DefaultScript, Seed: 1}
	for _, f := range hunt.FaultPoints(run(t, s)) {
		if f.Kind != fault.Expire {
			continue
		}
		s.Plan = []fault.Fault{f}
		if breaks(run(t, s), linearizability.Safety) {
			return
		}
	}
	t.Error("no end of a session shows it")
}

// TestSameRivalsWithoutDefectAreRight where there are no faults.
func TestSameRivalsWithoutDefectAreRight(t *testing.T) {
	t.Parallel()
	holdsUndisturbed(t, mutantRivals(rivalDefects{}), 2)
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

func mutantRivals(bad rivalDefects) scenario.Workload {
	return object.Membership(func(env object.Env) object.Roster {
		return &plainRival{conn: env.Conn, path: "/members/" + env.Name, bad: bad}
	}, object.MembershipClaims{Rivals: true}).Named("mutant")
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
			select {
			case ev := <-changed:
				if errors.Is(ev.Err, zk.ErrClosing) {
					return
				}
			case <-ctx.Done():
			}
		default:
			select {
			case <-time.After(200 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
}

// repair looks at the node, and makes it what it should be.
func (n *plainRival) repair() error {
	_, err := n.conn.Create("/members", nil, 0, openACL)
	if ignoring(err, zk.ErrNodeExists) != nil {
		return err
	}
	_, err = n.conn.Create(n.path, []byte(n.data), zk.FlagEphemeral, openACL)
	if !errors.Is(err, zk.ErrNodeExists) || n.bad.adopt {
		return ignoring(err, zk.ErrNodeExists)
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
			return ignoring(err, zk.ErrNoNode)
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
	names, _, err := n.conn.Children("/members")
	if err != nil {
		return "", ignoring(err, zk.ErrNoNode)
	}
	var entries []string
	for _, name := range names {
		data, _, err := n.conn.Get("/members/" + name)
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
