//go:build js && wasm

// Command wasm is the model for pages that have no server: web/eval behind one JavaScript function.
//
//	GOOS=js GOARCH=wasm go build -ldflags='-s -w' -o model.wasm ./web/wasm
//
// shmooCall(name, question) returns {ok, reply}, both JSON texts as POST /api/NAME takes and gives them. shmooReady is called
// when it is there.
//
// Limits: one question at a time, on the thread of the page. The time of a question is bounded as on the server.
package main

import (
	"context"
	"encoding/json"
	"syscall/js"
	"time"

	"shmoo/web/eval"
)

// timeout bounds one question; the page does not react while it runs.
const timeout = 10 * time.Second

func main() {
	js.Global().Set("shmooCall", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) != 2 {
			return reply(nil, errArguments)
		}
		return reply(answer(args[0].String(), args[1].String()))
	}))
	js.Global().Call("shmooReady")
	select {}
}

type argumentsError struct{}

func (argumentsError) Error() string { return "shmooCall: want a name and a question" }

var errArguments error = argumentsError{}

func answer(name, question string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return eval.Call(ctx, name, []byte(question))
}

func reply(data []byte, err error) any {
	if err != nil {
		data, _ = json.Marshal(eval.ProblemOf(err)) // texts and numbers always have a form
	}
	return map[string]any{"ok": err == nil, "reply": string(data)}
}
