package figure

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Significant shows three digits, or all of the integer part, or a dash for 0.
func Significant(x float64) string {
	switch {
	case x == 0:
		return "-"
	case x < 0.0995:
		return strconv.FormatFloat(x, 'f', 3, 64)
	case x < 9.995:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case x < 99.95:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// Milliseconds shows a duration by its milliseconds, without the unit.
func Milliseconds(d time.Duration) string { return Significant(float64(d) / 1e6) }

// Microseconds shows a duration by its microseconds, without the unit.
func Microseconds(d time.Duration) string { return Significant(float64(d) / 1e3) }

// Thousands is a whole number with commas.
func Thousands(x float64) string {
	digits := strconv.FormatFloat(x, 'f', 0, 64)
	start := len(digits) % 3
	groups := []string{}
	if start > 0 {
		groups = append(groups, digits[:start])
	}
	for at := start; at < len(digits); at += 3 {
		groups = append(groups, digits[at:at+3])
	}
	return strings.Join(groups, ",")
}

// Width is that of wrapped text.
const Width = 96

// Wrapped breaks text into lines, but not within code between backticks.
func Wrapped(text string) string {
	var b strings.Builder
	column, within := 0, false
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+n > Width && !within:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
		if strings.Count(word, "`")%2 == 1 {
			within = !within
		}
	}
	return b.String()
}
