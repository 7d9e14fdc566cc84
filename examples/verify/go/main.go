// Checks that a webhook comes from Watchdog. Go 1.21 or newer, no modules.
//
//	WEBHOOK_SECRET=whsec_… go run main.go headers.txt body.txt
//
// headers.txt has one header a line, body.txt the bytes exactly as they came. Prints "valid", or
// "invalid" and why; then the exit code is 1. A third argument is the time in seconds since 1970,
// for trying it with recorded requests.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const toleranceSeconds = 300

var timestampForm = regexp.MustCompile(`^[1-9][0-9]{0,11}$`)

// Verify says why a request is not from Watchdog; nil when it is. Headers are by lower-case name,
// rawBody is the bytes as they came, before any parsing.
func Verify(secret string, headers map[string]string, rawBody []byte, nowSeconds int64) error {
	timestamp := headers["x-watchdog-timestamp"]
	if !timestampForm.MatchString(timestamp) {
		return errors.New("no timestamp")
	}
	sentAt, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return errors.New("no timestamp")
	}
	if age := nowSeconds - sentAt; age > toleranceSeconds || age < -toleranceSeconds {
		return errors.New("too old or too new")
	}

	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	expected := []byte("sha256=" + hex.EncodeToString(mac.Sum(nil)))
	// The second is there for 24 hours while a secret is being changed.
	for _, name := range []string{"x-watchdog-signature", "x-watchdog-signature-next"} {
		// Equal takes as long wherever they differ, and refuses another length.
		if hmac.Equal([]byte(headers[name]), expected) {
			return nil
		}
	}
	return errors.New("wrong signature")
}

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if secret == "" || len(os.Args) < 3 {
		const usage = "usage: WEBHOOK_SECRET=whsec_… go run main.go headers.txt body.txt [seconds]"
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	headerText, err := os.ReadFile(os.Args[1])
	check(err)
	rawBody, err := os.ReadFile(os.Args[2])
	check(err)
	now := time.Now().Unix()
	if len(os.Args) > 3 {
		now, err = strconv.ParseInt(os.Args[3], 10, 64)
		check(err)
	}
	headers := map[string]string{}
	for _, line := range strings.Split(string(headerText), "\n") {
		if name, value, found := strings.Cut(line, ":"); found {
			headers[strings.ToLower(name)] = strings.TrimSpace(value)
		}
	}
	if err := Verify(secret, headers, rawBody, now); err != nil {
		fmt.Println("invalid:", err)
		os.Exit(1)
	}
	fmt.Println("valid")
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
