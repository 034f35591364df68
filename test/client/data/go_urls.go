// SPDX-License-Identifier: Apache-2.0

// Prints what Go's net/url makes of odd URLs, a JSON object a line: the facts of url_test.cc.
//
//	go run test/client/data/go_urls.go 1 900 >test/client/data/go_urls.jsonl
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"net/url"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

var schemes = []string{"", "http:", "https:", "HTTP:", "hTTps:", "ftp:", "socks5:", "a+b-c.1:", "1a:", ":", "é:", "http", "a_b:", "-:"}
var slashes = []string{"//", "//", "//", "//", "/", "", "///", "////"}
var users = []string{"", "", "", "", "u@", "u:p@", "u:@", ":p@", "@", "u:p:q@", "a%40b:c%2Fd@", "u p@", "u@v@", "ü@", "u%zz@", "a/b@", "<@", "a!$&'()*+,;=~@", "u:%@"}
var hosts = []string{"h", "h", "127.0.0.1", "my_ext", "a.b.example", "", "[::1]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1", "::1", "< ip >", "a b", "ü", "h%41", "h%20", "%C3%BC", "[x]", "[1.2.3.4]", "[::ffff:1.2.3.4]", "a<b>c", "a\"b", "a^b", "a|b", "a`b", "{h}", "a%25b", "a[b]", "[::1]x", "x[::1]", "a..b", "-", "*", "a,b;c", "[::1%25a b]", "[::1%25a%20b]", "[::1%25%41]", "[::1%25%2f]", "a\\b", "[]", "[%3a%3a1]", "[::1%25]", "]", "h]", "%", "%2", "h%zz", "[::1]]", "[[::1]]", "1:2", "[::g]", "[1:2:3:4:5:6:7:8]", "[01::1]", "[00001::1]", "[::1.2.3]", "[::%251]"}
var ports = []string{"", "", "", ":1", ":443", ":", ":99999", ":x", ":0", ":-1", ":+1", ":1x", ":00080", "::1", ":1:2", ":99999999999999999999", ": 1", ":%31"}
var paths = []string{"", "", "/", "/s", "/a b", "/é", "/%zz", "/%2Fa", "/a%2Fb c", "/a/../b", "//a//", "/a;b,c", "/[x]", "/a\"b", "/a|b", "/{x}", "/~u", "/a:b", "/a@b", "/%41%7e", "/%C3%A9", "/a%", "/a%2", "/*", "/!'()*", "/a+b", "/a%20b", "/<>", "/^`\\", "/a&b=c$d", "x", "/%e9", "/\u2028"}
var queries = []string{"", "", "", "?", "?x=1", "?a b", "??", "?x?", "?%zz", "?é", "?a=/b:c@d", "? ", "?a#b?c", "?+"}
var fragments = []string{"", "", "", "#", "#f", "#f g", "#%zz", "#é", "##", "#a%20b", "#a/b?c", "#[x]", "#!()*'", "#f#g", "#%41"}
var junk = []string{" ", "\t", "\x00", "\x7f", "\n", "%", ":", "/", "?", "#", "@", "[", "]", "\\", "é", ".", "%25", "\"", "'", "<", "&", "*", "//"}

func pick(r *rand.Rand, from []string) string { return from[r.Intn(len(from))] }

func show(text string) {
	row := map[string]any{"url": text}
	if u, err := url.Parse(text); err != nil {
		row["error"] = err.Error()
	} else {
		row["scheme"], row["opaque"], row["host"], row["hostname"], row["port"] = u.Scheme, u.Opaque, u.Host, u.Hostname(), u.Port()
		row["path"], row["target"], row["query"], row["fragment"], row["text"] = u.Path, u.RequestURI(), u.RawQuery, u.Fragment, u.String()
		row["user"], row["password"] = nil, nil
		if u.User != nil {
			row["user"] = u.User.Username()
			if p, ok := u.User.Password(); ok {
				row["password"] = p
			}
		}
	}
	for _, v := range row {
		if s, ok := v.(string); ok && !utf8.ValidString(s) {
			return // JSON cannot say it
		}
	}
	line := &strings.Builder{}
	e := json.NewEncoder(line)
	e.SetEscapeHTML(false)
	e.Encode(row)
	fmt.Print(line.String())
}

func main() {
	seed, _ := strconv.ParseInt(os.Args[1], 10, 64)
	count, _ := strconv.Atoi(os.Args[2])
	r := rand.New(rand.NewSource(seed))
	for range count {
		text := pick(r, schemes[:4+r.Intn(len(schemes)-4)]) + pick(r, slashes) + pick(r, users) + pick(r, hosts) + pick(r, ports) + pick(r, paths) + pick(r, queries) + pick(r, fragments)
		if r.Intn(4) == 0 {
			at := r.Intn(len(text) + 1)
			text = text[:at] + pick(r, junk) + text[at:]
		}
		show(text)
	}
}
