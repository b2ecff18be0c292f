import { isEvent } from '@belay/protocol';
import { AgentBench, bash, replies, resultsOf } from './agent-bench.js';

// own-programs.long.container.ts moves and kills it, and calls models by an SDK.
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
});
