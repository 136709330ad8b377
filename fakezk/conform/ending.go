package conform

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// drop ends a connection, from which nothing should come any more, and waits
// until the server has ended it too.
func (p *player) drop(ctx context.Context, c *session) (outcome, error) {
	seen, err := p.flush(ctx, c)
	if err != nil || c.link == nil {
		return seen, err
	}
	c.link.halfClose()
	late, err := p.untilClosed(ctx, c, nil)
	return append(seen, late...), err
}

// names are those of the sessions, in order.
func (p *player) names() []string { return slices.Sorted(maps.Keys(p.sessions)) }

// end closes every session, so that nothing of the script stays behind. All that
// comes of it is part of the outcome: the answers, and what the sessions that are
// still there hear.
func (p *player) end(ctx context.Context) (outcome, error) {
	seen, err := p.hearAll(ctx)
	for _, name := range p.names() {
		if err != nil {
			return nil, err
		}
		var last, others outcome
		if last, err = p.closeSession(ctx, p.sessions[name]); err != nil {
			return nil, err
		}
		others, err = p.hearAll(ctx)
		seen = append(append(seen, prefixed("close "+name+": ", last)...), others...)
	}
	return seen, err
}

// hearAll takes what is on its way to any session.
func (p *player) hearAll(ctx context.Context) (outcome, error) {
	var seen outcome
	for _, name := range p.names() {
		c := p.sessions[name]
		if c.link == nil {
			continue
		}
		news, err := p.flush(ctx, c)
		if err != nil {
			return nil, err
		}
		seen = append(seen, prefixed(name+": ", news)...)
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

// closeSession ends a session, for which it may have to connect again.
func (p *player) closeSession(ctx context.Context, c *session) (outcome, error) {
	if c.id == 0 || c.ended {
		c.leave()
		return nil, nil
	}
	var seen outcome
	if c.link == nil {
		var err error
		seen, err = p.attach(ctx, c, connecting{timeoutMs: defaultTimeoutMs})
		if err != nil || c.link == nil { // it was over already
			return seen, err
		}
	}
	last, err := p.send(ctx, c, []request{{op: proto.OpCloseSession, req: &proto.Simple{Code: proto.OpCloseSession}}})
	c.leave()
	return append(seen, last...), err
}

// abandon closes whatever is still open after a script that could not be played
// to its end.
func (p *player) abandon(ctx context.Context) {
	ctx, cancel := lastWords(ctx)
	defer cancel()
	for _, name := range p.names() {
		if c := p.sessions[name]; !c.ended {
			_, _ = p.closeSession(ctx, c) // it was an error already that led here
		}
	}
}
