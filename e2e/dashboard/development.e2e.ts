import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { eventually } from '@belay/testing';
import {
  BelayServer,
  Chromium,
  click,
  fill,
  repositoryRoot,
  run,
  script,
  shows,
  start,
  untilInPage,
} from '@belay/testkit';

const header = 'x-belay-changed';

describe('npm run dev', () => {
  const sources = mkdtempSync(join(tmpdir(), 'belay-sources-'));
  // As npm run dev starts it.
  const server = new BelayServer({ NODE_ENV: 'production' }, () => [
    join(sources, 'tools/dev/main.ts'),
  ]);
  const chromium = new Chromium();
  beforeAll(async () => {
    copySources(sources);
    await chromium.start();
    await server.start();
  });
  afterAll(async () => {
    await chromium.dispose();
    await server.dispose();
    rmSync(sources, { recursive: true, force: true, maxRetries: 10 });
  });

  const change = (path: string, from: string, to: string): void => {
    const before = readFileSync(join(sources, path), 'utf8');
    expect(before.split(from)).toHaveLength(2);
    writeFileSync(join(sources, path), before.replace(from, to));
  };

  it('shows changes of a component and of the server, while page and agent go on', async () => {
    const model = script(server.data, [
      { calls: [run('i=0; until [ -f go ]; do i=$((i+1)); echo line-$i; sleep 0.2; done')] },
      { finish: 'All is there.' },
      { finish: 'All is there.' },
    ]);
    const session = await start(server, { task: 'Count', model });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    await fill(page, 'Message to the agent', 'not sent yet');
    await click(page, 'Now');
    // Gone with the page; what was typed is kept over a reload.
    await page.evaluate(() => void Object.assign(globalThis, { isSamePage: true }));

    const component = 'apps/web/src/features/chat/composer/message-box.tsx';
    change(component, 'aria-hidden /> Send', 'aria-hidden /> Hand over');
    await shows(page, 'form button[type=submit]', 'Hand over');
    const keepsItsState = () =>
      'isSamePage' in globalThis &&
      document.querySelector<HTMLTextAreaElement>('#message')?.value === 'not sent yet' &&
      document.querySelector('form [aria-checked=true], form [aria-pressed=true]')?.textContent ===
        'Now';
    await untilInPage(page, keepsItsState);

    const health = () => fetch(`${server.url}/health`).then(({ headers }) => headers.get(header));
    expect(await health()).toBeNull();
    const controller = 'apps/server/src/api/rest/monitoring.controller.ts';
    const statement = 'const ok = database && diskSpace;';
    change(controller, statement, `${statement} response.set('${header}', 'yes');`);
    await eventually(async () => expect(await health()).toBe('yes'));

    const before = session.terminal().length;
    await session.until(() => session.terminal().length > before, 'the agent to go on');
    await server.client.sessions.call(session.id, 'files.write', { path: 'go', content: '' });
    await session.finished();
    await untilInPage(page, keepsItsState);
    expect(chromium.complaints).toEqual([]);
  });
});

/** A copy, so that the checkout stays as it is however the test ends; packages are linked. */
function copySources(to: string): void {
  const isBuilt = (path: string) =>
    /(^|\/)(node_modules|dist)(\/|$)/.test(relative(repositoryRoot, path));
  for (const name of ['apps', 'libs', 'tools', 'tsconfig.base.json', 'package.json'])
    cpSync(join(repositoryRoot, name), join(to, name), {
      recursive: true,
      filter: (path) => !isBuilt(path),
    });
  symlinkSync(join(repositoryRoot, 'node_modules'), join(to, 'node_modules'));
  // Not as a whole: Vite keeps what it makes of packages in it.
  const packages = 'apps/web/node_modules';
  mkdirSync(join(to, packages));
  for (const name of readdirSync(join(repositoryRoot, packages)))
    if (!name.startsWith('.'))
      symlinkSync(join(repositoryRoot, packages, name), join(to, packages, name));
}
