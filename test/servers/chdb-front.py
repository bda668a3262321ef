"""ClickHouse's HTTP interface in front of chdb, which is the engine of today's ClickHouse in this process.

    python3 chdb-front.py <port> <folder of the data>

A request has a connection to the engine of its own. Its parameters are settings of that connection, in their order, and
the engine refuses those that it does not know; `query`, or the body, is the statement; behind an INSERT the body is data
in the statement's format. Nothing is changed on the way. Login is not checked, and `query_id` is not passed on, since
the engine takes none.
"""

import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import chdb

FOLDER = sys.argv[2]
# Keeps the engine running between requests.
ENGINE = chdb.connect(FOLDER)
NO_SETTINGS = ("query", "query_id")
INSERT = re.compile(r"^\s*(INSERT\s+INTO\b.*)\s+FORMAT\s+(\w+)\s*$", re.DOTALL)


def name_of(setting):
    if not re.fullmatch(r"\w+", setting):
        raise ValueError("Code: 115. DB::Exception: no name of a setting")
    return setting


def text_of(value):
    return "'%s'" % value.replace("\\", "\\\\").replace("'", "\\'")


def run(statement, settings, data):
    connection = chdb.connect(FOLDER)
    try:
        if settings:
            connection.query("SET " + ", ".join("%s = %s" % (name_of(name), text_of(value)) for name, value in settings))
        insert = INSERT.match(statement)
        if data is None or insert is None:
            return connection.query(statement, "TabSeparated").bytes()
        stream = connection.send_insert(insert.group(1), insert.group(2))
        try:
            stream.append(data)
            stream.finish()
        except BaseException:
            stream.cancel()
            raise
        return b""
    finally:
        connection.close()


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body of an answer go out together.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        self.answer(200, b"Ok.\n")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parameters = parse_qsl(urlsplit(self.path).query, keep_blank_values=True)
        statement = dict(parameters).get("query")
        settings = [one for one in parameters if one[0] not in NO_SETTINGS]
        try:
            if statement is None:
                result = run(body.decode("utf-8"), settings, None)
            else:
                result = run(statement, settings, body)
        except Exception as error:  # whatever the engine says is the answer
            self.answer(500, str(error).encode("utf-8", "replace"))
            return
        self.answer(200, result)

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


Server(("127.0.0.1", int(sys.argv[1])), Front).serve_forever()
