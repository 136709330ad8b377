package conform

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// names are those of the sessions, in order.
func (p *player) names() []string { return slices.Sorted(maps.Keys(p.sessions)) }

// end closes every session, so that nothing of the script stays behind. What
// the last events were is part of the outcome, how a session ends is not.
func (p *player) end(ctx context.Context) (outcome, error) {
	var seen outcome
	for _, name := range p.names() {
		c := p.sessions[name]
		if c.link == nil {
			continue
		}
		last, err := p.flush(ctx, c)
		if err != nil {
			return nil, err
		}
		for _, line := range last {
			seen = append(seen, fmt.Sprintf("%s: %s", name, line))
		}
	}
	for _, name := range p.names() {
		if err := p.closeSession(ctx, p.sessions[name]); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// closeSession ends a session, for which it may have to connect again.
func (p *player) closeSession(ctx context.Context, c *session) error {
	if c.id == 0 || c.ended {
		c.leave()
		return nil
	}
	if c.link == nil {
		if _, err := p.attach(ctx, c, connecting{timeoutMs: defaultTimeoutMs}); err != nil {
			return err
		}
	}
	if c.link == nil { // it was over already
		return nil
	}
	_, err := p.send(ctx, c, []request{{op: proto.OpCloseSession, req: &proto.Simple{Code: proto.OpCloseSession}}})
	c.leave()
	return err
}

// abandon closes all connections.
func (p *player) abandon() {
	for _, c := range p.sessions {
		c.leave()
	}
}
