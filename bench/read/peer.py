"""Reads one CSV with a peer (pandas, numpy, polars or DuckDB) and prints the same line of JSON as read_bench."""
import json
import sys
import time


def peak_bytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


def main():
    peer, path = sys.argv[1:]
    if peer == "pandas":
        import pandas

        read = lambda: pandas.read_csv(path).to_numpy(dtype=float)
    elif peer == "pandas-text":  # each category as the numbers of its levels
        import pandas

        def read():
            table = pandas.read_csv(path, na_values="?")
            texts = table.select_dtypes("object").columns
            table[texts] = table[texts].apply(lambda column: column.astype("category").cat.codes)
            return table.to_numpy(dtype=float)
    elif peer == "pandas-exact":  # pandas' default may be off in the last bit
        import pandas

        read = lambda: pandas.read_csv(path, float_precision="round_trip").to_numpy(dtype=float)
    elif peer == "polars":
        import polars

        read = lambda: polars.read_csv(path).to_numpy().astype(float)
    elif peer == "duckdb":
        import duckdb
        import numpy

        read = lambda: numpy.column_stack(list(duckdb.read_csv(path).fetchnumpy().values())).astype(float)
    else:
        import numpy

        read = lambda: numpy.loadtxt(path, delimiter=",", skiprows=1)
    peak_before = peak_bytes()
    start, processor_start = time.perf_counter(), time.process_time()
    table = read()
    processor, wall = time.process_time() - processor_start, time.perf_counter() - start
    peak = peak_bytes() - peak_before
    print(json.dumps({"wall": wall, "processor": processor, "peak": peak, "matrix": table.nbytes, "rows": len(table),
                      "sum": float(table[:, -1].sum())}))


main()
