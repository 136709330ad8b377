package scenario

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/linearizability"
)

// An Ensemble is a running ZooKeeper, of one server or several, that somebody else runs. Scenarios
// play against it in real time, several of them at once: each has a node of its own below the root,
// which it deletes at its end. Faults that end a server are refused.
type Ensemble struct {
	ctx     context.Context
	servers []realworld.Server
	pace    int

	mu        sync.Mutex
	leftNodes []error // a LeftError for each scenario that could not delete its nodes
}

// Reach connects to each server of an ensemble, given by its addresses, host:port. The error names
// the server that does not answer within some seconds. When ctx is done, scenarios delete their
// nodes and end, within half a minute.
func Reach(ctx context.Context, addresses []string) (*Ensemble, error) {
	if len(addresses) < 1 || len(addresses) > sim.MaxServers {
		return nil, fmt.Errorf("%d addresses; expected 1 to %d", len(addresses), sim.MaxServers)
	}
	e := &Ensemble{ctx: ctx}
	for i, address := range addresses {
		host, port, err := net.SplitHostPort(address)
		if n, wrong := strconv.Atoi(port); err != nil || host == "" || wrong != nil || n < 1 ||
			n > 65535 {
			return nil, fmt.Errorf("address %q; expected host:port", address)
		}
		if slices.Contains(addresses[:i], address) {
			return nil, fmt.Errorf("address %s is given twice", address)
		}
		e.servers = append(e.servers, realworld.At(address))
	}
	var err error
	e.pace, err = realworld.Probe(ctx, e.servers, SessionTimeout)
	return e, err
}

// String is the list of the addresses, with commas between.
func (e *Ensemble) String() string {
	var list []string
	for _, s := range e.servers {
		list = append(list, s.Address())
	}
	return strings.Join(list, ",")
}

// play plays a scenario, which is [Scenario.PlayedOn] the ensemble.
func (e *Ensemble) play(s Scenario) (*Outcome, error) {
	o, err := s.RunReal(e.ctx, e.servers, e.pace)
	if nodes := (*realworld.LeftError)(nil); errors.As(err, &nodes) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.leftNodes = append(e.leftNodes, nodes)
	}
	return o, err
}

// Left are the errors of scenarios that could not delete their nodes, in the order of their ends. A
// nil Ensemble has none.
func (e *Ensemble) Left() []error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.leftNodes)
}

// Kinds lists the kinds of faults that can act in a scenario. In a workload that is played
// elsewhere there is no respawn: what the code keeps in variables outlives it, as it does not in
// production.
func (s Scenario) Kinds() []fault.KindInfo {
	return slices.DeleteFunc(fault.KindsFor(s.Script.Servers), func(info fault.KindInfo) bool {
		return s.On != nil && realworld.Refuse(info.Kind, true) != nil ||
			s.Workload.Elsewhere != nil && info.Kind == fault.Respawn
	})
}

// excuseServers makes violations unknown if some writes have no known outcome, or if the servers
// have different trees: both may be the reason, and neither is the fault of a client.
func (o *Outcome) excuseServers() {
	why := ""
	switch r := o.Result; {
	case r.Diverged != "":
		why = "the servers have diverged, a bug of theirs such as ZOOKEEPER-5010: " + r.Diverged
	case r.Unanswered > 0:
		why = fmt.Sprintf("it is unknown whether %d writes were applied, whose connections were lost",
			r.Unanswered)
	default:
		return
	}
	for i, v := range o.Report.Verdicts {
		if v.Status == linearizability.Violated {
			o.Report.Verdicts[i].Status = linearizability.Unknown
			o.Report.Verdicts[i].Summary = why + ": " + v.Summary
		}
	}
}

// PlayedOn is the scenario on a running ensemble. With a nil ensemble the scenario stays as it is.
func (s Scenario) PlayedOn(e *Ensemble) Scenario {
	if e != nil {
		s.On, s.Script.Servers = e, len(e.servers)
	}
	return s
}

// Servers is the value of a flag: a number of simulated servers, or, if it has a colon, the
// addresses of a running ensemble.
type Servers struct {
	Number int // also that of the addresses

	addresses []string
	on        *Ensemble
}

// UnmarshalText reads a number, or addresses host:port with commas between.
func (s *Servers) UnmarshalText(text []byte) (err error) {
	*s = Servers{}
	if strings.Contains(string(text), ":") {
		s.addresses = strings.Split(string(text), ",")
		s.Number = len(s.addresses)
		return nil
	}
	if s.Number, err = strconv.Atoi(string(text)); err != nil {
		return fmt.Errorf("%q; expected a whole number, or addresses as host:port, "+
			"with commas between", text)
	}
	return nil
}

// MarshalText is the text that UnmarshalText reads.
func (s Servers) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s Servers) String() string {
	if s.addresses != nil {
		return strings.Join(s.addresses, ",")
	}
	return strconv.Itoa(s.Number)
}

// Simulated returns an error if there are addresses. Callers that only play simulations use it.
func (s Servers) Simulated() error {
	if s.addresses != nil {
		return fmt.Errorf("servers: %s; expected a number: this plays simulations only", s)
	}
	return nil
}

// Reach reaches the addresses, if there are any, as the function of this name does.
func (s *Servers) Reach(ctx context.Context) (err error) {
	if s.addresses != nil && s.on == nil {
		s.on, err = Reach(ctx, s.addresses)
	}
	return err
}

// On is the running ensemble that was reached, nil if there is none.
func (s Servers) On() *Ensemble { return s.on }
