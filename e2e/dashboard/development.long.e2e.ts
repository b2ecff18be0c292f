import { eventually } from '@belay/testing';
import { Chromium, click, fill, run, script, shows, SourceCopy, start } from '@belay/testkit';

const header = 'x-belay-changed';

describe('npm run dev', () => {
  const sources = new SourceCopy();
  const server = sources.server();
  const chromium = new Chromium();
  beforeAll(async () => {
    await chromium.start();
    await server.start();
  });
  afterAll(async () => {
    await chromium.dispose();
    await server.dispose();
    sources.remove();
  });

  it('shows changes to a component and to the server while page and agent keep running', async () => {
    const model = script(server.data, [
      {
        calls: [
          run('i=0; until [ -f go ]; do i=$((i+1)); echo line-$i; sleep 0.2; done', { wait: 600 }),
        ],
      },
      { finish: 'All is there.' },
      { finish: 'All is there.' },
    ]);
    const session = await start(server, { task: 'Count', model });
    const page = await chromium.open(server, `/sessions/${session.id}`);
    await fill(page, 'Message to the agent', 'not sent yet');
    await click(page, 'Now');
    // A reload would lose this marker but keep the typed text.
    await page.evaluate(() => void Object.assign(globalThis, { isSamePage: true }));

    const component = 'apps/web/src/features/chat/composer/message-box.tsx';
    sources.change(component, "'Send and resume' : 'Send'", "'Send and resume' : 'Hand over'");
    await shows(page, 'form button[type=submit]', 'Hand over');
    const state = () =>
      page.evaluate(() => ({
        isSamePage: 'isSamePage' in globalThis,
        typed: document.querySelector<HTMLTextAreaElement>('#message')?.value,
        chosen: document.querySelector('form [aria-checked=true], form [aria-pressed=true]')
          ?.textContent,
      }));
    const kept = { isSamePage: true, typed: 'not sent yet', chosen: 'Now' };
    await eventually(async () => expect(await state()).toEqual(kept));

    const health = () => fetch(`${server.url}/health`).then(({ headers }) => headers.get(header));
    expect(await health()).toBeNull();
    const controller = 'apps/server/src/api/rest/monitoring.controller.ts';
    const statement = 'const ok = database && diskSpace;';
    sources.change(controller, statement, `${statement} response.set('${header}', 'yes');`);
    await eventually(async () => expect(await health()).toBe('yes'));

    const before = session.terminal().length;
    await session.until(() => session.terminal().length > before, 'the agent to go on');
    // What it printed before can arrive while it is still being reconnected.
    await eventually(async () => {
      await server.client.sessions.call(session.id, 'files.write', { path: 'go', content: '' });
    });
    await session.finished();
    await eventually(async () => expect(await state()).toEqual(kept));
    expect(chromium.complaints).toEqual([]);
  });
});
