// Package report has the reports of commands that look for bugs: as JSON, in a line of text, and
// united from the reports of several processes.
package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
)

// Merge unites the reports of all shards of some work, and reports whether there is a failure among
// their findings. The catalogue decides the order of hunts. With partial, shards may be missing,
// and files of killed shards may have half of a report, or nothing: lacks says which.
func Merge(
	files []string, partial bool, workloads scenario.Catalogue,
) (united any, lacks []string, bad bool, err error) {
	reports, missing, lacks, err := readReports(files, partial)
	early := slices.IndexFunc(reports, func(r shardReport) bool { return r.early != "" })
	if err == nil && early >= 0 && !partial {
		err = fmt.Errorf("%s: shard %s %s; expected all of its work, or --partial",
			reports[early].file, reports[early].content.shard().Shard, reports[early].early)
	}
	if err == nil && len(missing) > 0 && !partial {
		err = fmt.Errorf("no file has shard %s; expected all shards of %s, or --partial",
			strings.Join(missing, ", "), reports[0].file)
	}
	if err != nil {
		return nil, nil, false, err
	}
	first := reports[0]
	for _, r := range reports[1:] {
		err := first.content.merge(r.content)
		if err == nil {
			err = hunt.SameWork(r.content.shard().Work, first.content.shard().Work)
		}
		if err != nil {
			return nil, nil, false, fmt.Errorf("%s does not go with %s: %w", r.file, first.file, err)
		}
	}
	first.content.shard().Missing = missing
	bad = first.content.finish(workloads)
	if len(missing) > 0 {
		lacks = append(lacks, "no report of shard "+strings.Join(missing, ", "))
	}
	return first.content, lacks, bad, nil
}

// cutOff is what encoding/json says of a text that ends in the midst.
const cutOff = "unexpected end of JSON input"

var errOtherReport = errors.New("it is the report of another command")

// A shardReport is the report of one shard.
type shardReport struct {
	file    string
	content mergeable
	early   string // how its work ended early, "" if it did not
}

// mergeable is a report that can be merged with those of other shards.
type mergeable interface {
	shard() *Shard
	// merge adds a report. The error names the difference if the reports do not belong together.
	merge(other mergeable) error
	// finish sorts the merged findings, and reports whether there is a failure among them.
	finish(workloads scenario.Catalogue) (bad bool)
}

// readReports reads the reports of shards, in the order of the files, and lists the shards that no
// file has. With partial it leaves out files that are cut off, and says so.
func readReports(files []string, partial bool) (
	reports []shardReport, missing, cut []string, err error) {
	by := map[string]string{} // files by shard
	for _, file := range files {
		content, early, err := readReport(file)
		if syntax := (*json.SyntaxError)(nil); partial && errors.As(err, &syntax) &&
			syntax.Error() == cutOff {
			cut = append(cut, fmt.Sprintf("%s: %v", file, syntax))
			continue
		}
		if err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		shard := content.shard().Shard
		if before := by[shard]; before != "" {
			return nil, nil, nil, fmt.Errorf("%s: shard %s is in %s, too", file, shard, before)
		}
		by[shard] = file
		reports = append(reports, shardReport{file, content, early})
	}
	if len(reports) == 0 {
		return nil, nil, nil, fmt.Errorf("no file has a report: %s", strings.Join(cut, "; "))
	}
	var part hunt.Part
	if err := part.UnmarshalText([]byte(reports[0].content.shard().Shard)); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", reports[0].file, err)
	}
	for _, shard := range part.All() {
		if by[shard.String()] == "" {
			missing = append(missing, shard.String())
		}
		delete(by, shard.String())
	}
	if len(by) > 0 {
		shard := slices.Min(slices.Collect(maps.Keys(by)))
		return nil, nil, nil, fmt.Errorf("%s does not go with %s: it has shard %s, and not one of %d",
			by[shard], reports[0].file, shard, len(part.All()))
	}
	return reports, missing, cut, nil
}

// readReport reads a report, and says how its work ended early. Its keys determine its kind.
func readReport(file string) (content mergeable, early string, err error) {
	text, err := os.ReadFile(file)
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		return nil, "", path.Err // the caller names the file
	}
	if err != nil {
		return nil, "", err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, "", notReport(err)
	}
	content = reportWith(keys)
	if content == nil {
		return nil, "", errors.New("no report of fuzz, sweep, prove or gallery")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(content); err != nil {
		return nil, "", notReport(err)
	}
	if sweep, ok := content.(*Sweep); ok {
		for i, v := range sweep.Violations {
			if v.First == nil {
				return nil, "", fmt.Errorf("violation %d has no key first", i+1)
			}
		}
	}
	if content.shard().Shard == "" {
		return nil, "", errors.New("the report has no shard; print it with --shard and --json")
	}
	if string(keys["interrupted"]) == "true" {
		early = "was interrupted"
	} else if why := keys["error"]; why != nil {
		early = "ended early, by " + string(why)
	}
	return content, early, nil
}

// reportWith is an empty report of the kind that has the keys, nil if there is none.
func reportWith(keys map[string]json.RawMessage) mergeable {
	switch {
	case keys["hunts"] != nil:
		return &Hunts{}
	case keys["classes"] != nil:
		return &Proof{}
	case keys["exhibits"] != nil:
		return &Gallery{}
	case keys["violations"] != nil:
		return &Sweep{}
	case keys["findings"] != nil:
		return &Hunt{}
	}
	return nil
}

// notReport is the error of a text that is no report, without the names of Go's types.
func notReport(err error) error {
	var wrong *json.UnmarshalTypeError
	ok := errors.As(err, &wrong)
	switch {
	case ok && wrong.Field == "":
		err = fmt.Errorf("found %s", wrong.Value)
	case ok:
		err = fmt.Errorf("%s: found %s", wrong.Field, wrong.Value)
	}
	return fmt.Errorf("expected the JSON of a shard, printed with --shard and --json: %w", err)
}
