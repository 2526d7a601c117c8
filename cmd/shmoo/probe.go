package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"shmoo/gpu"
	"shmoo/gpu/cuda"
	"shmoo/gpu/replay"
	"shmoo/internal/table"
	"shmoo/probe"
	"shmoo/report/json"
	"shmoo/unitfile"
)

func (p *program) devices() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the GPUs of this machine",
		Args:  exactly(0, "none"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			infos, err := cuda.Devices(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return json.Encode(p.out, infos)
			}
			t := table.New("device>", "name", "arch", "driver", "SMs>", "clock[MHz]>", "shared/block[B]>", "memory[MiB]>")
			for i, d := range infos {
				t.Row(i, d.Name, d.Arch, d.Driver, d.Multiprocessors, d.ClockMHz, d.SharedPerBlock, d.MemoryBytes>>20)
			}
			return t.Write(p.out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// A probeCommand is the flags of "shmoo probe".
type probeCommand struct {
	p        *program
	options  probe.Options
	device   int
	record   string
	recorded string
	learn    bool
	out      string
	arch     string
	asJSON   bool
}

func (p *program) probe() *cobra.Command {
	c := &probeCommand{p: p}
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "Time access patterns on this machine's GPU, and verify or learn the model",
		Long: `Time tens of thousands of generated access patterns on a GPU and compare every one with the model. No toolkit is needed:
the kernels are PTX text that the driver compiles.

With --learn, the patterns choose among stated hypotheses on groups, pairing, sharing and floors instead, and -o writes the
unit that explains them all as a file that every command takes with --unit. --from uses a recording instead of a GPU.
The exit code is 1 if a pattern disagrees, or if something stays undecided.`,
		Example: `  shmoo probe
  shmoo probe --record h200.csv
  shmoo probe --learn -o mygpu.toml && shmoo check --unit mygpu.toml kernel.cu
  shmoo probe --learn --from pattern/testdata/h200_patterns.csv.gz`,
		Args: exactly(0, "flags only"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	fs := cmd.Flags()
	fs.IntVar(&c.options.Patterns, "patterns", probe.DefaultPatterns, "how many patterns, about")
	fs.Uint64Var(&c.options.Seed, "seed", 1, "equal seeds give equal patterns")
	fs.IntVar(&c.device, "device", 0, "which GPU, as shmoo devices counts them")
	fs.StringVar(&c.record, "record", "", "write the measured patterns to this file")
	fs.StringVar(&c.recorded, "from", "", "take the patterns from a recording instead of a GPU")
	fs.BoolVar(&c.learn, "learn", false, "learn the rules from the patterns instead of comparing them")
	fs.StringVarP(&c.out, "output", "o", "", "write the learned unit to this file")
	fs.BoolVar(&c.asJSON, "json", false, "write JSON")
	archFlag(cmd, &c.arch)
	return cmd
}

func (c *probeCommand) run(ctx context.Context) error {
	if c.options.Patterns < 1 {
		return usagef("probe: --patterns %d, want at least 1", c.options.Patterns)
	}
	if c.out != "" && !c.learn {
		return usagef("probe: -o writes what --learn learns")
	}
	recording, err := c.measure(ctx)
	if err != nil {
		return err
	}
	if c.record != "" {
		err := c.p.writeFile(c.record, func(w io.Writer) error { return replay.Write(w, recording) })
		if err != nil {
			return err
		}
	}
	if c.learn {
		return c.writeLesson(ctx, recording)
	}
	a, err := c.p.lookupArch(defaultTo(c.arch, recording.Info.Arch))
	if err != nil {
		return err
	}
	result, err := probe.Compare(ctx, recording, a.Unit)
	if err != nil {
		return err
	}
	if c.asJSON {
		err = json.Encode(c.p.out, result)
	} else {
		err = result.WriteText(c.p.out)
	}
	if err == nil && result.Disagree > 0 {
		err = errFindings
	}
	return err
}

// defaultTo returns s, or the fallback for "".
func defaultTo(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// measure times generated patterns on a GPU, or reads a recording.
func (c *probeCommand) measure(ctx context.Context) (*gpu.Recording, error) {
	if c.recorded != "" {
		f, err := c.p.openFile(c.recorded)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		meter, err := replay.Open(f, c.recorded)
		if err != nil {
			return nil, err
		}
		return meter.Recording(), nil
	}
	device, err := cuda.Open(ctx, c.device)
	if err != nil {
		return nil, err
	}
	defer device.Close()
	meter, err := probe.NewMeter(ctx, device)
	if err != nil {
		return nil, err
	}
	r := &gpu.Recording{
		Info: meter.Info(), Date: time.Now().UTC().Format(time.DateOnly), Samples: probe.Generate(meter.Ops(), c.options),
	}
	if !c.asJSON {
		fmt.Fprintf(c.p.err, "timing %d patterns of %d instructions on %s (%s, driver %s)\n", len(r.Samples),
			len(meter.Ops()), r.Info.Name, r.Info.Arch, r.Info.Driver)
	}
	return r, meter.Measure(ctx, r.Samples)
}

func (c *probeCommand) writeLesson(ctx context.Context, r *gpu.Recording) error {
	lesson, err := probe.Learn(ctx, r)
	if err != nil {
		return err
	}
	if c.out != "" {
		file, err := lesson.Unit()
		if err != nil {
			return err
		}
		if err := c.p.writeFile(c.out, func(w io.Writer) error { return unitfile.Write(w, file) }); err != nil {
			return err
		}
	}
	if c.asJSON {
		err = json.Encode(c.p.out, lesson)
	} else {
		err = lesson.WriteText(c.p.out)
	}
	if err == nil && !lesson.Decided() {
		err = errFindings
	}
	return err
}

// isEnvironment reports whether the environment is at fault: the same command can work on another machine.
func isEnvironment(err error) bool {
	_, ok := errors.AsType[*gpu.NoDriverError](err)
	return ok
}
