// Command kstatus is the reference that our status rules are compared with: sigs.k8s.io/cli-utils'
// pkg/kstatus, the library behind `kubectl` apply tools such as kpt and Flux.
//
//	kstatus generate N SEED   prints N objects, one a line; the same for the same seed
//	kstatus compute           reads objects, one a line; prints what kstatus says of each, in order
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	err := run(os.Args[1:], os.Stdin, out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kstatus:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) == 3 && args[0] == "generate":
		count, err := strconv.Atoi(args[1])
		if err != nil {
			return fmt.Errorf("how many objects: %w", err)
		}
		seed, err := strconv.ParseUint(args[2], 10, 64)
		if err != nil {
			return fmt.Errorf("seed: %w", err)
		}
		return generate(count, seed, encoder(out))
	case len(args) == 1 && args[0] == "compute":
		return compute(in, encoder(out))
	default:
		return errors.New("usage: kstatus generate N SEED | kstatus compute")
	}
}

// encoder writes a value a line, as it is: <, > and & are not escaped.
func encoder(out io.Writer) *json.Encoder {
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	return lines
}

// result is what kstatus says of one object.
type result struct {
	Status     string      `json:"status"`
	Message    string      `json:"message"`
	Conditions []condition `json:"conditions"`
}

// condition is kstatus's own, but with empty fields written too.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// failure stands in the place of a result where kstatus gives an error or panics.
type failure struct {
	Error string `json:"error"`
}

// compute answers each line of its input with a line.
func compute(in io.Reader, out *json.Encoder) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if err := out.Encode(answer(line)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// answer is the result or the failure of one object. kstatus asserts the types of some fields that
// it has not looked at and panics where they are others.
func answer(line []byte) (answer any) {
	defer func() {
		if panicked := recover(); panicked != nil {
			answer = failure{fmt.Sprintf("panic: %v", panicked)}
		}
	}()
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON(line); err != nil {
		return failure{fmt.Sprintf("decode: %v", err)}
	}
	computed, err := status.Compute(&object)
	if err != nil {
		return failure{err.Error()}
	}
	return toResult(computed)
}

func toResult(computed *status.Result) result {
	conditions := make([]condition, 0, len(computed.Conditions))
	for _, c := range computed.Conditions {
		conditions = append(conditions, condition{c.Type.String(), string(c.Status), c.Reason, c.Message})
	}
	return result{computed.Status.String(), computed.Message, conditions}
}
