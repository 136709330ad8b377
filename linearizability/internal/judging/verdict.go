package judging

import (
	"fmt"
	"slices"
	"time"

	lin "github.com/zksim/zksim/linearizability"
)

// Violated is the verdict that a property does not hold. Durations are rounded to milliseconds.
func Violated(property string, steps []int64, format string, args ...any) lin.Verdict {
	return lin.Verdict{
		Property: property, Status: lin.Violated, Steps: steps,
		Summary: formatSummary(format, args),
	}
}

// Unknown is the verdict that a property could not be decided.
func Unknown(property string, steps []int64, format string, args ...any) lin.Verdict {
	return lin.Verdict{
		Property: property, Status: lin.Unknown, Summary: formatSummary(format, args), Steps: steps,
	}
}

// Fine is the verdict that nothing was found against a property.
func Fine(property, format string, args ...any) lin.Verdict {
	return lin.Verdict{Property: property, Status: lin.OK, Summary: formatSummary(format, args)}
}

// Properties returns properties in the order of [lin.Properties], each once.
func Properties(list ...string) []string {
	return slices.DeleteFunc(lin.Properties(), func(p string) bool {
		return !slices.Contains(list, p)
	})
}

// formatSummary formats a summary. Durations are rounded to milliseconds.
func formatSummary(format string, args []any) string {
	for i, arg := range args {
		if d, ok := arg.(time.Duration); ok {
			args[i] = d.Round(time.Millisecond)
		}
	}
	return fmt.Sprintf(format, args...)
}

// Replace puts a verdict in the place of the one on the same property.
func Replace(r *lin.Report, v lin.Verdict) {
	r.Verdicts = slices.DeleteFunc(r.Verdicts, func(o lin.Verdict) bool {
		return o.Property == v.Property
	})
	r.Add(v)
}
