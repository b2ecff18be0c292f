import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { isEvent } from '@belay/protocol';
import { AgentBench, bash, replies, resultsOf } from './agent-bench.js';

describe('a program of one’s own', () => {
  const bench = new AgentBench();
  beforeAll(() => bench.open());
  afterAll(() => bench.close());
  const sent = () => JSON.stringify(bench.provider.requests.at(-1)?.body.messages);

  it('works over ACP as an agent: its calls are decided, and it goes on after a message, a stop and a restart', async () => {
    const { sessions } = bench.server.client;
    bench.provider.answer(
      replies('I look.', bash('c1', 'echo one | tee one.txt')),
      replies('On it.', bash('c2', 'echo two'), bash('c3', 'rm one.txt')),
      replies('Kept.'),
    );
    const session = await bench.start({ task: 'Tidy up', agent: { name: 'own' } });
    await bench.answer(session, 'c1');
    await bench.answer(session, 'c2');
    await bench.answer(session, 'c3', { verdict: 'rejected', reason: 'Keep it.' });
    const first = await session.finished();
    expect(first.message).toContain('Kept.');
    expect(resultsOf(session)).toMatchObject({
      c1: { text: 'one\n' },
      c2: { text: 'two\n' },
      c3: { code: 'rejected' },
    });
    expect(
      session.events.find((event) => isEvent(event, 'commit') && event.id === 'c1'),
    ).toBeDefined();
    expect(await sessions.call(session.id, 'files.read', { path: 'one.txt' })).toMatchObject({
      content: 'one\n',
    });

    bench.provider.answer(replies('Again.', bash('c4', 'echo begun; sleep 100')));
    await sessions.message(session.id, { text: 'Once more' });
    await bench.answer(session, 'c4');
    await session.event((event) => isEvent(event, 'say') && event.message === 'Again.');
    await sessions.stop(session.id);
    const stopped = await session.state('stopped');
    bench.provider.answer(replies('Here again.'));
    await sessions.message(session.id, { text: 'Go on' });
    await session.finished(stopped.seq);
    for (const text of ['Tidy up', 'Kept.', 'Once more', 'Go on']) expect(sent()).toContain(text);
    session.close();
  });

  it('works in a terminal as an agent: it needs its user when it rings, and is typed into', async () => {
    const { sessions } = bench.server.client;
    bench.provider.answer(
      replies('I look.', bash('t1', 'echo in-the-terminal')),
      replies('What next?'),
    );
    const session = await bench.start({ task: 'Type', agent: { name: 'typed' } });
    await bench.answer(session, 't1');
    await session.printed('in-the-terminal\r\n', 'agent');
    await session.event((event) => isEvent(event, 'result') && event.id === 't1');
    const rang = await session.event((event) => isEvent(event, 'attention'));
    expect(rang.message).toBe('typed rang the bell.');
    await session.state('waiting');
    expect(await sessions.get(session.id)).toMatchObject({ attention: 'typed rang the bell.' });
    bench.provider.answer(replies('I go on.'));
    const type = (data: string) =>
      bench.server.live.request('terminal.keys', { session: session.id, terminal: 'agent', data });
    await type('Go on\r');
    await session.printed('I go on.', 'agent');
    expect(sent()).toContain('"content":"Go on"');
    await session.event((event) => isEvent(event, 'attention') && event.args.why === null);
    await session.event(
      (event) => isEvent(event, 'attention') && event.args.why !== null,
      rang.seq + 1,
    );
    await type('/exit\r');
    await session.finished();
    session.close();
  });

  it('calls the session’s model from a terminal by an SDK, within the budget', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'belay-bundle-'));
    const outfile = join(folder, 'ask-model.mjs');
    const entryPoints = [join(__dirname, 'ask-model.mjs')];
    buildSync({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm' });
    const workspace = await bench.upload(outfile);
    rmSync(folder, { recursive: true });
    const question = { id: 'a1', name: 'ask', input: '{"question":"Done?"}' };
    bench.provider.answer(
      replies('', question),
      ...['One.', 'Two.', 'Three.'].map((text) => replies(text)),
    );
    const before = bench.provider.requests.length;
    const session = await bench.start({
      task: 'Wait',
      workspace,
      modelForPrograms: true,
      // Each reply has 129, and the last one before the limit may exceed it.
      budgets: { tokens: 500 },
    });
    await session.state('waiting');
    const { sessions } = bench.server.client;
    const ask5 = { command: '/opt/belay/node ask-model.mjs 5', wait: 120 };
    const { text } = await sessions.call(session.id, 'terminal.run', ask5);
    // The end of the budget ends the script.
    await session.state('limited');
    expect(text.trim().split('\n').slice(0, 3)).toEqual(['1 One.', '2 Two.', '3 Three.']);
    expect(await sessions.get(session.id)).toMatchObject({ tokens: 516, openRequests: 0 });
    expect(bench.provider.requests).toHaveLength(before + 4);
    session.close();
  });
});
