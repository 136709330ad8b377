package conform

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// drop ends a connection and waits until the server has ended it, too. Frames after the
// client's end are part of the outcome; there should be none.
func (p *player) drop(ctx context.Context, c *session) (outcome, error) {
	seen, err := p.flush(ctx, c)
	if err != nil || c.link == nil {
		return seen, err
	}
	c.link.halfClose()
	late, err := p.readUntilClosed(ctx, c, nil)
	return append(seen, late...), err
}

// names returns the names of the sessions, in order.
func (p *player) names() []string { return slices.Sorted(maps.Keys(p.sessions)) }

// end closes every session of the script. The outcome has the answers, and the frames to
// the sessions that are still open.
func (p *player) end(ctx context.Context) (outcome, error) {
	seen, err := p.flushAll(ctx)
	for _, name := range p.names() {
		if err != nil {
			return nil, err
		}
		var last, others outcome
		if last, err = p.closeSession(ctx, p.sessions[name]); err != nil {
			return nil, err
		}
		others, err = p.flushAll(ctx)
		seen = append(append(seen, prefixed("close "+name+": ", last)...), others...)
	}
	return seen, err
}

// flushAll returns the outstanding frames of all sessions.
func (p *player) flushAll(ctx context.Context) (outcome, error) {
	var seen outcome
	for _, name := range p.names() {
		c := p.sessions[name]
		if c.link == nil {
			continue
		}
		lines, err := p.flush(ctx, c)
		if err != nil {
			return nil, err
		}
		seen = append(seen, prefixed(name+": ", lines)...)
	}
	return seen, nil
}

func prefixed(prefix string, lines outcome) outcome {
	var with outcome
	for _, line := range lines {
		with = append(with, fmt.Sprint(prefix, line))
	}
	return with
}

// closeSession ends a session. It connects again if the session has no connection.
func (p *player) closeSession(ctx context.Context, c *session) (outcome, error) {
	if c.id == 0 || c.ended {
		c.leave()
		return nil, nil
	}
	var seen outcome
	if c.link == nil {
		var err error
		seen, err = p.attach(ctx, c, connecting{timeoutMs: defaultTimeoutMs})
		if err != nil || c.link == nil { // the session has ended already
			return seen, err
		}
	}
	last, err := p.send(ctx, c, []request{{
		op: proto.OpCloseSession, req: &proto.Simple{Code: proto.OpCloseSession},
	}})
	c.leave()
	return append(seen, last...), err
}

// abandon closes the sessions that are still open after a script that failed.
func (p *player) abandon(ctx context.Context) {
	ctx, cancel := cleanupContext(ctx)
	defer cancel()
	for _, name := range p.names() {
		if c := p.sessions[name]; !c.ended {
			_, _ = p.closeSession(ctx, c) // the script's error is already reported
		}
	}
}
