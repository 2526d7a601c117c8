package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"shmoo/diag"
	reportjson "shmoo/report/json"
)

// A Model answers questions. The zero value is ready for use; a Model is safe for concurrent use.
type Model struct {
	// Binary is a file of machine code that questions may be about besides sketches; nil for none. It must not change.
	Binary *Binary
}

// A call answers one question. Its errors are the client's to mend: bad JSON, bad input, a limit.
type call func(ctx context.Context, m *Model, body []byte) (any, error)

var calls = withBinaries(map[string]call{
	"evaluate": answer(evaluate),
	"examples": answer(listExamples),
	"fix":      answer(findFixes),
	"space":    answer(sweepSpace),
	"view":     answer(view),
})

// Names returns the names of the calls in alphabetical order.
func Names() []string {
	var names []string
	for name := range calls {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// An UnknownCallError is a name that Call does not know.
type UnknownCallError struct{ Name string }

func (e *UnknownCallError) Error() string {
	return fmt.Sprintf("call %q is unknown, want one of %v", e.Name, Names())
}

// An InputError is a question that cannot be answered as it stands. Diagnostics point into the source where they can.
type InputError struct {
	Diagnostics diag.List
	Err         error // set where there are no diagnostics
}

func (e *InputError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return e.Diagnostics.Error()
}

// Unwrap returns what was wrong.
func (e *InputError) Unwrap() error {
	if e.Err != nil {
		return e.Err
	}
	return e.Diagnostics
}

// Problem is the document that describes an error.
type Problem struct {
	Schema      string                  `json:"schema"` // "shmoo.problem/1"
	Message     string                  `json:"message"`
	Diagnostics []reportjson.Diagnostic `json:"diagnostics"`
}

// ProblemOf returns the document of an error.
func ProblemOf(err error) *Problem {
	p := &Problem{Schema: "shmoo.problem/1", Message: err.Error(), Diagnostics: []reportjson.Diagnostic{}}
	if errors.Is(err, context.DeadlineExceeded) {
		p.Message = "stopped: the evaluation took too long; try fewer blocks, shorter loops or a smaller space"
	}
	if list, ok := errors.AsType[diag.List](err); ok {
		p.Diagnostics = reportjson.Diagnostics(list)
	} else if one, ok := errors.AsType[*diag.Diagnostic](err); ok {
		p.Diagnostics = reportjson.Diagnostics(diag.List{one})
	}
	return p
}

// Call answers a question with a Model that knows of no binary.
func Call(ctx context.Context, name string, body []byte) ([]byte, error) {
	return new(Model).Call(ctx, name, body)
}

// Call answers the question body of the given name. Errors are *UnknownCallError, *InputError, or those of ctx.
func (m *Model) Call(ctx context.Context, name string, body []byte) ([]byte, error) {
	c, ok := calls[name]
	if !ok {
		return nil, &UnknownCallError{name}
	}
	reply, err := c(ctx, m, body)
	if err != nil {
		if ctxErr := ctx.Err(); ctxErr != nil {
			return nil, ctxErr
		}
		return nil, inputError(err)
	}
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(reply); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func inputError(err error) error {
	if e, ok := errors.AsType[*InputError](err); ok {
		return e
	}
	if list, ok := errors.AsType[diag.List](err); ok {
		return &InputError{Diagnostics: list}
	}
	return &InputError{Err: err}
}

// answer makes a call of a function on a decoded question. Unknown fields are refused: a misspelt field would otherwise
// give the answer to another question.
func answer[Question, Reply any](f func(context.Context, *Model, *Question) (Reply, error)) call {
	return func(ctx context.Context, m *Model, body []byte) (any, error) {
		var q Question
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil {
			return nil, fmt.Errorf("question: %w", err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("question: more than one JSON value, want one")
		}
		return f(ctx, m, &q)
	}
}
