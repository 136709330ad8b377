// Package judging has what the judges of all families share: the server's log as znodes and
// sessions, the operation behind each change, the search for an order, and the checks of calls that
// never return and of leftovers.
package judging
