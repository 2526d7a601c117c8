package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"shmoo/gpu"
	"shmoo/gpu/cuda"
	"shmoo/internal/expr"
	"shmoo/internal/progress"
	"shmoo/launch"
	"shmoo/predict"
	"shmoo/space"
	"shmoo/sweep"
)

// A sweepCommand is the flags of "shmoo sweep", and what is made of them.
type sweepCommand struct {
	p *program

	sets              []string
	kernel            string
	block, grid, smem string
	bytes             string
	args              []string
	options           []string
	check             string
	tolerance         float64
	noGPU, all        bool
	log, from         string
	out, format       string
	nvcc, cubins      string
	gpu               string
	bandwidth         float64
	device            int
	least, most       int
	timeout           time.Duration
	seed              uint64
	child             string
	open              func(context.Context) (gpu.Device, error) // nil for the GPU that device names

	space    *space.Space
	source   gpu.Source
	machine  *predict.Machine
	info     gpu.Info // of the device, when there is one
	compiler *pointCompiler
}

func (p *program) sweep() *cobra.Command {
	c := &sweepCommand{p: p}
	cmd := &cobra.Command{
		Use:   "sweep FILE.cu",
		Short: "Predict, measure and decide over a parameter space of a CUDA kernel",
		Long: `Compile a kernel for every point of a parameter space, predict each one from its machine code, measure those that can win on
this machine's GPU, and decide with statistics. Parameters are macros of the source. Shapes, sizes and counts may be
expressions of them, such as --block 4096/CHUNK.

The table shows, for every point, what was measured, what was predicted (~) and the predicted ways of its conflicts.
* marks the fastest point, = those that cannot be told from it, - those that were predicted too slow to be measured, ! those
that failed. A kernel that faults, hangs or gives wrong results is a row with its reason. With --log, a sweep that was
killed goes on where it stopped. --no-gpu only predicts. The exit code is 1 if a point failed.`,
		Example: `  shmoo sweep scan.cu --kernel scan --set CHUNK=16,32,64,128 --set PAD=0,2,4,8,16 --block 4096/CHUNK --grid 65536 \
      --arg 'f16[65536*4096]:random' --arg 'f16[65536*4096]:zero' --bytes 65536*4096*2*2 --check first:PAD
  shmoo sweep scan.cu ... --no-gpu --gpu H100`,
		Args: exactly(1, "a CUDA C++ file"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&c.sets, "set", nil, "a parameter and its values: PAD=0,2,4 or PAD=0..8*2; the last one makes the columns")
	fs.StringVar(&c.kernel, "kernel", "", "the kernel: its mangled name, or declare it extern \"C\"")
	fs.StringVar(&c.block, "block", "", "block shape X[,Y[,Z]], each an expression")
	fs.StringVar(&c.grid, "grid", "1", "grid shape X[,Y[,Z]], each an expression")
	fs.StringVar(&c.smem, "smem", "0", "bytes of dynamic shared memory, an expression")
	fs.StringVar(&c.bytes, "bytes", "", "bytes between chip and device memory, an expression (default: each buffer once)")
	fs.StringArrayVar(&c.args, "arg", nil, "argument, in order: i32=N*2, f32[N*64]:random, i32[64]:file=x.npy, null")
	fs.StringArrayVarP(&c.options, "option", "X", nil, "option for the compiler, such as -std=c++17 or -DROWS=64")
	fs.StringVar(&c.check, "check", "", "compare results: first (with the first point), first:PAD (with the point that has "+
		"the first PAD and is equal otherwise), or a .npy file of the last buffer")
	fs.Float64Var(&c.tolerance, "tolerance", 0, "relative difference that --check lets pass (default: bit for bit)")
	fs.BoolVar(&c.noGPU, "no-gpu", false, "predict only")
	fs.BoolVar(&c.all, "all", false, "measure also the points that are predicted to be too slow")
	fs.StringVar(&c.log, "log", "", "keep every sample in this file, and go on from it")
	fs.StringVar(&c.from, "from", "", "take the samples from this log instead of a GPU")
	fs.StringVarP(&c.out, "output", "o", "", "write to this file; its name can choose the format")
	fs.StringVar(&c.format, "format", "", "output format: "+strings.Join(sweepFormatNames(), ", "))
	fs.StringVar(&c.nvcc, "nvcc", "", "compile with this nvcc (default: NVRTC, then the nvcc on PATH)")
	fs.StringVar(&c.cubins, "cubins", "", "keep compiled points in this folder, and take them from there")
	fs.StringVar(&c.gpu, "gpu", "", "GPU to predict for without one: "+strings.Join(predict.Names(), ", "))
	fs.Float64Var(&c.bandwidth, "bandwidth", 0, "bandwidth of device memory in TB/s by the data sheet (default: that of a known GPU)")
	fs.IntVar(&c.device, "device", 0, "which GPU, as shmoo devices counts them")
	fs.IntVar(&c.least, "samples", 20, "least samples of a point")
	fs.IntVar(&c.most, "most", 100, "most samples of a point")
	fs.DurationVar(&c.timeout, "timeout", 10*time.Second, "how long a run of the kernel may take")
	fs.Uint64Var(&c.seed, "seed", 1, "of the order in which points are measured")
	fs.StringVar(&c.child, "child", "", "folder of the process that supervises this one")
	if err := fs.MarkHidden("child"); err != nil {
		panic(err) // the flag was not defined before: a mistake in this package
	}
	complete(cmd, "gpu", predict.Names)
	complete(cmd, "format", sweepFormatNames)
	return cmd
}

func (c *sweepCommand) run(ctx context.Context, file string) error {
	write, err := c.writer()
	if err != nil {
		return err
	}
	if err := c.prepare(ctx, file); err != nil {
		return err
	}
	if c.child != "" {
		return c.measureAsChild(ctx)
	}
	plan, err := c.predict(ctx)
	if err != nil {
		return err
	}
	var result *sweep.Result
	switch {
	case c.noGPU:
		o := plan.options()
		o.Skip = func(sweep.Point) string { return "not measured" }
		result, err = sweep.Run(ctx, c.space, nil, o)
	case c.from != "":
		result, err = c.replay(ctx, plan)
	default:
		result, err = c.supervise(ctx, plan)
	}
	if err != nil {
		return err
	}
	report := &sweepReport{Result: result, plan: plan, kernel: c.kernel, file: file, machine: c.machine}
	if err := c.p.writeFile(c.out, func(w io.Writer) error { return write(report, w) }); err != nil {
		return err
	}
	for i := range result.Rows {
		if result.Rows[i].Verdict == sweep.Failed || c.noGPU && result.Rows[i].Unpredicted != "" {
			return errFindings
		}
	}
	return nil
}

// prepare checks the flags, reads the source and finds out about the machine.
func (c *sweepCommand) prepare(ctx context.Context, file string) error {
	c.space = &space.Space{}
	for _, set := range c.sets {
		if err := c.space.Add(set); err != nil {
			return usagef("--set: %w", err)
		}
	}
	switch {
	case len(c.space.Params) == 0:
		return usagef("sweep: got no --set, want at least one parameter")
	case c.kernel == "":
		return usagef("sweep: got no --kernel")
	case c.block == "":
		return usagef("sweep: got no --block")
	case c.noGPU && (c.from != "" || c.log != ""):
		return usagef("sweep: got --no-gpu with --log or --from, want one of them")
	case c.from != "" && c.log != "":
		return usagef("sweep: got --from and --log, want one of them")
	case c.bandwidth < 0:
		return usagef("sweep: got --bandwidth %g, want a number of TB/s", c.bandwidth)
	case c.least < 1 || c.most < c.least:
		return usagef("sweep: got --samples %d and --most %d, want at least 1 and no fewer than that", c.least, c.most)
	case c.space.Size() > maxSweepPoints:
		return usagef("sweep: got %d points, want at most %d", c.space.Size(), maxSweepPoints)
	}
	if _, err := c.launchOf(first(c.space)); err != nil {
		return &usageError{err}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := c.findMachine(ctx); err != nil {
		return err
	}
	if c.bandwidth > 0 {
		c.machine.Memory = c.bandwidth * 1e12
	}
	c.source = gpu.Source{Name: filepath.Base(file), Text: string(text), Arch: c.machine.Arch.Name, Options: c.options}
	c.compiler = &pointCompiler{dir: c.cubins, nvcc: c.nvcc, name: c.kernel}
	return nil
}

// maxSweepPoints bounds a sweep: each point is compiled and run.
const maxSweepPoints = 1 << 14

// first returns the first point of a space.
func first(s *space.Space) sweep.Point {
	p := sweep.Point{Params: s.Params}
	for _, param := range s.Params {
		p.Values = append(p.Values, param.Values[0])
	}
	return p
}

// points returns all points of a space.
func points(s *space.Space) []sweep.Point {
	var list []sweep.Point
	for values := range s.Points() {
		list = append(list, sweep.Point{Params: s.Params, Values: slices.Clone(values)})
	}
	return list
}

// findMachine finds the GPU to measure on, or the one to predict for.
func (c *sweepCommand) findMachine(ctx context.Context) error {
	if c.noGPU || c.from != "" {
		var err error
		if c.machine, err = predict.Lookup(cmp.Or(c.gpu, predict.Names()[0])); err != nil {
			return &usageError{err}
		}
		return nil
	}
	infos, err := cuda.Devices(ctx)
	if err != nil {
		return err
	}
	if c.device < 0 || c.device >= len(infos) {
		return usagef("--device %d: want one of 0 to %d", c.device, len(infos)-1)
	}
	c.info = infos[c.device]
	c.machine, err = predict.Of(c.info)
	return err
}

// values looks up the parameters of a point for an expression.
func values(p sweep.Point) expr.Lookup {
	return func(name string) (int64, bool) {
		for i, param := range p.Params {
			if param.Name == name {
				return p.Values[i].Int, p.Values[i].IsInt()
			}
		}
		return 0, false
	}
}

// A pointLaunch is the launch of a point.
type pointLaunch struct {
	launch.Launch
	bytes int64 // between chip and device memory
}

// launchOf evaluates the flags for a point.
func (c *sweepCommand) launchOf(p sweep.Point) (*pointLaunch, error) {
	l := &pointLaunch{Launch: launch.Launch{Kernel: c.kernel}}
	var err error
	if l.Grid, err = shapeOf("grid", c.grid, p); err != nil {
		return nil, err
	}
	if l.Block, err = shapeOf("block", c.block, p); err != nil {
		return nil, err
	}
	smem, err := expr.Eval(c.smem, values(p))
	if err != nil || smem < 0 || smem > 1<<20 {
		return nil, errors.Join(fmt.Errorf("--smem %s: got %d, want 0 to 1048576 bytes", c.smem, smem), err)
	}
	l.DynamicShared = int(smem)
	for _, text := range c.args {
		text, err := expandArg(text, p)
		if err != nil {
			return nil, fmt.Errorf("--arg: %w", err)
		}
		if err := l.Add(text); err != nil {
			return nil, fmt.Errorf("--arg: %w", err)
		}
	}
	if c.bytes == "" {
		for i := range l.Args {
			l.bytes += int64(l.Args[i].Size())
		}
		return l, nil
	}
	if l.bytes, err = expr.Eval(c.bytes, values(p)); err != nil || l.bytes < 0 {
		return nil, errors.Join(fmt.Errorf("--bytes %s: got %d, want 0 or more", c.bytes, l.bytes), err)
	}
	return l, nil
}

// shapeOf evaluates a shape.
func shapeOf(flag, text string, p sweep.Point) ([3]int, error) {
	fields := splitShape(text)
	shape := [3]int{1, 1, 1}
	if len(fields) > 3 {
		return shape, fmt.Errorf("--%s %q: got %d extents, want X[,Y[,Z]]", flag, text, len(fields))
	}
	for i, field := range fields {
		n, err := expr.Eval(field, values(p))
		if err != nil {
			return shape, fmt.Errorf("--%s: %w", flag, err)
		}
		if n < 1 || n >= maxDim {
			return shape, fmt.Errorf("--%s %s: got %d for %s, want 1 or more", flag, field, n, p)
		}
		shape[i] = int(n)
	}
	return shape, nil
}

// splitShape splits at the commas outside parentheses.
func splitShape(text string) []string {
	var fields []string
	depth, from := 0, 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			fields = append(fields, text[from:i])
			from = i + 1
		}
	}
	return append(fields, text[from:])
}

