// Command cron is the reference that the schedules of CronJobs are compared with: robfig/cron, the
// library of the CronJob controller.
//
//	cron N SEED   prints N schedules, one a line, with their next starts; the same for the same seed
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata"

	"github.com/robfig/cron/v3"
)

// How many starts in a row are printed.
const starts = 4

func main() {
	out := bufio.NewWriter(os.Stdout)
	err := run(os.Args[1:], out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cron:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("usage: cron N SEED")
	}
	count, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("how many schedules: %w", err)
	}
	seed, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	random := generator{rand.New(rand.NewPCG(seed, 0))}
	for range count {
		job := random.job()
		schedule, err := json.Marshal(job.schedule)
		if err != nil {
			return err
		}
		fields := []string{string(schedule), job.zone, strconv.FormatInt(job.from.Unix(), 10), job.next()}
		if _, err := fmt.Fprintln(out, strings.Join(fields, "\t")); err != nil {
			return err
		}
	}
	return nil
}

// job is what the controller reads of a CronJob, and the time of its last start.
type job struct {
	schedule, zone string
	from           time.Time
}

// next returns the next starts: the first as seconds since 1970, each other one as seconds since the one before. "never"
// stands for no start, "error" for a schedule that does not parse, "zone" for a time zone that does not exist.
func (j job) next() string {
	if j.zone != "" {
		if _, err := time.LoadLocation(j.zone); err != nil {
			return "zone"
		}
	}
	schedule, err := parse(j.text())
	if err != nil {
		return "error"
	}
	var found []string
	before, last := int64(0), j.from
	for range starts {
		start := schedule.Next(last)
		if start.IsZero() {
			return strings.Join(append(found, "never"), " ")
		}
		found = append(found, strconv.FormatInt(start.Unix()-before, 10))
		before, last = start.Unix(), start
	}
	return strings.Join(found, " ")
}

// text is the schedule as the controller hands it to the library.
func (j job) text() string {
	if j.zone == "" || strings.Contains(j.schedule, "TZ") {
		return j.schedule
	}
	return "TZ=" + j.zone + " " + j.schedule
}

// parse is the library's, which panics if nothing follows a time zone. The controller takes that for an error.
func parse(text string) (schedule cron.Schedule, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	return cron.ParseStandard(text)
}
