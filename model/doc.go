// Package model specifies the objects that recipes build: [Lock], [ReentrantLock], [RWLock],
// [Semaphore], [Queue], [PriorityQueue], [DelayQueue], [Counter], [Value], [Barrier] and
// [Transaction], each as a sequential object, with one operation at a time.
//
// Each object is a small comparable value with a method Step, which returns every state that the
// object may be in after an operation. If the operation cannot have happened, there is none; if its
// outcome is not known, there may be two:
//
//	states := model.Lock{}.Step(model.LockOp{Kind: model.Acquire, By: owner, Token: 7})
//
// The models are written to be obviously right rather than fast, import nothing but the standard
// library, and share no code with the recipes that they are used to judge, so a mistake has to be
// made twice to go unnoticed.
//
// The kinds of locks share one type of operation, [LockOp]. An object of another kind is one more
// file: a comparable state, an operation with an [Outcome], and Step.
package model
