package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// generator makes schedules: most are plausible, some are at or beyond the edge of what parses.
type generator struct{ *rand.Rand }

// field is the range of a field, and the names of its numbers.
type field struct {
	lowest, highest int
	names           []string
}

var fields = []field{
	{0, 59, nil},
	{0, 23, nil},
	{1, 31, nil},
	{1, 12, strings.Fields("jan feb MAR Apr may JUN jul aug sep oct NOV dec")},
	{0, 6, strings.Fields("sun MON Tue wed thu FRI sat")},
}

// zones have clock changes at all hours of the day, by an hour, by half an hour, and by a day. The last ones do not exist.
var zones = strings.Fields(`UTC Europe/Berlin America/New_York America/Sao_Paulo Australia/Lord_Howe Asia/Beirut
	America/Havana Asia/Tehran Asia/Kathmandu Pacific/Chatham Pacific/Apia Europe/Dublin America/St_Johns Africa/Cairo
	Asia/Amman America/Santiago Etc/GMT+5 EST5EDT Mars/Base europe/berlin ../UTC /UTC`)

const unknownZones = 4

// changes are times near changes of the clock in these zones.
var changes = []string{
	"2021-03-28T00:30:00Z", "2021-10-30T23:10:00Z", "2021-03-14T06:10:00Z", "2021-11-07T05:20:00Z",
	"2018-11-03T20:00:00Z", "2018-02-17T22:00:00Z", "2021-10-02T14:00:00Z", "2021-04-03T14:10:00Z",
	"2021-03-27T20:00:00Z", "2021-10-30T19:00:00Z", "2021-03-14T03:30:00Z", "2021-11-07T03:00:00Z",
	"2021-03-21T18:00:00Z", "2021-09-21T17:30:00Z", "2011-12-29T20:00:00Z", "2010-03-14T02:00:00Z",
	"2014-05-15T20:00:00Z", "2021-03-25T20:00:00Z", "2021-09-05T01:00:00Z", "2096-03-01T00:00:00Z",
}

func (g generator) job() job {
	job := job{schedule: g.schedule(), zone: g.zone(), from: g.from()}
	if job.from.Year() > 2023 {
		job.zone = "" // nobody knows the clock changes of the future
	}
	return job
}

// from is a time of this century, a third of the time near a change of a clock. The Rust side knows whole seconds alone.
func (g generator) from() time.Time {
	if g.IntN(3) == 0 {
		change, err := time.Parse(time.RFC3339, pick(g, changes))
		if err != nil {
			panic(err)
		}
		return change.Add(time.Duration(g.IntN(6*3600)-3600) * time.Second).UTC()
	}
	day := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, g.IntN(14*365))
	return day.Add(time.Duration(g.IntN(24*60)*60+pick(g, []int{0, 0, 30, 59})) * time.Second)
}

func (g generator) zone() string {
	switch g.IntN(20) {
	case 0:
		return zones[len(zones)-1-g.IntN(unknownZones)]
	case 1, 2, 3, 4, 5, 6:
		return ""
	default:
		return pick(g, zones[:len(zones)-unknownZones])
	}
}

func (g generator) schedule() string {
	text := g.plain()
	switch g.IntN(40) {
	case 0:
		return "TZ=" + g.zone() + " " + text
	case 1:
		return "CRON_TZ=" + g.zone() + "  " + text
	case 2:
		return pick(g, []string{"TZ=UTC", "TZ=", "TZ=UTC ", "TZ * * * *", "tz=UTC " + text, "TZ=UTC\t" + text})
	case 3:
		return pick(g, []string{" ", "\t", "\u00a0"}) + text + " "
	case 4:
		return text + pick(g, []string{" *", " 0", ","})
	default:
		return text
	}
}

