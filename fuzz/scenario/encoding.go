package scenario

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// encodedOutcome is an outcome without its scenario and without what only the process of the run
// can find: [Outcome.Maker].
type encodedOutcome struct {
	Result               *trace.Result
	History              linearizability.History
	Rest                 *linearizability.Leftovers
	CutShort             bool
	Report               linearizability.Report
	Playing              time.Duration
	Reached              []string
	Optional             map[string]bool
	Shared               bool
	Hangs                string
	UsedNetwork, Signals bool
	SharesConn           bool
}

// Encode is the outcome for another process of the same program, which decodes it by
// [Scenario.Decode].
func (o *Outcome) Encode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(encodedOutcome{
		o.Result, o.History, o.Rest, o.CutShort, o.Report, o.Playing, o.Reached, o.Optional,
		o.Shared, o.Hangs, o.usedNetwork, o.signals, o.sharesConn,
	})
	if err != nil {
		return nil, fmt.Errorf("encode an outcome: %w", err)
	}
	return b.Bytes(), nil
}

// Decode is the outcome of a run of the scenario in another process. It has no
// [Outcome.Maker].
func (s Scenario) Decode(text []byte) (*Outcome, error) {
	var e encodedOutcome
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&e); err != nil {
		return nil, fmt.Errorf("decode an outcome: %w", err)
	}
	o := &Outcome{
		Scenario: s, Result: e.Result, History: e.History, Rest: e.Rest, CutShort: e.CutShort,
		Report: e.Report, Playing: e.Playing, Reached: e.Reached, Optional: e.Optional,
		Shared: e.Shared, Hangs: e.Hangs, usedNetwork: e.UsedNetwork, signals: e.Signals,
		sharesConn: e.SharesConn,
	}
	o.Report.Linearize = func() (linearizability.Linearization, bool) {
		report, err := s.Workload.report(o.evidence(s.Script.lag()))
		if err != nil {
			return linearizability.Linearization{}, false
		}
		return report.Linearization()
	}
	return o, nil
}
