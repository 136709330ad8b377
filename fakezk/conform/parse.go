package conform

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// parseFamily parses a file of scripts. A script begins with a line "== NAME"; "# "
// begins a comment, "needs ABILITY" is an ability that the servers must have, "mark NAME" a
// line of the engine that the built-in server reaches, and every other line is a step.
func parseFamily(family, text string) ([]script, error) {
	var scripts []script
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		name, isName := strings.CutPrefix(line, "== ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case isName:
			scripts = append(scripts, script{family: family, name: name})
			continue
		case len(scripts) == 0:
			return nil, fmt.Errorf("%s:%d: a step before the first script", family, number)
		}
		s := &scripts[len(scripts)-1]
		if need, ok := strings.CutPrefix(line, "needs "); ok {
			s.needs = append(s.needs, need)
			continue
		}
		if mark, ok := strings.CutPrefix(line, "mark "); ok {
			s.mark = mark
			continue
		}
		steps, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", family, number, line, err)
		}
		for i := range steps {
			steps[i].line, steps[i].number = line, number
		}
		s.steps = append(s.steps, steps...)
	}
	return scripts, nil
}

// parseLine parses a step, or "repeat N STEP", in which % is the number of the repetition, from 0.
func parseLine(line string) ([]step, error) {
	rest, ok := strings.CutPrefix(line, "repeat ")
	if !ok {
		s, err := parseStep(line)
		return []step{s}, err
	}
	count, rest, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		return nil, fmt.Errorf("repeat %s: want a number", count)
	}
	var steps []step
	for i := range n {
		s, err := parseStep(strings.ReplaceAll(rest, "%", strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// mustParse parses a step that this package has generated.
func mustParse(line string) step {
	s, err := parseStep(line)
	if err != nil {
		panic(fmt.Sprintf("conform: %s: %v", line, err))
	}
	return s
}

// parseStep parses SESSION VERB ARGUMENTS.
func parseStep(line string) (step, error) {
	tokens, err := tokenize(line)
	if err != nil {
		return step{}, err
	}
	if len(tokens) < 2 {
		return step{}, fmt.Errorf("want a session and a verb")
	}
	s := step{text: line, session: tokens[0].value}
	a := &arguments{verb: tokens[1].value, given: tokens[2:]}
	switch a.verb {
	case "connect", "attach":
		s.kind = map[string]stepKind{"connect": stepConnect, "attach": stepAttach}[a.verb]
		s.connect = parseConnecting(a)
	case "drop":
		s.kind = stepDrop
	case "expire":
		s.kind = stepExpire
	case "await":
		s.kind, s.frames = stepAwait, int(a.int32("n", 1))
	case "first", "bytes", "partial":
		kinds := map[string]stepKind{
			"first": stepFirst, "bytes": stepBytes, "partial": stepPartial,
		}
		s.kind, s.bytes = kinds[a.verb], a.hex()
	case "burst":
		s.requests, err = parseGroup(a)
		return s, err
	default:
		r, err := parseRequest(a)
		s.requests = []request{r}
		return s, err
	}
	return s, a.done()
}

// parseConnecting parses the differences of a connect request from an ordinary one.
func parseConnecting(a *arguments) connecting {
	c := connecting{
		timeoutMs: a.int32("timeout", defaultTimeoutMs), version: a.int32("version", 0),
	}
	if c.zxidAhead = a.word("ahead"); !c.zxidAhead {
		c.zxid = a.int64("zxid", 0)
	}
	switch ro := a.text("ro", "0"); ro {
	case "none":
		c.noReadOnly = true
	case "1":
		c.readOnly = true
	case "0":
	default:
		a.fail("ro=%s: want none, 0 or 1", ro)
	}
	c.id = a.choice("id", "unknown", "negative")
	c.password = a.choice("password", "wrong", "short", "null", "zero", "long")
	return c
}

// choice takes an argument that must be one of some words. It returns "" without one.
func (a *arguments) choice(key string, words ...string) string {
	given := a.text(key, "")
	for _, w := range words {
		if given == w {
			return given
		}
	}
	if given != "" {
		a.fail("%s=%s: want one of %s", key, given, strings.Join(words, ", "))
	}
	return ""
}

// hex takes bytes, two digits each, as one argument.
func (a *arguments) hex() []byte {
	t := a.next("bytes in hex")
	b, err := hex.DecodeString(t.value)
	if err != nil {
		a.fail("%s: %v", t.value, err)
	}
	return b
}

// parseGroup parses "{ REQUEST ; REQUEST }".
func parseGroup(a *arguments) ([]request, error) {
	if len(a.given) < 2 || a.given[0].value != "{" || a.given[len(a.given)-1].value != "}" {
		return nil, fmt.Errorf("%s: want requests within { and }", a.verb)
	}
	var requests []request
	for _, words := range split(a.given[1 : len(a.given)-1]) {
		r, err := parseRequest(&arguments{verb: words[0].value, given: words[1:]})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.verb, err)
		}
		requests = append(requests, r)
	}
	return requests, nil
}

// split splits tokens at every ";" outside of braces.
func split(tokens []token) [][]token {
	var groups [][]token
	var group []token
	depth := 0
	for _, t := range tokens {
		switch {
		case !t.quoted && t.value == "{":
			depth++
		case !t.quoted && t.value == "}":
			depth--
		case !t.quoted && t.value == ";" && depth == 0:
			if len(group) > 0 {
				groups = append(groups, group)
			}
			group = nil
			continue
		}
		group = append(group, t)
	}
	if len(group) > 0 {
		groups = append(groups, group)
	}
	return groups
}