// expandArg evaluates the expressions of an argument: the number of elements of a buffer and the value of an integer.
func expandArg(text string, p sweep.Point) (string, error) {
	open := strings.IndexByte(text, '[')
	if open >= 0 {
		end := strings.IndexByte(text, ']')
		if end < open {
			return text, nil // package launch says what is wrong
		}
		n, err := expr.Eval(text[open+1:end], values(p))
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s%d%s", text[:open+1], n, text[end:]), nil
	}
	kind, value, ok := strings.Cut(text, "=")
	if at := strings.LastIndexByte(kind, ':') + 1; !ok || kind[at:] == "bytes" || strings.ContainsAny(value, ".") {
		return text, nil
	}
	n, err := expr.Eval(value, values(p))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s=%d", kind, n), nil
}

// sourceOf returns the source of a point, whose parameters are macros.
func (c *sweepCommand) sourceOf(p sweep.Point) gpu.Source {
	s := c.source
	s.Options = slices.Clone(s.Options)
	for i, v := range p.Values {
		s.Options = append(s.Options, "-D"+p.Params[i].Name+"="+v.String())
	}
	return s
}

// emulatedBytes bounds a buffer whose contents the emulator gets. Larger ones are pointers to unknown data: their contents
// seldom decide on addresses.
const emulatedBytes = 1 << 20

