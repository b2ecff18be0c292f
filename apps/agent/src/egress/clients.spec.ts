import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { startEgressProxy, type EgressProxy } from './egress-proxy.js';

const run = promisify(execFile);

/** Names end in `.test` and no resolver knows them: what arrives came through the proxy. */
describe('clients through the proxy', () => {
  let folder: string;
  let web: Server;
  let proxy: EgressProxy;
  let env: NodeJS.ProcessEnv;
  let address: string;
  const asked = new Set<string>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-clients-'));
    web = createServer((request, response) => {
      const path = normalize(decodeURIComponent(new URL(request.url ?? '/', address).pathname));
      readFile(join(folder, 'site', path)).then(
        (bytes) => response.end(bytes),
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const { port } = web.address() as AddressInfo;
    address = `http://packages.test:${port}`;
    proxy = await startEgressProxy({
      open: async (host, target) => {
        asked.add(`${host}:${target}`);
        const socket = connect({ host: '127.0.0.1', port: target, allowHalfOpen: true });
        await new Promise((resolve, reject) =>
          socket.once('connect', resolve).once('error', reject),
        );
        return socket;
      },
    });
    const url = `http://127.0.0.1:${proxy.port}`;
    env = {
      PATH: process.env['PATH'],
      HOME: folder,
      http_proxy: url,
      https_proxy: url,
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
      GIT_CONFIG_NOSYSTEM: '1',
    };
  });
  afterAll(async () => {
    await proxy.close();
    web.closeAllConnections();
    await new Promise((resolve) => web.close(resolve));
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => asked.clear());
  const arrived = () => expect([...asked]).toEqual([new URL(address).host]);

  it('npm installs a package', async () => {
    const site = join(folder, 'site');
    await mkdir(join(folder, 'package'), { recursive: true });
    await mkdir(join(site, '-'), { recursive: true });
    await writeFile(join(folder, 'package', 'package.json'), '{"name":"left","version":"1.0.0"}');
    await writeFile(join(folder, 'package', 'index.js'), 'module.exports = "left";');
    await run('tar', ['czf', join(site, '-', 'left-1.0.0.tgz'), '-C', folder, 'package']);
    const bytes = await readFile(join(site, '-', 'left-1.0.0.tgz'));
    const dist = {
      tarball: `${address}/-/left-1.0.0.tgz`,
      integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
    };
    const versions = { '1.0.0': { name: 'left', version: '1.0.0', dist } };
    const document = { name: 'left', 'dist-tags': { latest: '1.0.0' }, versions };
    await writeFile(join(site, 'left'), JSON.stringify(document));
    const project = join(folder, 'project');
    await mkdir(project);
    await writeFile(join(project, 'package.json'), '{"name":"project","version":"1.0.0"}');
    const options = ['--registry', address, '--no-audit', '--no-fund', '--no-update-notifier'];
    await run('npm', ['install', 'left', ...options], { cwd: project, env });
    expect(await readFile(join(project, 'node_modules/left/index.js'), 'utf8')).toContain('left');
    arrived();
  });

  it('git clones a repository', async () => {
    const source = join(folder, 'source');
    await mkdir(source);
    await writeFile(join(source, 'a.txt'), 'content');
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: source, env });
    await git('init', '-q');
    await git('add', '.');
    await git('commit', '-q', '-m', 'First');
    await git('clone', '-q', '--bare', source, join(folder, 'site/repository.git'));
    await git('-C', join(folder, 'site/repository.git'), 'update-server-info');
    await git('clone', '-q', `${address}/repository.git`, join(folder, 'clone'));
    expect(await readFile(join(folder, 'clone/a.txt'), 'utf8')).toBe('content');
    arrived();
  });

  it('Node’s fetch reads a page, by NODE_USE_ENV_PROXY', async () => {
    await mkdir(join(folder, 'site'), { recursive: true });
    await writeFile(join(folder, 'site', 'page'), 'hello');
    const script = `fetch('${address}/page').then((answer) => answer.text()).then(console.log)`;
    const { stdout } = await run(process.execPath, ['-e', script], {
      env: { ...env, NODE_USE_ENV_PROXY: '1' },
    });
    expect(stdout).toBe('hello\n');
    arrived();
  });
});
