// Shmoo tells which shared-memory accesses of a GPU kernel conflict, how many wavefronts they cost, why, and what removes
// the conflicts. Run "shmoo help" for its commands.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