// emulatedSteps bounds the warp instructions of a block that the emulator runs: a kernel that hangs is left to the watchdog.
const emulatedSteps = 20_000_000

// predict compiles and predicts every point, several at a time.
func (c *sweepCommand) predict(ctx context.Context) (*sweepPlan, error) {
	list := points(c.space)
	plan := &sweepPlan{Points: make([]plannedPoint, len(list)), predictions: make([]*predict.Prediction, len(list))}
	bar := progress.New(c.p.err, "points predicted")
	defer bar.Stop()
	var group sync.WaitGroup
	var lock sync.Mutex
	done := 0
	var fatal error
	work := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		group.Go(func() {
			for i := range work {
				prediction, err := c.predictPoint(ctx, list[i])
				lock.Lock()
				plan.predictions[i] = prediction
				plan.Points[i] = plannedPoint{Point: list[i].String(), Facts: facts(prediction)}
				if err != nil {
					plan.Points[i].Failure = err.Error()
				}
				if isEnvironment(err) && fatal == nil && c.from == "" {
					fatal = err
				}
				done++
				bar.Update(done, len(list))
				lock.Unlock()
			}
		})
	}
	for i := range list {
		work <- i
	}
	close(work)
	group.Wait()
	if err := cmp.Or(context.Cause(ctx), fatal); err != nil {
		return nil, err
	}
	if !c.all && !c.noGPU && c.from == "" {
		plan.skip()
	}
	return plan, nil
}

