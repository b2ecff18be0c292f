import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { isEvent, type NewSession } from '@belay/protocol';
import { until } from '@belay/testing';
import {
  belay,
  describeSystem,
  docker,
  prepared,
  run,
  script,
  start,
  type Followed,
} from '@belay/testkit';
import { leftOf } from './joined-machine.js';
import { JoinProcess } from './join-process.js';

describeSystem('a machine that is drained', (server) => {
  let home: string;
  let box: JoinProcess;
  const machines = (...args: string[]) => belay(server.data, ['machines', ...args]);
  beforeAll(async () => {
    home = mkdtempSync(join(server.data, 'machine-'));
    const added = await machines('add', 'box', '--label', 'kind=test', '--json');
    const { token } = JSON.parse(added.stdout) as { token: string };
    box = new JoinProcess(home);
    const image = prepared('BELAY_TEST_IMAGE');
    const options = ['--container', '--image', image, '--max-sandboxes', '3'];
    box.start(server.url, '--token', token, ...options);
    await box.says('Connected as box');
  });
  afterAll(() => box.end('SIGTERM'));

  /** A session on the machine that has recorded a file, and reads it in each of its sandboxes. */
  const working = async (n: number, on: Partial<NewSession>): Promise<Followed> => {
    const reads = { calls: [run(`cat kept.txt; echo at work; sleep 300`)] };
    const model = script(server.data, [
      { calls: [run(`echo file ${n} > kept.txt`)] },
      ...Array.from({ length: 9 }, () => reads),
    ]);
    const session = await start(server, { task: `Work ${n}`, model, ...on });
    await session.until(() => reading(session, n) > 0, 'its work');
    return session;
  };
  /** How many sandboxes of the session have read its file. */
  const reading = (session: Followed, n: number) =>
    session.terminal().split(new RegExp(`file ${n}\r?\nat work`)).length - 1;
  const placeOf = async ({ id }: Followed) =>
    (await server.client.sessions.get(id)).machine?.name ?? 'server';
  const containersOf = async (session: Followed) => {
    const filters = { label: [`belay.session=${session.id}`] };
    return (await docker.listContainers({ filters })).length;
  };
  const remove = async (session: Followed) => {
    session.close();
    await server.client.sessions.remove(session.id);
  };

  it('keeps a session for which no other place has the label, and moves one without steps', async () => {
    const session = await working(1, { labels: { kind: 'test' } });
    expect(await placeOf(session)).toBe('box');
    const { stdout } = await machines('list');
    expect(stdout).toMatch(/box +connected .* · 1 of 3 sandboxes, .* · kind=test · /);
    expect(stdout).toMatch(/This server itself has 0 of \d+ sandboxes, /);
    const model = script(server.data, [
      { calls: [run('sleep 300')] },
      { calls: [run('sleep 300')] },
    ]);
    const other = await start(server, { task: 'Wait', model, machine: 'box' });
    await other.event(({ action }) => action === 'terminal.run');
    const drained = await machines('drain', 'box');
    expect(drained).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        `${session.id}  kept  No place fits this session: this server does not have kind=test`,
      ),
    });
    expect(drained.stdout).toContain(`${other.id}  moved  `);
    await other.event((event) => isEvent(event, 'placed'));
    await until('it runs elsewhere', async () => (await placeOf(other)) === 'server');
    await remove(other);
    expect(await containersOf(session)).toBe(1);
    expect(await machines('use', 'box')).toMatchObject({
      code: 0,
      stdout: 'box takes sessions again.\n',
    });
    await remove(session);
  });

  it('moves a session that waits for an answer with its question', async () => {
    const question = { question: 'Which colour?' };
    const model = script(server.data, [
      { calls: [{ operation: 'ask', input: question }] },
      { finish: 'Painted.' },
    ]);
    const session = await start(server, { task: 'Paint', model, machine: 'box' });
    const asked = await session.state('waiting');
    expect(await machines('drain', 'box')).toMatchObject({ code: 0 });
    await session.event((event) => isEvent(event, 'restored'), asked.seq);
    const now = () => server.client.sessions.get(session.id);
    const waits = async () => {
      const { state, question: open, machine } = await now();
      return state === 'waiting' && open === question.question && machine === null;
    };
    await until('it waits there', waits, {
      state: async () => JSON.stringify(await now()) + session.words(),
    });
    expect(session.events.some((event) => isEvent(event, 'result'))).toBe(false);
    await server.client.sessions.message(session.id, { text: 'Blue.' });
    await session.finished();
    await machines('use', 'box');
    await remove(session);
  });

  it('is empty in the end also when its server is killed meanwhile, with each session in one place', async () => {
    const sessions = await Promise.all([1, 2, 3].map((n) => working(n, { machine: 'box' })));
    const before = sessions.map((session) => session.events.at(-1)?.seq ?? 0);
    const kill = async () => {
      await server.end('SIGKILL');
      await server.start();
      for (const session of sessions) session.follow();
    };
    await server.client.machines.change('box', { draining: true });
    await kill();
    const [first] = sessions;
    await first?.event((event) => isEvent(event, 'start'), before[0]);
    await kill();
    for (const [at, session] of sessions.entries()) {
      const restored = await session.event((event) => isEvent(event, 'restored'), before[at]);
      expect(restored.args['commit']).not.toBeNull();
      await session.until(() => reading(session, at + 1) > 1, 'its work elsewhere');
      expect(await placeOf(session)).toBe('server');
      await until('it has one sandbox', async () => (await containersOf(session)) === 1);
    }
    expect(await machines('drain', 'box')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('It runs none now.'),
    });
    for (const session of sessions) await remove(session);
    const left = async () => JSON.stringify(await leftOf(home));
    const nothing = JSON.stringify({ containers: 0, volumes: 0 });
    await until('nothing is left there', async () => (await left()) === nothing, { state: left });
  });
});
