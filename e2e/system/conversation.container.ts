import { isEvent, resultOf, userCallPrefix } from '@belay/protocol';
import { describeSystem, run, script, start } from '@belay/testkit';
import { eventually, itLong } from '@belay/testing';

// approvals.long.container.ts has delayed calls, terminal.long.container.ts what a model waits for.
describeSystem('the user and an agent', (server) => {
  it('talk: a question waits for its answer, and a message after the end resumes the session', async () => {
    const model = script(server.data, [
      {
        calls: [
          { operation: 'ask', input: { question: 'Which colour?', options: ['red', 'blue'] } },
        ],
      },
      { expect: 'blue', finish: 'painted' },
      { calls: [run('echo again')] },
      { finish: 'done twice' },
    ]);
    const session = await start(server, { task: 'Paint', model });
    await session.state('waiting');
    expect(await server.client.sessions.get(session.id)).toMatchObject({
      question: 'Which colour?',
    });
    await server.client.sessions.message(session.id, { text: 'blue' });
    const end = await session.ended();
    expect(end.args).toMatchObject({ state: 'finished' });
    await server.client.sessions.message(session.id, { text: 'Once more' });
    await session.event(
      (event) => isEvent(event, 'state') && event.args.state === 'finished',
      end.seq,
    );
    await session.printed('again');
    session.close();
  });

  it('pause, inspect, and resume', async () => {
    const model = script(server.data, [
      { calls: [run('echo begun; until [ -f go ]; do sleep 0.1; done', { wait: 100 })] },
      { calls: [run('echo resumed')] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Pause', model });
    await session.until(() => session.terminal().includes('begun'), 'the command');
    const { sessions } = server.client;
    await sessions.pause(session.id);
    await session.state('paused');
    // The command ends, and the next one does not begin.
    await sessions.call(session.id, 'files.write', { path: 'go', content: '' });
    await session.event((event) => resultOf(event, 'terminal.run') !== undefined);
    const time = await sessions.call(session.id, 'system.time', {});
    expect(time).toMatchObject({ time: expect.any(String) });
    expect(session.terminal()).not.toContain('resumed');
    await sessions.resume(session.id);
    await session.finished();
    await session.printed('resumed');
    session.close();
  });

  it('share a terminal: the user’s input runs, and the agent knows the input owner', async () => {
    const model = script(server.data, [
      { calls: [run('echo mine')] },
      { calls: [{ operation: 'ask', input: { question: 'Done?' } }] },
      { calls: [{ operation: 'terminal.read', input: { from: 0 } }] },
      { expect: 'typed-by-hand', finish: 'seen' },
    ]);
    const session = await start(server, { task: 'Share', model });
    await session.state('waiting');
    const terminal = { session: session.id, terminal: 'main' };
    await server.live.request('terminal.hold', { ...terminal, holder: 'user' });
    await server.live.request('terminal.keys', { ...terminal, data: 'echo typed-by-"hand"\r' });
    await session.until(() => session.terminal().includes('typed-by-hand'), 'the echo');
    await server.live.request('terminal.hold', { ...terminal, holder: 'agent' });
    await server.client.sessions.message(session.id, { text: 'Done' });
    await session.finished();
    session.close();
  });

  it('edit the same file: the agent is told what changed, and an edit that no longer fits is refused', async () => {
    const edit = (from: number, line: string) => ({
      operation: 'files.edit',
      input: { path: 'n.txt', change: 'REPLACE', from, content: [line] },
    });
    const content = 'one\ntwo\nthree\n';
    const model = script(server.data, [
      {
        calls: [
          { operation: 'files.write', input: { path: 'n.txt', content } },
          { operation: 'ask', input: { question: 'Ready?' } },
        ],
      },
      // The prompt reported the new numbers. Then a program changes the file just before the next
      // edit.
      { calls: [edit(3, 'TWO'), run('sed -i 1d n.txt'), edit(3, 'THREE')] },
      { expect: 'conflict.*n.txt changed since you last read it', calls: [edit(2, 'Two')] },
      { finish: 'done' },
    ]);
    const session = await start(server, { task: 'Edit', model });
    await session.state('waiting');
    const { sessions } = server.client;
    const byHand = { path: 'n.txt', from: 1, content: ['by hand'] };
    await sessions.call(session.id, 'files.edit', { ...byHand, change: 'INSERT' });
    const told = await session.event(
      (event) => event.id?.startsWith(userCallPrefix) === true && isEvent(event, 'result'),
    );
    expect(told.args['note']).toContain('n.txt:\n1\t+by hand\n2\t one\n3\t two');
    await sessions.message(session.id, { text: 'Yes' });
    await session.finished();
    const { content: after } = await sessions.call(session.id, 'files.read', { path: 'n.txt' });
    expect(after).toBe('one\nTwo\nthree\n');
    session.close();
  });

  itLong('agree on guidance: AGENTS.md applies only in a trusted workspace', async () => {
    const seen = async (trust: boolean) => {
      const { workspace } = await server.client.uploads.workspace(
        tarOf('AGENTS.md', 'Speak French.'),
      );
      const model = script(server.data, [{ calls: [run('cat AGENTS.md')] }, { finish: 'done' }]);
      const session = await start(server, { task: 'Speak', model, workspace, trust });
      await session.ended();
      session.close();
      return session.events
        .filter((event) => isEvent(event, 'guidance'))
        .map((event) => event.args);
    };
    expect(await seen(false)).toEqual([]);
    expect(await seen(true)).toMatchObject([
      { files: [{ path: 'AGENTS.md', text: 'Speak French.' }] },
    ]);
  });

  describe('approvals', () => {
    it('wait for the user, who allows once, always, or denies with a reason', async () => {
      const model = script(server.data, [
        { calls: [run('echo one')] },
        { calls: [run('echo two')] },
        { calls: [run('echo two')] },
        { calls: [run('echo three')] },
        { expect: 'Use printf', finish: 'done' },
      ]);
      const session = await start(server, { task: 'Echo', model, approvals: 'ask' });
      const question = (subject: string, after = 0) =>
        session.event(
          (event) => isEvent(event, 'approval') && event.args.subject === subject,
          after,
        );
      const client = server.client.sessions;
      const one = await question('echo one');
      await session.state('waiting');
      expect((await client.get(session.id)).waitingFor).toMatchObject([
        { subject: 'echo one', risk: 'execute' },
      ]);
      await client.answer(session.id, String(one.args.id), { verdict: 'approved' });
      const two = await question('echo two');
      await client.answer(session.id, String(two.args.id), {
        verdict: 'approved',
        remember: {
          scope: 'session',
          operation: 'terminal.run',
          pattern: 'echo two',
          expires: null,
        },
      });
      const three = await question('echo three', two.seq);
      await client.answer(session.id, String(three.args.id), {
        verdict: 'rejected',
        reason: 'Use printf',
      });
      await session.finished();
      expect(session.terminal()).not.toContain('three');
      expect(session.events.filter((event) => event.action === 'approval')).toHaveLength(3);
      session.close();
    });

    itLong('still wait after a kill and restart of the server', async () => {
      const model = script(server.data, [{ calls: [run('echo patient')] }, { finish: 'done' }]);
      const session = await start(server, { task: 'Echo', model, approvals: 'ask' });
      const asked = await session.event((event) => event.action === 'approval');
      await session.state('waiting');
      await server.end('SIGKILL');
      await server.start();
      session.follow();
      const waiting = { state: 'waiting', waitingFor: [{ subject: 'echo patient' }] };
      await eventually(async () =>
        expect(await server.client.sessions.get(session.id)).toMatchObject(waiting),
      );
      await server.client.sessions.answer(session.id, String(asked.args.id), {
        verdict: 'approved',
      });
      await session.finished();
      expect(session.events.filter((event) => event.action === 'approval')).toHaveLength(1);
      session.close();
    });
  });

  describe('the terminal of a model', () => {
    it('stops waiting at once when the user steers, and calls that have not begun are not run', async () => {
      const write = { operation: 'files.write', input: { path: 'unwanted.txt', content: 'x' } };
      const model = script(server.data, [
        { calls: [run('echo begun; sleep infinity', { wait: 3_600 }), write] },
        {
          expect: '"status":"running".*"happened":"message".*Not run: the user wrote',
          calls: [{ operation: 'terminal.interrupt', input: {} }],
        },
        { expect: '"status":"interrupted"', finish: 'stopped it' },
      ]);
      const session = await start(server, { task: 'Wait', model });
      await session.until(() => session.terminal().includes('begun'), 'the command');
      await server.client.sessions.message(session.id, { text: 'No need', delivery: 'steer' });
      await session.finished();
      expect(session.events.some(({ action }) => action === 'files.write')).toBe(false);
      session.close();
    });

    itLong('measures a command without the wait for its approval', async () => {
      const model = script(server.data, [{ calls: [run('true')] }, { finish: 'done' }]);
      const session = await start(server, { task: 'Ask', model, approvals: 'delay' });
      await session.finished();
      const asked = session.events.find((event) => isEvent(event, 'approval'));
      const ran = session.events.find((event) => resultOf(event, 'terminal.run'));
      if (!asked || !ran || !isEvent(ran, 'result')) throw new Error(session.words());
      // The two seconds of the approval begin a little before its event.
      const passed = (Date.parse(ran.time) - Date.parse(asked.time)) / 1_000;
      expect(passed - ran.args.seconds).toBeGreaterThan(1);
      session.close();
    });
  });
});

/** A tar archive (ustar) of one small file. */
function tarOf(name: string, text: string): Uint8Array {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write('0001750\0', 108);
  header.write('0001750\0', 116);
  header.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
  body.write(text);
  return Buffer.concat([header, body, Buffer.alloc(1024)]);
}
