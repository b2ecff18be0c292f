import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFact } from '@belay/protocol';
import { idle } from '../idle.js';
import type { Followed } from '../follow.js';
import { BelayServer } from '../server-process.js';
import { OutsideWorld } from './outside-world.js';

const host = 'code.example.org';
const page = '<title>Outside</title><p>A page from outside.</p>';

describe('through the proxy of a host that has one', () => {
  const outside = new OutsideWorld();
  let server: BelayServer;
  let session: Followed;
  beforeAll(async () => {
    await outside.open([host]);
    layOut(outside.files);
    server = new BelayServer({ ...outside.environment, HOME: outside.files });
    await server.start();
    session = await idle(server, {
      approvals: 'auto',
      egress: { profile: 'list', hosts: [`${host}:443`, `${host}:80`] },
    });
    await call('files.write', { path: 'authority.pem', content: outside.authority });
  }, 60_000);
  afterAll(async () => {
    session?.close();
    await server?.dispose();
    await outside.close();
  }, 60_000);

  const call = (operation: string, input: Record<string, unknown>) =>
    server.client.sessions.call(session.id, operation, input) as Promise<Record<string, unknown>>;
  const shell = async (command: string): Promise<string> =>
    String((await call('terminal.run', { command, wait: 60 })).text);

  it('curl speaks HTTP and HTTPS', async () => {
    expect(await shell(`curl -sS http://${host}/index.html`)).toContain('A page from outside.');
    expect(
      await shell(`curl -sS --cacert authority.pem https://${host}/index.html; echo " exit $?"`),
    ).toMatch(/A page from outside\..* exit 0/);
  });

  it('git clones over HTTPS', async () => {
    const clone = `GIT_SSL_CAINFO=$PWD/authority.pem git clone -q https://${host}/tool.git`;
    expect(await shell(`${clone} && git -C tool log --format=%s && cat tool/README`)).toMatch(
      /first\s+Hello from the repository\./,
    );
  });

  it('Python and Node find their way', async () => {
    const python = `import urllib.request as u; print(u.urlopen('http://${host}/index.html').read())`;
    expect(await shell(`python3 -c "${python}"`)).toContain('A page from outside.');
    const node = `fetch('http://${host}/index.html').then(async r => console.log(await r.text()))`;
    expect(await shell(`node -e "${node}"`)).toContain('A page from outside.');
  });

  it('Chromium opens a page', async () => {
    expect(await call('browser.open', { url: `http://${host}/index.html` })).toMatchObject({
      title: 'Outside',
      text: expect.stringContaining('A page from outside.'),
    });
  });

  it('cargo and go are told of the registries of the host', async () => {
    expect(await shell('cat ~/.cargo/config.toml')).toBe(cargoConfig);
    expect(await shell('echo $GOPROXY $GONOSUMDB')).toBe(
      'https://go.example.org corp.example.org\n',
    );
  });

  it('each connection is in the log, and nothing else went out', async () => {
    const seen = () =>
      session.events
        .filter((event) => isFact(event, 'egress'))
        .map(({ args }) => `${args.host}:${args.port} ${args.verdict}`);
    await session.until(() => new Set(seen()).size === 2, 'the events of both ports');
    expect(seen()).toEqual(expect.arrayContaining([`${host}:443 allowed`, `${host}:80 allowed`]));
    expect(new Set(outside.asked)).toEqual(new Set([`${host}:443`, `${host}:80`]));
    expect(
      await shell(`curl -sS -o /dev/null -w '%{http_connect}' https://other.example.org`),
    ).toMatch(/403/);
    expect(outside.asked.some((target) => target.startsWith('other'))).toBe(false);
  });
});

const cargoConfig = '[registries.corp]\nindex = "sparse+https://crates.example.org/"\n';

/** A home with settings, a page, and a repository that git can clone from any web server. */
function layOut(files: string): void {
  mkdirSync(join(files, '.cargo'));
  writeFileSync(join(files, '.cargo/config.toml'), cargoConfig);
  mkdirSync(join(files, '.config/go'), { recursive: true });
  const go = 'GOPROXY=https://go.example.org\nGONOSUMDB=corp.example.org\n';
  writeFileSync(join(files, '.config/go/env'), go);
  writeFileSync(join(files, 'index.html'), page);
  const source = join(files, 'source');
  mkdirSync(source);
  writeFileSync(join(source, 'README'), 'Hello from the repository.\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', source, ...args], { stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('-c', 'user.name=A', '-c', 'user.email=a@example.org', 'commit', '-qm', 'first');
  git('clone', '-q', '--bare', source, join(files, 'tool.git'));
  execFileSync('git', ['-C', join(files, 'tool.git'), 'update-server-info'], { stdio: 'pipe' });
}
