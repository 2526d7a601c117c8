"""Condenses what ncu wrote to what the tests compare. Usage: condense.py FOLDER NAME, with FOLDER/NAMEcounters.csv and
FOLDER/NAMEsource.csv as record.sh leaves them; writes NAMEcounters.csv and NAMEsource.csv here.
"""
import csv
import os
import sys

folder, name = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))
HW = "l1tex__data_%s_mem_shared%s.sum"
COLUMNS = {"wavefronts": HW % ("pipe_lsu_wavefronts", "")}
COLUMNS |= {f"wavefronts_{op}": HW % ("pipe_lsu_wavefronts", f"_op_{op}") for op in ("ld", "st", "atom", "misc")}
COLUMNS |= {"conflicts": HW % ("bank_conflicts_pipe_lsu", "")}
COLUMNS |= {f"conflicts_{op}": HW % ("bank_conflicts_pipe_lsu", f"_op_{op}") for op in ("ld", "st", "atom", "ldgsts")}

text = open(f"{folder}/{name}counters.csv").read()
kernels = {}
for row in csv.DictReader(text[text.index('"ID"'):].splitlines()):
    kernels.setdefault(row["Kernel Name"], {})[row["Metric Name"]] = int(row["Metric Value"].replace(",", ""))
with open(f"{here}/{name}counters.csv", "w") as f:
    print("kernel", *COLUMNS, sep=",", file=f)
    for kernel, metrics in kernels.items():
        print(kernel, *(metrics[m] for m in COLUMNS.values()), sep=",", file=f)

with open(f"{here}/{name}source.csv", "w") as f:
    print("kernel,pc,instruction,executed,wavefronts,ideal", file=f)
    kernel, header, base, seen = "", [], 0, set()
    for row in csv.reader(open(f"{folder}/{name}source.csv")):
        if not row:
            continue
        if row[0] == "Kernel Name":
            kernel, base = row[1], None
            continue
        if row[0] == "Address":
            header = row
            continue
        cells = dict(zip(header, row))
        address = int(cells["Address"], 16)
        base = address if base is None else base
        if cells["Address Space"] != "Shared" and cells["L1 Wavefronts Shared"] in ("", "0"):
            continue
        if (kernel, address - base) in seen:
            continue
        seen.add((kernel, address - base))
        instruction = " ".join(cells["Source"].split()).replace(",", "")
        print(kernel, f"{address - base:#06x}", instruction, cells["Instructions Executed"],
              cells["L1 Wavefronts Shared"], cells["L1 Wavefronts Shared Ideal"], sep=",", file=f)
