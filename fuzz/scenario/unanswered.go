package scenario

import (
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
	for _, loss := range losses {
		if slices.ContainsFunc(messages, func(m trace.Message) bool {
			return m.Client == loss.Client && m.Up && m.Op != "connect" && m.Op != "ping" &&
				m.Sent <= loss.Time-slowAnswer && !learnedLoss(r, loss, m.From) &&
				!answered(messages, m, loss.Step)
		}) {
			list = append(list, linearizability.Notice{Client: loss.Client, Step: loss.Step,
				Time: loss.Time, Kind: linearizability.Unanswered})
		}
		list = append(list, loss)
	}
	return list
}

// learnedLoss reports whether the client of a loss had learned of the end of a connection or of a
// session between a line and the loss.
func learnedLoss(r *trace.Result, loss linearizability.Notice, from int64) bool {
	return slices.ContainsFunc(r.Notices, func(n trace.Notice) bool {
		return n.Client == loss.Client && from <= n.Step && n.Step <= loss.Step &&
			(n.Kind == trace.Disconnected || n.Kind == trace.SessionExpired)
	})
}

// answered reports whether the reply to a request had arrived by a step.
func answered(messages []trace.Message, request trace.Message, by int64) bool {
	return request.Step > 0 && slices.ContainsFunc(messages, func(m trace.Message) bool {
		return !m.Up && m.Op == "" && m.Client == request.Client && m.Conn == request.Conn &&
			m.From == request.Step && !m.Lost && m.Step <= by
	})
}
