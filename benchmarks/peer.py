"""The aggregate of the benchmark the other way: mq-smf-csv writes CSV, DuckDB reads it.

peer.py TOOL SMF DIR: DIR is where the CSV files go.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb

_QUERY = """
SELECT "QMgr", sum("Put_CT(S)" * 1e6 + "Put_CT(US)") / sum("Put_Count")
FROM read_csv('{}') GROUP BY 1
"""


def main() -> None:
    """Run the tool, then the query."""
    tool, smf, folder = sys.argv[1:]
    subprocess.run([tool, "-i", smf, "-o", folder], check=True, stdout=subprocess.DEVNULL)
    print(duckdb.sql(_QUERY.format(Path(folder) / "SMF-WQ.csv")))


if __name__ == "__main__":
    main()
