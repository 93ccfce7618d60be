#!/usr/bin/env python3
"""A small HTTP server with the faults a download must survive: prints its port, serves until its standard input ends."""
import gzip
import http.server
import io
import sys
import tarfile
import threading
import time
import zipfile

BODY = bytes(range(256)) * 40  # 10,240 bytes
SERVED = set()
TABLE = b"a,b,y\n1,2,3\n4,5,6\n7,8,9\n"


def packed(kind):
    """The table as folder/tiny.csv in an archive, or alone under gzip."""
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("folder/read.me", "nothing")
            archive.writestr("folder/tiny.csv", TABLE)
    elif kind == "tgz":
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            member = tarfile.TarInfo("folder/tiny.csv")
            member.size = len(TABLE)
            archive.addfile(member, io.BytesIO(TABLE))
    else:
        buffer.write(gzip.compress(TABLE) if kind == "gz" else TABLE)
    return buffer.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def answer(self, status, body, claimed=None, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(claimed or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path
        wanted = self.headers.get("Range")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if path == "/good":
            self.answer(200, BODY)
        elif path == "/range":  # honours Range and proves it: without one it refuses
            if start >= len(BODY):
                self.answer(416, b"")
            elif wanted:
                self.answer(206, BODY[start:], Content_Range=f"bytes {start}-{len(BODY) - 1}/{len(BODY)}")
            else:
                self.answer(500, b"no range was asked for")
        elif path == "/whole":  # says 416 to what lies beyond, else honours Range
            if wanted and start >= len(BODY):
                self.answer(416, b"")
            else:
                self.answer(206 if wanted else 200, BODY[start:])
        elif path == "/truncated":
            self.answer(200, BODY[:4000], claimed=len(BODY))
        elif path == "/redirect":
            self.answer(302, b"", Location="/good")
        elif path == "/circle":
            self.answer(302, b"", Location="/circle")
        elif path == "/elsewhere":
            self.answer(302, b"", Location="file:///etc/hostname")
        elif path == "/endless":  # without a length, until nobody reads any more
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(BODY)
            except OSError:
                pass
        elif path == "/hang":
            time.sleep(20)
        elif path == "/stall":
            self.send_response(200)
            self.send_header("Content-Length", str(len(BODY)))
            self.end_headers()
            self.wfile.write(BODY[:100])
            self.wfile.flush()
            time.sleep(20)
        elif path.startswith("/once/"):  # a second time it is not there
            known = path in SERVED
            SERVED.add(path)
            self.answer(404 if known else 200, b"" if known else packed("tgz"))
        elif path in ("/table.zip", "/table.tgz", "/table.gz", "/table.csv"):
            self.answer(200, packed(path.rpartition(".")[2]))
        else:
            self.answer(404, b"no such page")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