func (g generator) plain() string {
	switch g.IntN(12) {
	case 0:
		return pick(g, strings.Fields("@yearly @annually @monthly @weekly @daily @midnight @hourly @Daily @reboot @every"))
	case 1:
		return "@every " + g.duration()
	case 2:
		return pick(g, []string{"", "* * * *", "0 0 31 2 *", "0 0 30 feb ?", "59 23 31 4,6,9,11 *", "0 0 29 2 *",
			"0 0 31 2 1", "0 0 */1 * 1", "0 0 ?/1 * 1", "0 0 1,* * 1", "0 0 13 * */1", "* * * * 7", "0 24 * * *", "0 0 0 * *",
			", * * * *", "0 , * * *", "0 0 , * ,", "0 0 * , *", "*-5 * * * *", "?-x-y * * * *", "0 0 *-3/2 * 2"})
	default:
		parts := make([]string, len(fields))
		for at := range fields {
			parts[at] = g.field(fields[at])
		}
		return strings.Join(parts, pick(g, []string{" ", " ", " ", "  ", "\t"}))
	}
}

func (g generator) field(f field) string {
	if g.IntN(3) == 0 {
		return pick(g, []string{"*", "*", "?"})
	}
	parts := []string{g.part(f)}
	for g.IntN(4) == 0 {
		parts = append(parts, g.part(f))
	}
	return strings.Join(parts, ",")
}

func (g generator) part(f field) string {
	switch g.IntN(12) {
	case 0:
		return "*"
	case 1:
		return pick(g, []string{"*", "?"}) + "/" + g.step(f)
	case 2:
		return g.number(f) + "/" + g.step(f)
	case 3, 4:
		return g.span(f)
	case 5:
		return g.number(f) + "-" + strconv.Itoa(f.highest) + "/" + g.step(f)
	case 6:
		if g.IntN(6) > 0 {
			return g.number(f)
		}
		return pick(g, []string{"", "+3", "-1", "x", "1-2-3", "1/2/3", "*/*", "1-", "/2", "03", "1.5", "L", "?x", "５"})
	default:
		return g.number(f)
	}
}

// span is a range, nearly always from the lower number to the higher one.
func (g generator) span(f field) string {
	low, high := g.IntN(f.highest-f.lowest+1), g.IntN(f.highest-f.lowest+1)
	if low > high && g.IntN(10) > 0 {
		low, high = high, low
	}
	name := func(at int) string {
		if f.names != nil && g.IntN(2) == 0 {
			return f.names[at]
		}
		return strconv.Itoa(f.lowest + at)
	}
	return name(low) + "-" + name(high)
}

func (g generator) number(f field) string {
	if f.names != nil && g.IntN(2) == 0 {
		return pick(g, f.names)
	}
	if g.IntN(60) == 0 {
		return strconv.Itoa(pick(g, []int{f.lowest - 1, f.highest + 1}))
	}
	return strconv.Itoa(f.lowest + g.IntN(f.highest-f.lowest+1))
}

func (g generator) step(f field) string {
	if g.IntN(8) > 0 {
		return pick(g, []string{"1", "1", "2", "3", "5", "7", "10", "15", strconv.Itoa(f.highest)})
	}
	return pick(g, []string{"01", "+2", "0", "-0", "99", "4294967297", "9223372036854775807", "9223372036854775808", "", "x"})
}

func (g generator) duration() string {
	return pick(g, []string{"1h", "90m", "1h30m", "1.5h", "45s", "36h", "500ms", "1s999ms", ".5m", "1.m", "0", "0s", "-1h",
		"+2m", "1d", "h", "1", "", " 1h", "1h ", "1h30", "1µs", "1μs", "3000000us", "5e9ns", "9999999h", "1h-5m", "1 h", ".s",
		"2562047h47m16.854775807s", "2562047h47m16.854775808s", "0.0000000001h", fmt.Sprintf("%dm%ds", g.IntN(500), g.IntN(500))})
}

func pick[T any](g generator, of []T) T {
	return of[g.IntN(len(of))]
}