// predictPoint compiles and predicts a point.
func (c *sweepCommand) predictPoint(ctx context.Context, p sweep.Point) (*predict.Prediction, error) {
	l, err := c.launchOf(p)
	if err != nil {
		return nil, err
	}
	cubin, err := c.compiler.Compile(ctx, c.sourceOf(p))
	if err != nil {
		return nil, err
	}
	emulated := l.Launch
	emulated.Args = nil
	for i := range l.Args {
		if l.Args[i].Size() <= emulatedBytes {
			emulated.Args = append(emulated.Args, l.Args[i])
		} else if err := emulated.Add(fmt.Sprintf("%d:ptr", l.Args[i].Index)); err != nil {
			return nil, err
		}
	}
	unit, err := c.p.unit()
	if err != nil {
		return nil, err
	}
	return predict.Run(ctx, c.machine, predict.Point{
		Name: c.source.Name, Cubin: cubin, Kernel: c.kernel, Launch: emulated, Bytes: l.bytes, Unit: unit,
		Steps: emulatedSteps,
	})
}

// what identifies what a log holds: the kernel, its launch and the device.
func (c *sweepCommand) what() string {
	h := sha256.New()
	for _, text := range slices.Concat([]string{c.source.Text, c.kernel, c.block, c.grid, c.smem}, c.args, c.options) {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return fmt.Sprintf("%s %s %s on %s", c.source.Name, c.kernel, hex.EncodeToString(h.Sum(nil))[:16], c.info.Name)
}

// supervise measures in processes of their own, since a kernel that faults or hangs takes its process's device with it.
func (c *sweepCommand) supervise(ctx context.Context, plan *sweepPlan) (*sweep.Result, error) {
	dir, err := os.MkdirTemp("", "shmoo-sweep-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	text, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, planFile), text, 0o600); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// A child ends when this pipe does: with its parent, however that ends.
	alive, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer end.Close()
	defer alive.Close()
	err = sweep.Supervise(ctx, c.space.Size()+1, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, self, append(slices.Clone(os.Args[1:]), "--child", dir)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = alive, c.p.err, c.p.err
		return cmd
	})
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, &exitError{exit.ExitCode()} // the child has said why
	}
	if err != nil {
		return nil, err
	}
	return c.readResult(filepath.Join(dir, resultFile))
}

