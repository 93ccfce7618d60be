"""The shared library exports the functions that the header declares, and nothing else.   exports_test.py NM LIBRARY HEADER"""

import pathlib
import re
import subprocess
import sys

nm, library, header = sys.argv[1:]
listed = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
exported = {line.split()[-1].split("@")[0] for line in listed.splitlines()}
declared = set(re.findall(r"^[\w *]+[ *](lipschitzlr_\w+)\(", pathlib.Path(header).read_text(), re.MULTILINE))
if exported != declared or len(declared) < 15:
    sys.exit(f"only exported: {sorted(exported - declared)}; only declared: {sorted(declared - exported)}")
print(len(declared), "functions")
