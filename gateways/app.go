// An application server over HTTP, with Go: docs/protocols/application-server-http.md says what it does.
//
// app HOST PORT DIRECTORY, where the files of clients are made
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"math/bits"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	blockBytes   = 4096
	clientsMax   = 10_000
	messageMax   = 128 << 10
	roundsMax    = 50_000_000
	appendedMax  = 20 << 20
	fadvDontNeed = 4
)

var directory string

// A refused request, by the status that it is answered with.
type refused int

func (status refused) Error() string { return strconv.Itoa(int(status)) }

func draw(state *uint64) uint64 {
	*state += 0x9E3779B97F4A7C15
	z := *state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func fill(seed uint64, content []byte) {
	for ; 8 <= len(content); content = content[8:] {
		binary.LittleEndian.PutUint64(content, draw(&seed))
	}
	var last [8]byte
	binary.LittleEndian.PutUint64(last[:], draw(&seed))
	copy(content, last[:])
}

func compute(seed, rounds uint64) uint64 {
	var table [8192]uint64
	x, state := seed|1, seed
	for j := range table {
		table[j] = draw(&state)
	}
	for i := uint64(0); i < rounds; i++ {
		entry := &table[x>>51]
		x ^= *entry
		*entry = bits.RotateLeft64(x, 17)
		x = x*0x2545F4914F6CDD1D + i
	}
	return x
}

type settings struct {
	file, part uint64
	io, cold   string
}

// The files of a client, which has one request in flight, and the page-aligned memory for their blocks.
type client struct {
	number           uint64
	settings         *settings
	memory           []byte
	blocks, appended *os.File
	appendedBytes    uint64
}

func (c *client) prepare(asked settings) error {
	if c.settings == nil || *c.settings != asked {
		c.settings = nil
		if err := c.make(asked); err != nil {
			return err
		}
		c.settings = &asked
	}
	if err := c.blocks.Sync(); err != nil {
		return err
	}
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, c.blocks.Fd(), 0, 0, fadvDontNeed, 0, 0); errno != 0 {
		return errno
	}
	c.appendedBytes = 0
	if err := c.appended.Truncate(0); err != nil || asked.cold == "true" || asked.io == "direct" {
		return err
	}
	for first := uint64(0); first < asked.part/blockBytes; first++ {
		if err := c.read(first, 1); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) make(asked settings) (err error) {
	var disk syscall.Statfs_t
	if err = syscall.Statfs(directory, &disk); err != nil {
		return err
	}
	if disk.Bavail*uint64(disk.Bsize)/10*9 < asked.file {
		return refused(507)
	}
	if c.memory == nil {
		flags := syscall.MAP_ANON | syscall.MAP_PRIVATE
		if c.memory, err = syscall.Mmap(-1, 0, 4*blockBytes, syscall.PROT_READ|syscall.PROT_WRITE, flags); err != nil {
			return err
		}
	}
	path := fmt.Sprintf("%s/client_%d", directory, c.number)
	file, err := os.Create(path + ".dat")
	if err != nil {
		return err
	}
	defer file.Close()
	writer := bufio.NewWriterSize(file, 1<<20)
	for k := uint64(0); k < asked.file/blockBytes; k++ {
		if _, err = writer.Write(c.content(k, 1)); err != nil {
			return err
		}
	}
	if err = writer.Flush(); err != nil {
		return err
	}
	flags := os.O_RDWR | map[string]int{"direct": syscall.O_DIRECT, "durable": syscall.O_DSYNC}[asked.io]
	if c.blocks, err = os.OpenFile(path+".dat", flags, 0); err != nil {
		return err
	}
	c.appended, err = os.OpenFile(path+".log", flags|os.O_CREATE|os.O_TRUNC, 0o600)
	return err
}

func (c *client) content(first, count uint64) []byte {
	for k := uint64(0); k < count; k++ {
		block := c.memory[k*blockBytes : (k+1)*blockBytes]
		binary.LittleEndian.PutUint64(block, first+k)
		fill(c.number<<32^(first+k), block[8:])
	}
	return c.memory[:count*blockBytes]
}

func (c *client) read(first, count uint64) error {
	if _, err := c.blocks.ReadAt(c.memory[:count*blockBytes], int64(first*blockBytes)); err != nil {
		return err
	}
	for k := uint64(0); k < count; k++ {
		if binary.LittleEndian.Uint64(c.memory[k*blockBytes:]) != first+k {
			return refused(500)
		}
	}
	return nil
}

func (c *client) write(first, count uint64) error {
	_, err := c.blocks.WriteAt(c.content(first, count), int64(first*blockBytes))
	return err
}

func (c *client) append() (uint64, error) {
	if appendedMax <= c.appendedBytes {
		if err := c.appended.Truncate(0); err != nil {
			return 0, err
		}
		c.appendedBytes = 0
	}
	_, err := c.appended.WriteAt(c.content(c.appendedBytes/blockBytes, 1), int64(c.appendedBytes))
	c.appendedBytes += blockBytes
	return c.appendedBytes, err
}

var clients sync.Map

func number(text string, most uint64) (uint64, error) {
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, refused(400)
	}
	if most < value {
		return 0, refused(413)
	}
	return value, nil
}