// Files that a supervised process and its parent share.
const (
	planFile   = "plan.json"
	resultFile = "result.json"
	logFile    = "log.jsonl"
)

func (c *sweepCommand) readResult(path string) (*sweep.Result, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &sweep.Result{Params: c.space.Params}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	list := points(c.space)
	if len(r.Rows) != len(list) {
		return nil, fmt.Errorf("%s: got %d rows, want %d", path, len(r.Rows), len(list))
	}
	for i := range r.Rows {
		r.Rows[i].Point = list[i]
	}
	return r, nil
}

// measureAsChild measures and leaves the result in the folder of the parent.
func (c *sweepCommand) measureAsChild(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		_, err := io.Copy(io.Discard, c.p.in)
		cancel(errors.Join(errors.New("the supervising process is gone"), err))
	}()
	text, err := os.ReadFile(filepath.Join(c.child, planFile))
	if err != nil {
		return err
	}
	var plan sweepPlan
	if err := json.Unmarshal(text, &plan); err != nil {
		return err
	}
	log, err := sweep.OpenLog(cmp.Or(c.log, filepath.Join(c.child, logFile)), c.space, c.what())
	if err != nil {
		return err
	}
	defer log.Close()
	bench := c.bench()
	defer bench.Close()
	r, err := c.measure(ctx, bench, log, &plan)
	if lost := (*sweep.LostError)(nil); errors.As(err, &lost) {
		fmt.Fprintln(c.p.err, "shmoo: the device is lost, going on in another process:", err)
		return &exitError{sweep.Again}
	}
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := r.WriteJSON(&out); err != nil {
		return err
	}
	return sweep.WriteFile(filepath.Join(c.child, resultFile), out.Bytes())
}

