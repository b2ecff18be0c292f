"""Attacks the socket of the agent connection from a program in the sandbox; prints each outcome."""
import json, os, socket, struct, sys, time

folder = '/run/belay'
request = (
    'GET %s HTTP/1.1\r\nhost: agent\r\nconnection: upgrade\r\nupgrade: websocket\r\n'
    'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n\r\n'
)


def connect():
    dialled = socket.socket(socket.AF_UNIX)
    dialled.settimeout(10)
    dialled.connect(folder + '/agent.sock')
    return dialled


def frame(payload, announced=None):
    """A binary WebSocket frame; the announced length may exceed that of the payload."""
    return b'\x82\xff' + struct.pack('>Q', announced or len(payload)) + bytes(4) + payload


def message(head, content):
    """A hello and the first message of the agent connection, each as a frame."""
    head = json.dumps(head).encode()
    body = struct.pack('>II', len(head), len(content)) + head + content
    hello = b'\x01' + bytes(6) + b'{"self":"hostile","peer":null}'
    return frame(hello) + frame(b'\x02' + bytes(5) + b'\x01' + body)


def attempt(name, after=b'', path='/agent', headers='x-belay-agent: a-program-of-the-sandbox'):
    """Prints the status line of the response; further bytes are sent without waiting for it."""
    dialled = connect()
    answer = b''
    try:
        dialled.sendall((request % (path, headers)).encode())
        dialled.sendall(after)
    except OSError:
        pass
    try:
        while chunk := dialled.recv(65536):
            answer += chunk
    except OSError:
        pass
    dialled.close()
    print(name, answer.split(b'\r\n')[0].decode('latin1') or 'closed', flush=True)
    time.sleep(0.1)


attempt('26 hello', message({'kind': 'call', 'id': 'a', 'name': 'hello'}, b'{}'))
attempt('12 blob', message({'kind': 'call', 'id': 'a', 'name': 'blobs.put'}, b'{"type":"a"}'))
attempt('01 long id', message({'kind': 'call', 'id': 'x' * 70_000_000, 'name': 'a'}, b''))
attempt('08 deep', message({'kind': 'call', 'id': 'a', 'name': 'a'}, b'[' * 8_000_000))
attempt('no id', headers='x: y')
attempt('page', headers='x-belay-agent: a-program-of-the-sandbox\r\norigin: http://a')
attempt('path', path='/socket/?EIO=4&transport=websocket')

time.sleep(1.5)
halves = []
for _ in range(40):
    try:
        half = connect()
        half.sendall((request % ('/agent', 'x-belay-agent: a-program-of-the-sandbox')).encode())
        half.setblocking(False)
        half.send(frame(b'x' * 100_000, 80_000_000))
        halves.append(half)
    except OSError:
        pass
print('10 halves sent', flush=True)

idle = []
for _ in range(1_504):
    try:
        idle.append(connect())
    except OSError:
        pass


def is_open(dialled):
    dialled.setblocking(False)
    try:
        return dialled.recv(1) != b''
    except BlockingIOError:
        return True
    except OSError:
        return False


# The server closes connections above its limit one after the other.
deadline = time.monotonic() + 20
while (idle := list(filter(is_open, idle))) and len(idle) > 8 and time.monotonic() < deadline:
    time.sleep(0.05)
print('11 open', len(idle), flush=True)

for name in ('new', 'agent.sock', 'hosts'):
    for way in (lambda path: os.symlink('/etc/passwd', path + '.link'), lambda path: os.unlink(path), lambda path: os.chmod(path, 0o777)):
        try:
            way(os.path.join(folder, name))
            print('19', name, 'OPEN')
        except OSError as error:
            print('19', name, 'closed:', error.strerror)
sys.stdout.flush()
