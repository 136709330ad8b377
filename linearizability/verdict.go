package linearizability

import (
	"fmt"
	"slices"
	"time"
)

func violated(property string, steps []int64, format string, args ...any) Verdict {
	return Verdict{property, Violated, formatSummary(format, args), steps, ""}
}

func unknown(property string, steps []int64, format string, args ...any) Verdict {
	return Verdict{property, Unknown, formatSummary(format, args), steps, ""}
}

func fine(property, format string, args ...any) Verdict {
	return Verdict{Property: property, Status: OK, Summary: formatSummary(format, args)}
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
func Replace(r *Report, v Verdict) {
	r.Verdicts = slices.DeleteFunc(r.Verdicts, func(o Verdict) bool {
		return o.Property == v.Property
	})
	r.add(v)
}
