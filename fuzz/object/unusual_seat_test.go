package object_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/recipes"
)

// seats are places in a line. Each place is an ephemeral sequential znode. The right objects that
// poll are made of them. One goroutine at a time uses them.
type seats struct {
	conn   recipes.Conn
	dir    string
	name   string        // of the owner
	period time.Duration // of a poll
	lease  string        // is stored in each znode
	made   int
}

// seat is a place in the line.
type seat struct {
	path    string
	session int64
	token   int64
}

var (
	errSeatGone = errors.New("the own znode is gone")
	everyone    = zk.WorldACL(zk.PermAll)
)

// placeOf returns the sequence number and the mode of a znode: mode-owner-sequence.
func placeOf(name string) (number, mode string) {
	return name[len(name)-10:], name[:strings.IndexByte(name, '-')]
}

// line lists the seats in their order.
func (s *seats) line() ([]string, error) {
	list, _, err := s.conn.Children(s.dir)
	slices.SortFunc(list, func(a, b string) int {
		one, _ := placeOf(a)
		two, _ := placeOf(b)
		return cmp.Compare(one, two)
	})
	return list, err
}

// take waits in line until free is true for the modes of the seats before its own. After an error
// it gives up its place.
func (s *seats) take(
	ctx context.Context, mode string, free func(before []string) bool,
) (seat, error) {
	if ctx.Err() != nil {
		return seat{}, ctx.Err()
	}
	own, err := s.sit(mode)
	if err != nil {
		return seat{}, err
	}
	for {
		ok, err := s.isFirst(own, free)
		if err == nil && ok {
			var stat *zk.Stat
			if ok, stat, err = s.conn.Exists(own.path); err == nil && ok {
				own.token, own.session = stat.Czxid, stat.EphemeralOwner
				if own.session == s.conn.SessionID() {
					return own, nil
				}
				err = errSeatGone
			}
		}
		if err != nil && !lostReply(err) {
			return seat{}, errors.Join(err, s.leave(own))
		}
		if !nap(ctx, s.period) {
			return seat{}, errors.Join(context.Cause(ctx), s.leave(own))
		}
	}
}

// isFirst reports whether the seat's turn has come.
func (s *seats) isFirst(own seat, free func(before []string) bool) (bool, error) {
	list, err := s.line()
	if err != nil {
		return false, err
	}
	at := slices.Index(list, own.path[len(s.dir)+1:])
	if at < 0 {
		return false, errSeatGone
	}
	var before []string
	for _, name := range list[:at] {
		_, mode := placeOf(name)
		before = append(before, mode)
	}
	return free(before), nil
}

// sit makes a znode at the end of the line. After a lost reply it looks for the znode.
func (s *seats) sit(mode string) (seat, error) {
	s.made++
	prefix := fmt.Sprintf("%s-%s.%d-", mode, s.name, s.made)
	for {
		path, err := s.conn.Create(s.dir+"/"+prefix, []byte(s.lease),
			zk.FlagEphemeral|zk.FlagSequence, everyone)
		for lostReply(err) {
			time.Sleep(20 * time.Millisecond)
			path, err = s.find(prefix)
		}
		if !errors.Is(err, zk.ErrNoNode) {
			return seat{path: path}, err
		}
		_, err = s.conn.Create(s.dir, nil, 0, everyone)
		if err != nil && !errors.Is(err, zk.ErrNodeExists) && !lostReply(err) {
			return seat{}, err
		}
	}
}

// find looks for a znode by the beginning of its name.
func (s *seats) find(prefix string) (string, error) {
	list, err := s.line()
	for _, name := range list {
		if strings.HasPrefix(name, prefix) {
			return s.dir + "/" + name, err
		}
	}
	return "", cmp.Or(err, zk.ErrNoNode)
}

// leave deletes a seat's znode, unless the server has done it.
func (s *seats) leave(own seat) error {
	for {
		err := s.conn.Delete(own.path, -1)
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode):
			return nil
		case !lostReply(err):
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// lostReply reports whether the request may succeed later, and may have taken effect.
func lostReply(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer)
}

// nap sleeps, and reports false if the context is done.
func nap(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
