package show

import "github.com/zksim/zksim/fuzz/scenario"

// Story is the story of an outcome, and below it the place in the code that made the znode to
// blame, if there is one. To find the place, it runs the scenario once more.
func Story(o *scenario.Outcome) string {
	story := o.Story()
	if at := o.Maker(); at != "" {
		story += "\nthe znode to blame was made at " + at + "\n"
	}
	return story
}
