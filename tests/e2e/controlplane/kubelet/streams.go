package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// streams holds what is open towards the API servers, and counts.
type streams struct {
	mutex       sync.Mutex
	opened      map[*stream]bool
	requests    map[string]int
	most        int
	maxFollows  int
	connections map[net.Conn]bool
}

// stream is one request for a log that is being answered.
type stream struct {
	what     string // NAMESPACE/POD/CONTAINER
	isFollow bool
	context  context.Context
	end      context.CancelFunc
	writer   http.ResponseWriter
	isCut    atomic.Bool
}

func newStreams() *streams {
	return &streams{opened: map[*stream]bool{}, requests: map[string]int{}, connections: map[net.Conn]bool{}}
}

func (s *streams) open(w http.ResponseWriter, r *http.Request, what string) *stream {
	ctx, cancel := context.WithCancel(r.Context())
	opened := &stream{what: what, isFollow: r.URL.Query().Get("follow") == "true", context: ctx, end: cancel, writer: w}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.opened[opened] = true
	s.requests[what]++
	s.most = max(s.most, len(s.opened))
	return opened
}

// close ends the answer: as if it were complete, or as a broken one.
func (s *streams) close(closed *stream) {
	closed.end()
	s.mutex.Lock()
	delete(s.opened, closed)
	s.mutex.Unlock()
	if closed.isCut.Load() {
		panic(http.ErrAbortHandler)
	}
}

// cut breaks a stream, even one that waits for its reader: HTTP/2 resets it, HTTP/1.1 closes its connection.
func (s *stream) cut() {
	s.isCut.Store(true)
	s.end()
	// Without a deadline, a write would wait until the reader reads again.
	_ = http.NewResponseController(s.writer).SetWriteDeadline(time.Now())
}

// matching returns the open streams whose name has this part.
func (s *streams) matching(part string) []*stream {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var found []*stream
	for opened := range s.opened {
		if strings.Contains(opened.what, part) {
			found = append(found, opened)
		}
	}
	return found
}

// requestsFor returns how many requests there were whose name has this part.
func (s *streams) requestsFor(part string) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	sum := 0
	for what, count := range s.requests {
		if strings.Contains(what, part) {
			sum += count
		}
	}
	return sum
}

// mostAtOnce returns the highest number of streams that were open at the same time.
func (s *streams) mostAtOnce() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.most
}

// limitFollows sets how many streams can follow at the same time; 0 is no limit.
func (s *streams) limitFollows(limit int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.maxFollows = limit
}

// exceedsFollows returns whether more streams follow a log than the node can.
func (s *streams) exceedsFollows() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	follows := 0
	for opened := range s.opened {
		if opened.isFollow {
			follows++
		}
	}
	return s.maxFollows > 0 && follows > s.maxFollows
}

func (s *streams) noteConnection(connection net.Conn, state http.ConnState) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch state {
	case http.StateNew:
		s.connections[connection] = true
	case http.StateClosed, http.StateHijacked:
		delete(s.connections, connection)
	}
}

// disconnect resets all connections of the API servers, with all streams on them.
func (s *streams) disconnect() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for connection := range s.connections {
		if secure, ok := connection.(*tls.Conn); ok {
			connection = secure.NetConn()
		}
		if plain, ok := connection.(*net.TCPConn); ok {
			_ = plain.SetLinger(0)
		}
		_ = connection.Close()
	}
}
