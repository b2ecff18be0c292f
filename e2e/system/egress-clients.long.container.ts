import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isEvent,
  type McpTransport,
  type OperationName,
  type OperationRequest,
} from '@belay/protocol';
import {
  belay,
  BelayServer,
  containedServer,
  type Followed,
  idle,
  repositoryRoot,
  script,
  start,
} from '@belay/testkit';
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
  });
  afterAll(async () => {
    session?.close();
    await server?.dispose();
    await outside.close();
  });

  const call = <N extends OperationName>(operation: N, input: OperationRequest<N>) =>
    server.client.sessions.call(session.id, operation, input);
  const shell = async (command: string): Promise<string> =>
    (await call('terminal.run', { command, wait: 120 })).text;

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

  it('Python and Node connect', async () => {
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

  it('cargo and go use the registries of the host', async () => {
    expect(await shell('cat ~/.cargo/config.toml')).toBe(cargoConfig);
    expect(await shell('echo $GOPROXY $GONOSUMDB')).toBe(
      'https://go.example.org corp.example.org\n',
    );
  });

  it('a program in a container of its own reaches the hosts that were chosen for it', async () => {
    const transport = { ...containedServer.transport, hosts: [host] } as McpTransport;
    const { error } = await server.client.mcp.create({ ...containedServer, transport });
    expect(error).toBeNull();
    const get = (address: string) => ({
      operation: 'mcp.contained.get',
      input: { url: `http://${address}/index.html` },
    });
    const addresses = [host, 'other.example.org', '169.254.169.254'];
    const model = script(server.data, [{ calls: addresses.map(get) }, { finish: 'done' }]);
    const using = await start(server, { task: 'Use it', model, approvals: 'auto' });
    await using.finished();
    using.close();
    const said = using.events
      .filter((event) => isEvent(event, 'result'))
      .map(({ args }) => (args.output as { text?: string } | null)?.text ?? '');
    expect(said[0]).toMatch(/^200: .*A page from outside/);
    expect(said.slice(1, 3).join(' ')).not.toMatch(/200/);
    expect(outside.asked).not.toContain('other.example.org:80');
    await server.client.mcp.remove('contained');
  });

  it('each connection is in the log, and there are no others', async () => {
    const seen = () =>
      session.events
        .filter((event) => isEvent(event, 'egress'))
        .map(({ args }) => `${args.host}:${args.port} ${args.verdict}`);
    await session.until(() => new Set(seen()).size === 2, 'the events of both ports');
    expect(seen()).toEqual(expect.arrayContaining([`${host}:443 allowed`, `${host}:80 allowed`]));
    expect(new Set(outside.asked)).toEqual(new Set([`${host}:443`, `${host}:80`]));
    expect(
      await shell(`curl -sS -o /dev/null -w '%{http_connect}' https://other.example.org`),
    ).toMatch(/403/);
    expect(outside.asked.some((target) => target.startsWith('other'))).toBe(false);
  });

  it('actions reach the hosts that they declare, and report which others were refused', async () => {
    const actions = join(outside.files, 'actions');
    // The unmodified example except for TLS: the test’s certificate authority is not trusted here.
    cpSync(join(repositoryRoot, 'examples/actions/web-query'), join(actions, 'web-query'), {
      recursive: true,
    });
    const run = join(actions, 'web-query/run');
    writeFileSync(run, readFileSync(run, 'utf8').replace('https://', 'http://'));
    mkdirSync(join(outside.files, 'w'));
    const found = {
      index: 1,
      title: 'Ada Lovelace',
      fullurl: 'https://x.example',
      extract: 'She.',
    };
    outside.serve('w/api.php', JSON.stringify({ query: { pages: { 7: found } } }));
    mkdirSync(join(actions, 'nosy'));
    const manifest = {
      name_for_human: 'Nosy',
      name_for_model: 'nosy',
      description_for_human: 'Asks a host that it does not declare.',
      description_for_model: 'Asks a host that it does not declare.',
      permissions: { network: [host] },
    };
    writeFileSync(join(actions, 'nosy/manifest.json'), JSON.stringify(manifest));
    const ask = "#!/usr/bin/env node\nawait fetch('https://other.example.org/');\n";
    writeFileSync(join(actions, 'nosy/run'), ask, { mode: 0o755 });

    expect(await belay(server.data, ['actions', 'install', actions])).toMatchObject({ code: 0 });
    expect(await belay(server.data, ['actions', 'test', 'web_query'])).toMatchObject({ code: 0 });
    expect(outside.asked).toContain('en.wikipedia.org:80');
    const { exitCode, errors } = await server.client.actionCalls.call('nosy', {});
    expect(exitCode).not.toBe(0);
    expect(errors).toMatch(
      /^Belay refused a connection: The action nosy may not reach other\.example\.org:443, which is not among the hosts that it declares\.\n/,
    );
    expect(outside.asked.some((target) => target.startsWith('other'))).toBe(false);
  });
});

const cargoConfig = '[registries.corp]\nindex = "sparse+https://crates.example.org/"\n';

/** A home folder with settings, a page, and a repository that git can clone from any web server. */
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
