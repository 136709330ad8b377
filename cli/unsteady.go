package cli

// unsteady is what is said of a violated property whose scenario does not show it each
// time ([scenario.Outcome.Steady]): nobody could see it again.
const unsteady = "%s is violated, but not each time, so it is not saved: two runs of one seed differ; " +
	"does the code share state between runs, or use math/rand or map order?"
