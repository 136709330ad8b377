// Package property checks properties of services that use ZooKeeper, with rapid
// (pgregory.net/rapid). rapid draws what the clients do, their data, the faults and the order of
// the messages together, and makes a failure small:
//
//	func TestRegistration(t *testing.T) {
//		property.Check(t, func(rt *rapid.T, w *property.World) {
//			service := registration.New(w.Conn("a"))
//			rt.Repeat(map[string]func(*rapid.T){
//				"announce": func(rt *rapid.T) {
//					address := rapid.StringMatching(`[a-z]{1,4}`).Draw(rt, "address")
//					service.Announce(w.Context(), address)
//				},
//				"wait": func(*rapid.T) { w.Sleep(10 * time.Second) },
//				"": func(rt *rapid.T) {
//					// what must be true after each action, by replies or by w.Tree("/")
//				},
//			})
//		})
//	}
//
// Use package fuzz for a lock, a queue or another object that it knows: it has the script and the
// judge. Use this package for a service with promises of its own, which your assertions check.
//
// # A World
//
// The body runs in virtual time, in a World of package sim: with three clients, a, b and c, and
// genuine connections to one server. [CheckServers] takes an ensemble, which answers reads late.
// rapid draws the plan of up to three faults before the body begins, so the calls of the body fail
// as they do in production. The body runs in one goroutine. [World.Go] runs a function at the same
// time, as one client.
//
// Only the body may draw. Goroutines of the code under test must be deterministic, as in a hunt:
// two of them that one event wakes must not race for memory, and channels from outside of the body
// stop the time.
//
// An action may fail because of a fault. [World.MayFail] makes an action of a function that returns
// an error: the error is a line of the trace and no failure. [MakeFuzz] lets Go's fuzzer draw.
//
// # A failure
//
// rapid makes the draws small, and with them the plan: faults that are not needed go, others become
// plainer and earlier. Then this package leaves out faults, makes others plainer, and lets a single
// one take the place of several at another request, for as long as the failure stays; rapid may
// have had no time for that, and it changes one draw at a time. The faults that are played then are
// not the drawn ones, and the output has both. It ends when nothing was gained for four seconds,
// also before -rapid.shrinktime is over. The output has the draws, the faults, the lines of the
// trace that matter, without the body's own reads of the tree, what the service logs, and the
// command that shows the failure again.
//
// Some flags of package fuzz are here, too. -zksim.html=DIR draws the failure. With the command
// above, -zksim.step walks through it on the terminal, -zksim.until=N shows it up to a line, and
// -zksim.diff=FILE shows where it leaves the trace in FILE, which is the output of an earlier go
// test with -zksim.until. When the bug is mended, the last three show the run of its fail file.
//
// rapid writes a fail file to testdata/rapid, and this package the plan beside it, if it is not the
// drawn one. Each later run of the test begins with the files there: commit them. -rapid.failfile
// and -rapid.seed repeat a failure; the same seed gives the same trace. A body that draws more than
// a fail file has, as it may once its bug is mended, makes the file invalid: the log has the
// command that removes it.
//
// The log of a test that passes, which go test -v shows, says on what it rests: how many checks had
// faults, how many faults struck something, and how many requests were sent. rapid's 100 checks are
// few: let a CI play RAPID_CHECKS=1000. Each process draws all its checks anew, so the variables
// ZKSIM_SHARD, ZKSIM_RUNS and ZKSIM_SEED of package fuzz mean nothing here.
//
// A failure is not saved as a scenario file, because the script consists of code of the test and
// draws of rapid. The fail file has the draws and the story of the failure, and the plan has the
// faults, so the two replace the scenario file. So other flags of package fuzz, such as
// -zksim.servers, mean nothing here. The order of the messages comes from the drawn seed alone:
// there are no schedules.
//
// A body that does not end within six hours of virtual time fails, and so does one that panics.
// Code under test that stops virtual time, or that sends requests without end and without a pause,
// fails the check as in a hunt. The body itself never counts as such code: it may read the tree
// after each of its actions, and each call of Conn, Connect, Go or Tree in it counts as progress.
//
// If the code under test ends the process, standard error has the seed of rapid, the number of the
// check, and its faults. The next process plays with the same seed; -rapid.seed goes before.
//
// While a Check plays, up to 64 MB more garbage gathers than else, as in a test of package fuzz.
// The section on memory of that package says why, and which settings limit it.
package property
