package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
)

type listCommand struct {
	JSON bool `help:"Print JSON."`
}

// listing is the output of list, for programs.
type listing struct {
	Workloads  []listedWorkload `json:"workloads"`
	Strategies []listedStrategy `json:"strategies"`
	Faults     []listedFault    `json:"faults"`
}

type listedStrategy struct {
	Name  string `json:"name"`
	Share int    `json:"share"`
	About string `json:"about"`
}

type listedWorkload struct {
	Name            string   `json:"name"`
	Implementations []string `json:"implementations"`
	// Flawed has, for an implementation with a known flaw, the property that it breaks.
	Flawed map[string]string `json:"flawed,omitempty"`
	about  []string
}

type listedFault struct {
	Kind     string   `json:"kind"`
	Duration bool     `json:"duration"`
	Code     bool     `json:"code"`
	At       []string `json:"at"`
	Meaning  string   `json:"meaning"`
}

func (c *listCommand) Run(a *app) error {
	l := makeListing(a.workloads)
	if c.JSON {
		return a.JSON(l)
	}
	return l.print(a)
}

// print prints the listing as text.
func (l listing) print(a *app) error {
	w := tabwriter.NewWriter(a.Text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "workloads and their implementations (the first is the default):")
	for _, workload := range l.Workloads {
		for i, impl := range workload.Implementations {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", workload.Name, impl, workload.about[i])
		}
	}
	fmt.Fprintln(w, "\nstrategies of a hunt:")
	for _, s := range l.Strategies {
		fmt.Fprintf(w, "  %s\t%s\n", s.Name, s.About)
	}
	fmt.Fprintln(w, "\nfault kinds:")
	for _, f := range l.Faults {
		kind := f.Kind
		if f.Duration {
			kind += " DURATION"
		}
		if f.Code {
			kind += " CODE"
		}
		fmt.Fprintf(w, "  %s\t%s\n", kind, f.Meaning)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("list: %w", err)
	}
	a.Printf("\nthe place of a fault: " +
		"client=NAME conn=N op=NAME path=GLOB with request=N or event=N, or at=DURATION\n")
	return nil
}

// add adds an implementation.
func (l *listedWorkload) add(w scenario.Workload) {
	l.Implementations = append(l.Implementations, w.Impl)
	if w.Flawed == "" {
		l.about = append(l.about, w.About)
		return
	}
	l.about = append(l.about, fmt.Sprintf("%s (known to break %s)", w.About, w.Flawed))
	if l.Flawed == nil {
		l.Flawed = map[string]string{}
	}
	l.Flawed[w.Impl] = w.Flawed
}

func makeListing(workloads scenario.Catalogue) listing {
	var l listing
	for _, kind := range workloads.Kinds() {
		listed := listedWorkload{Name: kind}
		for _, w := range workloads {
			if w.Name == kind {
				listed.add(w)
			}
		}
		l.Workloads = append(l.Workloads, listed)
	}
	for _, s := range hunt.Strategies() {
		l.Strategies = append(l.Strategies, listedStrategy{s.Name, s.Share, s.About})
	}
	for _, info := range fault.Kinds() {
		l.Faults = append(l.Faults, listedFault{
			Kind: string(info.Kind), Duration: info.Lasts, Code: info.Kind.TakesCode(),
			At: places(info), Meaning: info.Meaning,
		})
	}
	return l
}

// places are the places in a run that a fault of a kind can have.
func places(kind fault.KindInfo) []string {
	var at []string
	if kind.OnRequest {
		at = append(at, "request")
	}
	if kind.OnEvent {
		at = append(at, "event")
	}
	if kind.OnTime {
		at = append(at, "at")
	}
	return at
}
