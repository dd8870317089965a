package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// controls is what a test asks for, over plain HTTP:
//
//	GET  /streams?match=S            counts of the requests for logs: `open N`, `requests N` and, of all, `most N` at once
//	POST /cut?match=S                breaks the open streams: HTTP/2 resets them, HTTP/1.1 closes their connections
//	POST /end?match=S                ends them as if they were complete, as at a kubelet's time limit
//	POST /disconnect                 resets the connections of the API servers, with all streams on them
//	POST /follows?limit=N            more than N follows at once lack inotify watches (0: no limit)
//	POST /fault?match=S&times=N&…    the next N requests (all, without N) get
//	     delay=2s                       an answer that begins later
//	     status=500&text=T              this status and text; only a text: 200
//	     gone=true                      the words for a container that the runtime has removed
//	     watches=none                   the words for a follow without an inotify watch, after the log so far
//	POST /clear?match=S              takes the faults for S away; without S, all faults and the limit
//
// S is a part of NAMESPACE/POD/CONTAINER; the oldest fault that matches strikes. /cut and /end print the streams.
func (k *kubelet) controls() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /streams", func(w http.ResponseWriter, r *http.Request) {
		part := r.FormValue("match")
		open, requests := len(k.streams.matching(part)), k.streams.requestsFor(part)
		fmt.Fprintf(w, "open %d\nrequests %d\nmost %d\n", open, requests, k.streams.mostAtOnce())
	})
	mux.HandleFunc("POST /cut", k.onStreams((*stream).cut))
	mux.HandleFunc("POST /end", k.onStreams(func(open *stream) { open.end() }))
	mux.HandleFunc("POST /disconnect", func(http.ResponseWriter, *http.Request) { k.streams.disconnect() })
	mux.HandleFunc("POST /follows", func(w http.ResponseWriter, r *http.Request) {
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		k.streams.limitFollows(limit)
	})
	mux.HandleFunc("POST /fault", func(w http.ResponseWriter, r *http.Request) {
		asked, err := newFault(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		k.faults.add(asked)
	})
	mux.HandleFunc("POST /clear", func(_ http.ResponseWriter, r *http.Request) {
		match := r.FormValue("match")
		k.faults.clear(match)
		if match == "" {
			k.streams.limitFollows(0)
		}
	})
	return mux
}

// onStreams does something to each open stream that the request names, and prints the stream.
func (k *kubelet) onStreams(act func(*stream)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, open := range k.streams.matching(r.FormValue("match")) {
			act(open)
			fmt.Fprintln(w, open.what)
		}
	}
}

// fault is what requests get instead of a log.
type fault struct {
	match        string
	left         int // how many requests it still strikes; negative: all
	delay        time.Duration
	status       int
	text         string
	isGone       bool
	lacksWatches bool
}

func newFault(query url.Values) (*fault, error) {
	asked := &fault{match: query.Get("match"), text: query.Get("text"), left: -1, status: http.StatusOK}
	asked.isGone = query.Get("gone") == "true"
	asked.lacksWatches = query.Get("watches") == "none"
	for name, number := range map[string]*int{"times": &asked.left, "status": &asked.status} {
		if text := query.Get(name); text != "" {
			value, err := strconv.Atoi(text)
			if err != nil {
				return nil, err
			}
			*number = value
		}
	}
	if text := query.Get("delay"); text != "" {
		delay, err := time.ParseDuration(text)
		if err != nil {
			return nil, err
		}
		asked.delay = delay
	}
	return asked, nil
}

// faults holds those that tests have asked for, the oldest first.
type faults struct {
	mutex sync.Mutex
	asked []*fault
}

func (f *faults) add(asked *fault) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.asked = append(f.asked, asked)
}

// clear removes the faults that were asked for with this part of a name; without one, all.
func (f *faults) clear(match string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.asked = slices.DeleteFunc(f.asked, func(asked *fault) bool { return match == "" || asked.match == match })
}

// take returns what strikes a request for this log; a fault that does nothing, if none does.
func (f *faults) take(what string) fault {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, asked := range f.asked {
		if asked.left != 0 && strings.Contains(what, asked.match) {
			asked.left--
			return *asked
		}
	}
	return fault{status: http.StatusOK}
}
