package cli

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/zksim/zksim/cli/check"
	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
)

type completionCommand struct {
	Shell string   `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
	Words []string `arg:"" optional:"" passthrough:"" help:"Words of a command line, from which the shell wants the last one completed."`
}

// Run prints the script of a shell. The script calls the same command with the words of a line.
func (c *completionCommand) Run(a *app, parsed *kong.Context) error {
	if len(c.Words) == 0 {
		_, err := io.WriteString(a.Raw, completionScript(c.Shell, a.Name))
		return err
	}
	if c.Words[0] == "--" {
		c.Words = c.Words[1:]
	}
	candidates := completer{a.workloads}.candidates(parsed.Model.Node, c.Words)
	if len(candidates) == 0 {
		return command.ErrViolated // makes fish complete file names; the other shells do so anyway
	}
	_, err := fmt.Fprintln(a.Raw, strings.Join(candidates, "\n"))
	return err
}

// A completer knows the names of a command line.
type completer struct{ workloads scenario.Catalogue }

// candidates are the texts that the last word may become, none if it is the name of a file or
// anything else.
func (c completer) candidates(node *kong.Node, words []string) []string {
	if len(words) == 0 {
		return nil
	}
	last := words[len(words)-1]
	var flag *kong.Flag // the flag of the last word, if it has no value yet
	arguments := 0
	for i, word := range words[:len(words)-1] {
		child := childOf(node, word)
		switch {
		case flag != nil:
			flag = nil
		case strings.HasPrefix(word, "-"):
			flag = flagOf(node, word)
		case i == 0 && word == "help":
		case child != nil:
			node = child
		default:
			arguments++
		}
	}
	all := c.namesOf(node, flag, arguments)
	if flag == nil && strings.HasPrefix(last, "-") {
		all = flagsOf(node)
	}
	return slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, last) })
}

// namesOf are the commands, or the values of a flag or of an argument.
func (c completer) namesOf(node *kong.Node, flag *kong.Flag, argument int) []string {
	switch {
	case flag != nil:
		return c.values(flag.Value, node)
	case node.Type == kong.ApplicationNode:
		names := []string{"help", "version"}
		for _, child := range node.Children {
			names = append(names, child.Name)
		}
		return names
	case len(node.Positional) == 0:
		return nil
	}
	return c.values(node.Positional[min(argument, len(node.Positional)-1)], node)
}

// values are the values of a flag or of an argument that are names.
func (c completer) values(v *kong.Value, command *kong.Node) []string {
	var names []string
	switch command.Name + " " + v.Name {
	case "sweep workload", "fuzz workload", "prove workload":
		return c.workloads.Kinds()
	case "sweep impl", "fuzz impl", "prove impl":
		for _, w := range c.workloads {
			names = append(names, w.Impl)
		}
	case "fuzz strategy", "gallery strategy":
		for _, s := range hunt.Strategies() {
			names = append(names, s.Name)
		}
	case "gallery name":
		for _, e := range gallery.Exhibits() {
			names = append(names, e.Slug)
		}
	case "check kind":
		names = check.Kinds()
	case "go subcommand":
		return slices.Clone(goTakes)
	default:
		if v.Enum != "" {
			return v.EnumSlice()
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// flagOf is the flag that a word names, if its value is the next word.
func flagOf(node *kong.Node, word string) *kong.Flag {
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			if "--"+flag.Name == word && !flag.IsBool() {
				return flag
			}
		}
	}
	return nil
}

func flagsOf(node *kong.Node) []string {
	var names []string
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			names = append(names, "--"+flag.Name)
		}
	}
	slices.Sort(names)
	return names
}

// completionScripts are the scripts. F is the name of a function for the program NAME.
var completionScripts = map[string]string{
	"bash": `F() {
  local IFS=$'\n'
  COMPREPLY=($(NAME completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F F NAME
`,
	"zsh": `#compdef NAME
F() {
  local -a candidates
  candidates=("${(@f)$(NAME completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n $candidates ]]; then compadd -- "${candidates[@]}"; else _files; fi
}
compdef F NAME
`,
	"fish": `function F
    set -l words (commandline -opc) (commandline -ct)
    NAME completion fish -- $words[2..] 2>/dev/null; or __fish_complete_path (commandline -ct)
end
complete -c NAME -f -a '(F)'
`,
}

// completionScript is the script of a shell for a program.
func completionScript(shell, name string) string {
	f := "_" + notInName.ReplaceAllString(name, "_") + "_complete"
	return strings.NewReplacer("NAME", name, "F()", f+"()", "-F F ", fmt.Sprintf("-F %s ", f),
		"compdef F ", fmt.Sprintf("compdef %s ", f), "function F", "function "+f,
		"'(F)'", "'("+f+")'").Replace(completionScripts[shell])
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9_]`)