// Performs the request of a path; returns a number or the content of a message.
func perform(operation, clientText string, query url.Values, body []byte) (any, error) {
	const any64 = ^uint64(0)
	id, err := number(clientText, clientsMax-1)
	if err != nil {
		return nil, err
	}
	found, _ := clients.LoadOrStore(id, &client{number: id})
	c := found.(*client)
	value := func(name string, most uint64) (value uint64) {
		if err == nil {
			value, err = number(query.Get(name), most)
		}
		return value
	}
	switch operation {
	case "cs":
		return uint64(crc32.ChecksumIEEE(body)), nil
	case "sc":
		seed, length := value("seed", any64), value("bytes", messageMax)
		content := make([]byte, length)
		fill(seed, content)
		return content, err
	case "proc":
		if seed, rounds := value("seed", any64), value("rounds", roundsMax); err == nil {
			return compute(seed, rounds), nil
		}
		return nil, err
	case "phase":
		if len(query) == 0 {
			return uint64(0), nil
		}
		asked := settings{value("file", 1<<50), value("range", 1<<50), query.Get("io"), query.Get("cold")}
		if err != nil {
			return nil, err
		}
		isMode := asked.io == "buffered" || asked.io == "direct" || asked.io == "durable"
		if !isMode || (asked.file|asked.part)%blockBytes != 0 || asked.part < 4*blockBytes || asked.file < asked.part {
			return nil, refused(400)
		}
		return uint64(0), c.prepare(asked)
	case "append", "rread", "rwrite", "sread", "swrite":
	default:
		return nil, refused(404)
	}
	if c.settings == nil {
		return nil, refused(409)
	}
	if operation == "append" {
		return c.append()
	}
	first, count := value("block", any64), uint64(1)
	if operation[0] == 's' {
		count = 4
	}
	if blocks := c.settings.part / blockBytes; err != nil || blocks < first || blocks-first < count {
		return nil, refused(400)
	}
	if strings.HasSuffix(operation, "read") {
		return first, c.read(first, count)
	}
	return first, c.write(first, count)
}

// Only service is stated: how long a request waits for a processor is not known here.
func serve(writer http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, messageMax))
	started := time.Now()
	path := strings.Split(request.URL.Path, "/")
	var result any
	switch {
	case err != nil:
		err = refused(413)
	case request.Method != "POST" || len(path) != 4 || path[1] != "v1":
		err = refused(404)
	default:
		result, err = perform(path[2], path[3], request.URL.Query(), body)
	}
	service := float64(time.Since(started).Nanoseconds()) / 1e6
	status, content := http.StatusOK, []byte(nil)
	switch value := result.(type) {
	case uint64:
		content = strconv.AppendUint(nil, value, 10)
	case []byte:
		content = value
	}
	if err != nil {
		status, content = http.StatusInternalServerError, nil
		if known, is := err.(refused); is {
			status = int(known)
		}
	}
	writer.Header().Set("Content-Length", strconv.Itoa(len(content)))
	writer.Header().Set("Content-Type", "application/octet-stream")
	writer.Header().Set("Server-Timing", fmt.Sprintf("service;dur=%.6f", service))
	writer.WriteHeader(status)
	writer.Write(content)
}

func main() {
	directory = os.Args[3]
	log.Fatal(http.ListenAndServe(net.JoinHostPort(os.Args[1], os.Args[2]), http.HandlerFunc(serve)))
}
