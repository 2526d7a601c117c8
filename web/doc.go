// Package web serves the page of the program: an editor with live counts, bank pictures, fixes and spaces. The page is
// embedded and needs nothing from the network.
//
//	err := web.Serve(ctx, web.Options{Addr: "127.0.0.1:0", Ready: func(url string) { fmt.Println(url) }})
//
// A request is a POST of JSON to /api/NAME; package web/eval says which names there are and what they answer. The server
// listens on the loopback interface unless told otherwise, and answers only to names of the local machine and to pages of
// its own origin, so that no other page a user visits can reach it.
//
// Limits: one process and no accounts. Bodies, time and the number of evaluations at once are bounded (Limits), memory by
// the bounds of the packages that evaluate.
package web
