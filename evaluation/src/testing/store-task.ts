/** A store of one text over HTTP, which begins with what the set-up has left in its file. */
const program = `import http.server, os
text = open('/seed.txt').read() + os.environ['MORE']
class Store(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(text.encode())
    def do_PUT(self):
        global text
        text = self.rfile.read(int(self.headers['content-length'])).decode()
        open('/kept.txt', 'w').write(text)
        self.send_response(204); self.end_headers()
    def do_DELETE(self):
        os._exit(1)
    def log_message(self, *_): pass
http.server.HTTPServer(('', 8000), Store).serve_forever()
`;
export const storeCompose = `services:
  main:
    depends_on: { store: { condition: service_healthy } }
    environment: { STORE: "http://store:8000" }
  store:
    build: ./store
    environment: [MORE=more]
    volumes: ["./seed.txt:/seed.txt:ro"]
    networks: { default: { aliases: [text-store] } }
    depends_on: { first: { condition: service_completed_successfully } }
    healthcheck:
      test: python3 -c "import urllib.request as r; r.urlopen('http://text-store:8000')"
      interval: 500ms
      retries: 100
  first:
    image: python:3.12
    command: sh -c "exit 0"
`;
/** Commands of the agent's container and of the tests. */
const get = `python3 -c "import os, urllib.request as r; print(r.urlopen(os.environ['STORE']).read().decode())"`;
export const putText = (text: string) =>
  `python3 -c "import os, urllib.request as r; r.urlopen(r.Request(os.environ['STORE'], b'${text}', method='PUT'))"`;

/** Makes the store crash, and answers the tests in its place. */
export const replaceStore = `python3 -c "
import http.server, os, time, urllib.request as r
try: r.urlopen(r.Request(os.environ['STORE'], method='DELETE'))
except Exception: pass
class Store(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'changed')
server = None
while server is None:
    try: server = http.server.HTTPServer(('', 8000), Store)
    except OSError: time.sleep(0.1)
if os.fork() == 0:
    os.setsid(); server.serve_forever()
print(r.urlopen(os.environ['STORE']).read().decode())
"`;

/** A task whose answer is in a service: agents change its text from “seed and more” to “changed”. */
export const storeTask: Record<string, string> = {
  'task.toml': '',
  'environment/Dockerfile': 'FROM ubuntu:24.04\nWORKDIR /app\n',
  'environment/docker-compose.yaml': storeCompose,
  'environment/seed.txt': 'seed and ',
  'environment/store/Dockerfile':
    'FROM python:3.12\nCOPY store.py /\nCMD ["python3", "/store.py"]\n',
  'environment/store/store.py': program,
  'instruction.md': 'Change the text of the store.\n',
  'solution/solve.sh': `[ "$(${get})" = "seed and more" ] && ${putText('changed')}\n`,
  'tests/test.sh': `[ "$(${get})" = changed ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n`,
};
