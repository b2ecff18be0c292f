import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { isEvent } from '@belay/protocol';
import { Followed, killAgent } from '@belay/testkit';
import { AgentBench, bash, replies, resultsOf } from './agent-bench.js';

describe('a program of one’s own, moved and killed, and one that calls models', () => {
  const bench = new AgentBench();
  beforeAll(() => bench.open());
  afterAll(() => bench.close());
  const sent = () => JSON.stringify(bench.provider.requests.at(-1)?.body.messages);

  it('goes on with another model that the user chooses, in a turn and between two', async () => {
    const { sessions } = bench.server.client;
    const called = () => bench.provider.requests.at(-1)?.body['model'];
    bench.provider.answer(replies('First.'));
    const session = await bench.start({ task: 'Begin', agent: { name: 'own' } });
    const first = await session.finished();
    await sessions.change(session.id, { model: 'openai-compatible:second' });
    bench.provider.answer(replies('Second.', bash('m1', 'sleep 100')));
    await sessions.message(session.id, { text: 'Go on' });
    await session.event((event) => isEvent(event, 'approval') && event.id === 'm1');
    expect(called()).toBe('second');
    for (const text of ['Begin', 'First.', 'Go on']) expect(sent()).toContain(text);
    bench.provider.answer(replies('Third.'));
    await sessions.change(session.id, { model: 'openai-compatible:third' });
    const end = await session.finished(first.seq);
    expect(end.message).toContain('Third.');
    expect(called()).toBe('third');
    expect(sent()).toContain('You were interrupted; go on.');
    session.close();
  });

  it('loses nothing when its program, the server or the sandbox is killed in the middle', async () => {
    const { sessions } = bench.server.client;
    bench.provider.answer(
      replies('Begin.', bash('k1', 'echo begun')),
      replies('Wait.', bash('k2', 'sleep 100')),
    );
    const session = await bench.start({ task: 'Endure', agent: { name: 'own' } });
    await bench.answer(session, 'k1');
    await bench.answer(session, 'k2');
    await session.event((event) => isEvent(event, 'say') && event.message === 'Wait.');
    bench.provider.answer(replies('Resumed.', bash('k3', 'echo third')));
    const kill = { command: 'pkill -9 -f own-agent.mjs' };
    await sessions.call(session.id, 'terminal.run', kill);
    await session.event((event) => isEvent(event, 'approval') && event.id === 'k3');
    expect(sent()).toContain('You were interrupted; go on.');
    expect(sent()).toContain('begun');

    // The program repeats the request whose reply the end of the server broke off.
    bench.provider.answer(replies('Resumed.', bash('k4', 'echo third')));
    await bench.server.end('SIGKILL');
    await bench.server.start();
    session.follow();
    await bench.answer(session, 'k4');
    bench.provider.answer(replies('Now this.', bash('k5', 'echo fifth >> fifth.txt')));
    await session.event((event) => isEvent(event, 'approval') && event.id === 'k5');
    expect(resultsOf(session)).toMatchObject({ k1: { text: 'begun\n' }, k4: { text: 'third\n' } });
    expect((await bench.server.client.sessions.get(session.id)).waitingFor).toMatchObject([
      { id: 'k5' },
    ]);

    // The user decides just then: before, during or after the end of the sandbox.
    const decided = bench.answer(session, 'k5').catch((error: unknown) => error);
    await killAgent(session.id);
    const failed = await session.state('failed');
    const refused = await decided;
    if (refused) expect(refused).toMatchObject({ code: 'conflict' });
    bench.provider.answer(
      replies('Survived.', bash('k6', 'cat fifth.txt 2>&- | wc -l')),
      replies('Ended.'),
    );
    await bench.server.client.sessions.restart(session.id);
    await bench.answer(session, 'k6');
    await session.finished(failed.seq);
    expect(sent()).toContain('third');
    // Nothing ran twice, and nothing without the decision.
    expect(resultsOf(session)).toMatchObject({
      k6: { text: expect.stringMatching(refused ? /^0\n$/ : /^[01]\n$/) },
    });
    const said = session.events.flatMap((event) => (isEvent(event, 'say') ? event.message : []));
    // What it said before the held call may have reached the log before the kill.
    const others = said.filter((text) => text !== 'Now this.');
    expect(others).toEqual(['Begin.', 'Wait.', 'Resumed.', 'Survived.', 'Ended.']);
    expect(session.events.map(({ seq }) => seq)).toEqual(session.events.map((_, at) => at + 1));
    session.close();
  });

  it('hands over to Belay’s own agent, and takes over from it', async () => {
    bench.provider.answer(
      replies('Mine.', bash('f1', 'echo mine | tee mine.txt')),
      replies('Ready.'),
    );
    const session = await bench.start({ task: 'Share', agent: { name: 'own' }, approvals: 'auto' });
    const end = await session.finished();
    const { sessions } = bench.server.client;
    const fork = async (from: Followed, seq: number, agent: string): Promise<Followed> => {
      const message = { text: `Now ${agent}` };
      const { id } = await sessions.fork(from.id, { seq, agent: { name: agent }, message });
      return new Followed(bench.server, id);
    };
    const finish = { id: 'f3', name: 'finish', input: '{"summary":"Taken over."}' };
    const run = { id: 'f2', name: 'terminal_run', input: '{"command":"cat mine.txt"}' };
    bench.provider.answer(replies('Yours.', run), replies('', finish));
    const belays = await fork(session, end.seq, 'belay');
    const belaysEnd = await belays.finished(end.seq);
    expect(belays.words()).toContain('Taken over.');
    for (const text of ['Share', 'Ready.', 'Now belay', 'f2']) expect(sent()).toContain(text);
    expect(resultsOf(belays)).toMatchObject({ f2: { text: 'mine\n' } });

    bench.provider.answer(replies('Mine again.', bash('f4', 'cat mine.txt')), replies('Done.'));
    const back = await fork(belays, belaysEnd.seq, 'own');
    await back.finished(belaysEnd.seq);
    for (const text of ['Yours.', 'Taken over', 'Now own']) expect(sent()).toContain(text);
    expect(resultsOf(back)).toMatchObject({ f4: { text: 'mine\n' } });
    for (const one of [session, belays, back]) one.close();
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
