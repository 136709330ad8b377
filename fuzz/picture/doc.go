// Package picture draws a run as one HTML page that needs nothing else: no network, no server, no
// other file. A colleague can get it by mail.
//
// The page has the verdict in words and the command that repeats the run. Below it is a space-time
// diagram. Time runs down; each client has a lane, with its calls, its holds and its session, and
// each server has one. Messages are arrows from the moment at which they were sent to that at which
// they arrived. Beside the diagram are the lines of the trace, and the tree of znodes at the chosen
// line. Pings, refused dials and repetitions are folded.
//
// [Write] takes the outcome of a run. The structure comes from the values of trace.Result and
// linearizability.History; the texts are those of the trace. The same scenario gives the same page,
// byte for byte. Text of the code under test cannot become part of the page's markup, and the
// page's Content-Security-Policy forbids every request.
//
// page.html, page.css and the files *.js are the page. run.go has the data that they show, and
// read.go takes it from an outcome.
package picture
