import { isEvent, type Event } from '@belay/protocol';
import { BelayServer, idle, type Followed } from '@belay/testkit';
import { OutsideWorld } from '../system/outside-world.js';

const host = 'code.example.org';
const hidden = 'hidden.example.org';

/**
 * Sends over raw TLS and raw HTTP what curl would not: `tls NAME` and `http HOST`, through a tunnel
 * to the allowed host.
 */
const client = `
import os, socket, ssl, sys
proxy = os.environ['http_proxy'].split('//')[1].rstrip('/').split(':')
def tunnel(port):
    s = socket.create_connection((proxy[0], int(proxy[1])), timeout=20)
    s.sendall(f'CONNECT ${host}:{port} HTTP/1.1\\r\\nHost: ${host}:{port}\\r\\n\\r\\n'.encode())
    head = b''
    while not head.endswith(b'\\r\\n\\r\\n'): head += s.recv(1)
    assert b' 200 ' in head, head
    return s
def read(s):
    out = b''
    try:
        while True:
            part = s.recv(65536)
            if not part: break
            out += part
    except OSError as error: out += str(error).encode()
    return out.decode(errors='replace').replace('\\r\\n', ' ').strip()
kind, name = sys.argv[1], sys.argv[2]
request = f'GET /index.html HTTP/1.1\\r\\nHost: {name}\\r\\nConnection: close\\r\\n\\r\\n'.encode()
if kind == 'http':
    s = tunnel(80)
    s.sendall(request)
    print(read(s))
else:
    context = ssl.create_default_context(cafile='authority.pem')
    context.check_hostname = False
    try:
        s = context.wrap_socket(tunnel(443), server_hostname=None if name == 'none' else name)
        s.sendall(request)
        print(read(s))
    except OSError as error: print('failed', error)
`;

const refused = (event: Event) => isEvent(event, 'egress') && event.args.verdict === 'refused';

// egress.long.container.ts attacks after the end of the session.
describe('attacks: egress of a sandbox', () => {
  const outside = new OutsideWorld();
  let server: BelayServer;
  beforeAll(async () => {
    await outside.open([host, hidden]);
    outside.serve('index.html', 'A page from outside.');
    server = new BelayServer({ ...outside.environment, HOME: outside.files });
    await server.start();
  });
  afterAll(async () => {
    await server?.dispose();
    await outside.close();
  });

  const open = async (): Promise<Followed> => {
    const session = await idle(server, {
      approvals: 'auto',
      egress: { profile: 'list', hosts: [`${host}:443`, `${host}:80`] },
    });
    const write = (path: string, content: string) =>
      server.client.sessions.call(session.id, 'files.write', { path, content });
    await write('authority.pem', outside.authority);
    await write('client.py', client);
    return session;
  };
  const shell = async (session: Followed, command: string): Promise<string> => {
    const call = { command, wait: 120 };
    return (await server.client.sessions.call(session.id, 'terminal.run', call)).text;
  };

  it('is limited to the allowed host: TLS server names, HTTP hosts, and curl', async () => {
    const session = await open();
    const python = (kind: string, name: string) =>
      shell(session, `python3 client.py ${kind} ${name}`);
    expect(await python('tls', host)).toContain('A page from outside.');
    expect(await python('http', host)).toContain('A page from outside.');
    for (const name of [hidden, 'none']) expect(await python('tls', name)).toMatch(/^failed/);
    expect(await python('http', hidden)).toMatch(/403 Forbidden.*may only name the host/);
    const options = `-sS --cacert authority.pem --proxytunnel`;
    const fronted = `curl ${options} --connect-to ${hidden}:443:${host}:443 https://${hidden}/index.html; echo " exit $?"`;
    expect(await shell(session, fronted)).toMatch(/exit (35|56)/);
    const plain = `curl ${options} -H 'Host: ${hidden}' http://${host}/index.html`;
    expect(await shell(session, plain)).toContain('may only name the host that was allowed');
    const honest = `curl ${options} https://${host}/index.html; echo " exit $?"`;
    expect(await shell(session, honest)).toMatch(/A page from outside\..* exit 0/);
    await session.event(refused);
    session.close();
  });

  it('stops while the session is paused, and works again afterwards', async () => {
    const session = await open();
    await server.client.sessions.pause(session.id);
    await session.state('paused');
    const before = outside.asked.length;
    const get = `curl -sS http://${host}/index.html`;
    expect(await shell(session, get)).toContain('is paused, so its sandbox opens no connections');
    expect(outside.asked).toHaveLength(before);
    await server.client.sessions.resume(session.id);
    await session.until(() => session.events.some(({ action }) => action === 'resume'));
    expect(await shell(session, get)).toContain('A page from outside.');
    session.close();
  });
});