// measure makes the references for --check, then sweeps.
func (c *sweepCommand) measure(ctx context.Context, bench *sweep.Kernel, log *sweep.Log, plan *sweepPlan) (*sweep.Result, error) {
	o := plan.options()
	o.Least, o.Most, o.Seed, o.Log, o.State = c.least, c.most, c.seed, log, bench.State
	check, err := c.checker()
	if err != nil {
		return nil, err
	}
	if check != nil {
		if err := check.learn(ctx, bench, log, points(c.space), o.Skip); err != nil {
			return nil, err
		}
		bench.Check = check.check
	}
	bar := progress.New(c.p.err, "samples")
	defer bar.Stop()
	o.Progress = bar.Update
	return sweep.Run(ctx, c.space, bench, o)
}

// bench returns the bench of the kernel on the device.
func (c *sweepCommand) bench() *sweep.Kernel {
	contents := map[string][]byte{} // of arguments, by their text: many points share them
	open := c.open
	if open == nil {
		open = func(ctx context.Context) (gpu.Device, error) { return cuda.Open(ctx, c.device) }
	}
	return &sweep.Kernel{
		Open:     open,
		Compiler: c.compiler,
		Source:   c.source,
		Name:     c.kernel,
		Timeout:  c.timeout,
		Launch: func(p sweep.Point) (gpu.Launch, []sweep.Arg, error) {
			l, err := c.launchOf(p)
			if err != nil {
				return gpu.Launch{}, nil, err
			}
			args, err := deviceArgs(l, contents)
			dim := func(s [3]int) gpu.Dim { return gpu.Dim{X: s[0], Y: s[1], Z: s[2]} }
			return gpu.Launch{Grid: dim(l.Grid), Block: dim(l.Block), Shared: l.DynamicShared}, args, err
		},
	}
}

// deviceArgs makes the arguments of a launch.
func deviceArgs(l *pointLaunch, contents map[string][]byte) ([]sweep.Arg, error) {
	args := make([]sweep.Arg, len(l.Args))
	for i := range l.Args {
		a := &l.Args[i]
		if a.Index >= len(args) {
			return nil, fmt.Errorf("argument %d: got %d arguments, want one for every parameter", a.Index, len(args))
		}
		if zero := strings.HasSuffix(a.String(), ":zero"); zero && a.Size() > 0 {
			args[a.Index] = sweep.Arg{Bytes: a.Size()}
			continue
		}
		b := contents[a.String()]
		if b == nil {
			var err error
			if b, err = a.Raw(); err != nil {
				return nil, err
			}
			contents[a.String()] = b
		}
		switch {
		case a.Size() > 0:
			args[a.Index] = sweep.Arg{Bytes: len(b), Data: b}
		case len(b) == 4:
			args[a.Index] = sweep.Arg{Scalar: uint32(little(b))}
		case len(b) == 8:
			args[a.Index] = sweep.Arg{Scalar: little(b)}
		default:
			return nil, fmt.Errorf("argument %q: got %d bytes, want a buffer or a scalar of 4 or 8", a.String(), len(b))
		}
	}
	return args, nil
}

func little(b []byte) uint64 {
	v := uint64(0)
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return v
}

// replay decides on the samples of a log.
func (c *sweepCommand) replay(ctx context.Context, plan *sweepPlan) (*sweep.Result, error) {
	text, err := os.ReadFile(c.from)
	if err != nil {
		return nil, err
	}
	var header struct{ What string }
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(line, &header); err != nil {
		return nil, fmt.Errorf("%s: got %.80q, want the log of a sweep", c.from, line)
	}
	// The sweep writes to its log, which a recording must not suffer.
	dir, err := os.MkdirTemp("", "shmoo-sweep-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	copied := filepath.Join(dir, filepath.Base(c.from))
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		return nil, err
	}
	log, err := sweep.OpenLog(copied, c.space, header.What)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if _, device, ok := strings.Cut(header.What, " on "); ok {
		c.machine.Name = device
	}
	o := plan.options()
	o.Least, o.Width, o.Log = 1, 1e9, log // what is recorded is enough
	return sweep.Run(ctx, c.space, sweep.Recorded{Log: log}, o)
}
