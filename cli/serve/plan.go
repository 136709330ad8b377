package serve

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
)

// A plannedFault is a fault with its place, such as plan.txt:3.
type plannedFault struct {
	where string
	fault fault.Fault
}

// maxPlan is the longest plan in bytes.
const maxPlan = 1 << 20

// injectPlan arms the faults of --plan and --fault, in this order.
func (c *Command) injectPlan(server *fakezk.Server) error {
	var plan []plannedFault
	if c.Plan != "" {
		text, err := readPlan(c.Plan)
		if err != nil {
			return fmt.Errorf("--plan: %w", err)
		}
		if plan, err = parsePlan(c.Plan, text); err != nil {
			return err
		}
	}
	for _, line := range c.Fault {
		fault, err := fault.Parse(line)
		if err != nil {
			return fmt.Errorf("--fault: %w", err)
		}
		plan = append(plan, plannedFault{"--fault", fault})
	}
	_, err := armPlan(server, plan)
	return err
}

// readPlan reads the text of a plan.
func readPlan(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() // read only: nothing is lost
	text, err := io.ReadAll(io.LimitReader(f, maxPlan+1))
	if err != nil {
		return "", err // the error names the file
	}
	if len(text) > maxPlan {
		return "", fmt.Errorf("%s: longer than %d bytes", name, maxPlan)
	}
	return string(text), nil
}

// parsePlan reads one fault a line. Empty lines and lines that begin with # are skipped. Errors
// begin with the name and the number of the line.
func parsePlan(name, text string) ([]plannedFault, error) {
	var plan []plannedFault
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		where := fmt.Sprintf("%s:%d", name, n)
		fault, err := fault.Parse(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		plan = append(plan, plannedFault{where, fault})
	}
	return plan, nil
}

// armPlan injects faults in order, and returns how many are armed. If the server refuses a fault,
// the error has its place, and the faults before it are armed.
func armPlan(server *fakezk.Server, plan []plannedFault) (armed int, err error) {
	for i, p := range plan {
		if err := server.Inject(p.fault); err != nil {
			return i, fmt.Errorf("%s: %w", p.where, err)
		}
	}
	return len(plan), nil
}
