import { eventually } from '@belay/testing';
import { Chromium, describeSystem, hides, run, script, shows, start, textOf } from '@belay/testkit';

const chat = '[aria-label="Chat"]';
const conversation = '[aria-label="Conversation"]';
const screen = '[aria-label="Terminal"] .xterm-rows';

/** A turn that prints numbered lines until a file appears. */
const counts = (name: string) => ({
  say: `Begin of ${name}.`,
  calls: [
    run(
      `i=0; until [ -f ${name} ]; do i=$((i+1)); echo ${name}-$i; sleep 0.05; done; echo ${name}-was-the-end`,
      { wait: 600 },
    ),
  ],
});

describeSystem('a page that loses its server', (server) => {
  const chromium = new Chromium();
  beforeAll(() => chromium.start());
  afterAll(() => chromium.dispose());

  it('shows a notice and resumes without loss after kill -9, offline and after a reload; two viewers see the same', async () => {
    const finish = { finish: 'All is there.' };
    // The first finish is refused if the agent has not yet seen the file that the user created.
    const model = script(server.data, [counts('one'), counts('two'), finish, finish]);
    const session = await start(server, { task: 'Count', title: 'Counts', model });
    const path = `/sessions/${session.id}`;
    const go = (name: string) =>
      server.client.sessions.call(session.id, 'files.write', { path: name, content: '' });
    const page = await chromium.open(server, path);
    const viewer = await chromium.open(server, path, { token: server.viewerToken });
    await shows(page, screen, /one-\d+/);
    await shows(viewer, screen, /one-\d+/);

    await server.end('SIGKILL');
    for (const each of [page, viewer]) await shows(each, 'header', 'reconnecting, nothing is lost');
    await shows(page, chat, 'Begin of one.');
    await server.start();
    session.follow();
    await hides(page, 'header', 'reconnecting');
    await hides(viewer, 'header', 'reconnecting');
    const before = session.terminal().length;
    await session.until(() => session.terminal().length > before, 'the agent to come back');
    await go('one');
    await shows(page, screen, /two-\d+/);

    await page.setOfflineMode(true);
    await shows(page, chat, 'Begin of two.');
    await page.setOfflineMode(false);
    await page.reload();
    await shows(page, screen, /two-\d+/);

    // Viewers can watch but not change anything.
    const offered = await viewer.$$eval('header button', (all) =>
      all.map((each) => each.ariaLabel ?? each.innerText),
    );
    expect(offered).not.toContain('Stop');
    expect(await viewer.$('#message')).toBeNull();
    const refused = await viewer.evaluate(async (id) => {
      const headers = { authorization: `Bearer ${localStorage.getItem('belay-key')}` };
      return (await fetch(`/api/sessions/${id}/stop`, { method: 'POST', headers })).status;
    }, session.id);
    expect(refused).toBe(403);

    await go('two');
    await session.finished();
    for (const each of [page, viewer]) {
      await shows(each, 'header', 'finished');
      await shows(each, screen, 'two-was-the-end');
      await shows(each, chat, 'All is there.');
      const said = await textOf(each, chat);
      expect(said.split('Begin of one.')).toHaveLength(2);
      expect(said.split('Begin of two.')).toHaveLength(2);
      await eventually(async () => {
        const rows = (await textOf(each, screen)).match(/two-\d+/g) ?? [];
        expect(rows.length).toBeGreaterThan(1);
        const numbers = rows.map((row) => Number(row.slice(4)));
        expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
      });
    }
    await eventually(async () =>
      expect(await textOf(viewer, conversation)).toBe(await textOf(page, conversation)),
    );
    expect(session.events.map(({ seq }) => seq)).toEqual(session.events.map((_, i) => i + 1));
    expect(chromium.complaints).toEqual([]);
    session.close();
  });
});
