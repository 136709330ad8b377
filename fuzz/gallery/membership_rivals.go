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
)

var plantedRivals = []Exhibit{
	planted("deletes again without a reply", safety, rivalsOf(rival{deleteAgain: true})),
	planted("writes into whatever is there", safety, rivalsOf(rival{overwrites: true})),
	planted("does not take over", presence, rivalsOf(rival{giveUp: true})),
	planted("takes another's node for its own", presence, rivalsOf(rival{adopt: true})),
	planted("does not mind what others write into its node", presence,
		rivalsOf(rival{careless: true})),
	planted("sees nothing any more beside what it may not read", answers,
		rivalsOf(rival{keepsOldView: true})),
	planted("shows again what was before", answers, rivalsOf(rival{back: true})),
}

// rival keeps a node that other clients want, too: a goroutine looks at it and repairs it. It is
// right without the flags.
type rival struct {
	conn *zk.Conn
	path string
	data string
	background
	seen []string

	deleteAgain  bool // repeats a deletion without a reply, also of another's node
	overwrites   bool // writes its data into a node of another
	giveUp       bool // does not try again when the node was another's
	adopt        bool // takes any node for its own
	careless     bool // writes the data once
	keepsOldView bool // shows the view before when a view fails
	back         bool // shows an earlier view
}

func rivalsOf(bad rival) scenario.Workload {
	return beside(object.Membership(func(env object.Env) object.Roster {
		r := bad
		r.conn, r.path = env.Conn, membersDir+"/"+env.Name
		return &r
	}, object.MembershipClaims{Rivals: true}), membersDir)
}

var errTaken = errors.New("it is another's")

// Join makes the node, and begins to keep it.
func (r *rival) Join(ctx context.Context, data string) error {
	r.data = data
	err := r.repair()
	if !r.giveUp || !errors.Is(err, errTaken) {
		r.startGuard(ctx, r.keep)
	}
	return err
}

// keep repairs the node after each event.
func (r *rival) keep(ctx context.Context) {
	for ctx.Err() == nil {
		_, _, changed, err := r.conn.ExistsW(r.path)
		if err == nil {
			err = r.repair()
		}
		switch {
		case r.giveUp && errors.Is(err, errTaken):
			return
		case ignore(err, errTaken) != nil:
			await(ctx, after(200*time.Millisecond))
		case untilEvent(ctx, changed) != nil:
			return
		}
	}
}

// repair looks at the node, and makes it as it should be.
func (r *rival) repair() error {
	_, err := r.conn.Create(r.path, []byte(r.data), zk.FlagEphemeral, acl)
	if !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	if r.adopt {
		return nil
	}
	data, stat, err := r.conn.Get(r.path)
	switch {
	case err != nil:
		return err
	case stat.EphemeralOwner != r.conn.SessionID() && !r.overwrites:
		return errTaken
	case string(data) == r.data || r.careless:
		return nil
	}
	_, err = r.conn.Set(r.path, []byte(r.data), stat.Version)
	return err
}

func (r *rival) Leave(ctx context.Context) error {
	r.stopGuard()
	for {
		_, stat, err := r.conn.Get(r.path)
		if err != nil || stat.EphemeralOwner != r.conn.SessionID() {
			return ignore(err, zk.ErrNoNode)
		}
		err = r.conn.Delete(r.path, stat.Version)
		for r.deleteAgain && errors.Is(err, zk.ErrConnectionClosed) && ctx.Err() == nil {
			err = r.conn.Delete(r.path, -1)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

func (r *rival) View(context.Context) (string, error) {
	shown, err := r.look()
	if n := len(r.seen); err != nil && r.keepsOldView && n > 0 {
		return r.seen[n-1], nil
	}
	if err != nil {
		return "", err
	}
	r.seen = append(r.seen, shown)
	if n := len(r.seen); r.back && n > 2 {
		return r.seen[n-3], nil
	}
	return shown, nil
}

// look lists the group and reads its nodes, as far as they may be read.
func (r *rival) look() (string, error) {
	names, _, err := r.conn.Children(membersDir)
	var entries []string
	for _, name := range names {
		data, _, err := r.conn.Get(membersDir + "/" + name)
		switch {
		case errors.Is(err, zk.ErrNoAuth) && !r.keepsOldView, errors.Is(err, zk.ErrNoNode):
		case err != nil && r.keepsOldView:
			return "", nil
		case err != nil:
			return "", err
		default:
			entries = append(entries, fmt.Sprintf("%s=%s", name, data))
		}
	}
	return strings.Join(entries, ","), ignore(err, zk.ErrNoNode)
}
