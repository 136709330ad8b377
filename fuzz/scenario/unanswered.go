package scenario

import (
	"cmp"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// slowAnswer is a time without an answer that only a fault can cause.
const slowAnswer = 100 * time.Millisecond

// withUnanswered adds a notice right before each loss at which a request of the client had been
// without an answer for slowAnswer: a lease gives up then. A request on a connection that was lost
// meanwhile does not count; the client has learned of that.
func withUnanswered(r *trace.Result, losses []linearizability.Notice) []linearizability.Notice {
	if len(losses) == 0 {
		return nil
	}
	var list []linearizability.Notice
	messages := r.Messages()
	replies := repliesIn(messages)
	for _, loss := range losses {
		if slices.ContainsFunc(messages, func(m trace.Message) bool {
			return m.Client == loss.Client && m.Up && m.Op != "connect" && m.Op != "ping" &&
				m.Sent <= loss.Time-slowAnswer && !replies.hasTo(m, loss.Step) &&
				!learnedLoss(r, loss, m.From)
		}) {
			list = append(list, linearizability.Notice{Client: loss.Client, Step: loss.Step,
				Time: loss.Time, Kind: linearizability.Unanswered})
		}
		list = append(list, loss)
	}
	return list
}

// unansweredAtEnds are such notices right before each deletion of a znode whose TTL was over, for
// its maker: it may have sent a write in time.
func unansweredAtEnds(r *trace.Result) []linearizability.Notice {
	var ends []linearizability.Notice
	for _, c := range r.Changes {
		if c.Kind != trace.NodeDeleted || c.Session != 0 || c.Owner != 0 ||
			whyDeleted(r, c) != ttlOver {
			continue
		}
		for _, made := range r.Changes {
			if made.Kind == trace.NodeCreated && cmp.Or(made.Czxid, made.Zxid) == c.Czxid &&
				made.Client != "" {
				ends = append(ends, linearizability.Notice{Client: made.Client, Step: c.Step,
					Time: c.Time})
			}
		}
	}
	return slices.DeleteFunc(withUnanswered(r, ends), func(n linearizability.Notice) bool {
		return n.Kind != linearizability.Unanswered
	})
}

// learnedLoss reports whether the client of a loss had learned of the end of a connection or of a
// session between a line and the loss.
func learnedLoss(r *trace.Result, loss linearizability.Notice, from int64) bool {
	return slices.ContainsFunc(r.Notices, func(n trace.Notice) bool {
		return n.Client == loss.Client && from <= n.Step && n.Step <= loss.Step &&
			(n.Kind == trace.Disconnected || n.Kind == trace.SessionExpired)
	})
}

// replies are the steps at which replies have arrived.
type replies map[replyTo]int64

// replyTo names the request of a reply. A request is applied at its own line.
type replyTo struct {
	client string
	conn   int
	line   int64
}

func repliesIn(messages []trace.Message) replies {
	list := replies{}
	for _, m := range messages {
		if !m.Up && m.Op == "" && !m.Lost {
			to := replyTo{m.Client, m.Conn, m.From}
			if step, arrived := list[to]; !arrived || m.Step < step {
				list[to] = m.Step
			}
		}
	}
	return list
}

// hasTo reports whether the reply to a request had arrived by a step.
func (r replies) hasTo(request trace.Message, by int64) bool {
	step, arrived := r[replyTo{request.Client, request.Conn, request.Step}]
	return request.Step > 0 && arrived && step <= by
}
