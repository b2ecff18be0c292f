import { isFact, type Event } from '@belay/protocol';
import { containerOf } from '../engine.js';
import { describeSystem } from '../describe-system.js';
import { start } from '../follow.js';
import { run, script } from '../script.js';

const result = (operation: string) => (event: Event) =>
  isFact(event, 'result') && event.args.operation === operation;

describeSystem('a session', (server) => {
  it('works in its container, says so event by event, and ends finished', async () => {
    const model = script(server.data, [
      {
        say: 'I begin.',
        calls: [{ operation: 'plan.update', input: { markdown: '- [ ] write' } }],
      },
      { calls: [{ operation: 'files.write', input: { path: 'a.txt', content: 'one\n' } }] },
      { calls: [run('cat a.txt; echo $((6*7)); exit 3')] },
      {
        expect: '"exitCode":3',
        calls: [
          {
            operation: 'files.edit',
            input: { path: 'a.txt', change: 'INSERT', from: 2, content: ['two'] },
          },
        ],
      },
      { finish: 'Wrote two lines.' },
    ]);
    const session = await start(server, { task: 'Write', model });
    const end = await session.ended();
    expect(end.args).toMatchObject({ state: 'finished' });
    const { events } = session;
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    const ran = events.find(result('terminal.run'));
    expect(ran?.args).toMatchObject({ ok: true, output: { exitCode: 3, status: 'exited' } });
    expect(JSON.stringify(ran?.args.output)).toContain('42');
    await session.until(() => session.terminal().includes('42'), 'the terminal’s bytes');
    expect(events.filter((event) => isFact(event, 'code'))).toHaveLength(2);
    const patch = Buffer.from(await server.client.sessions.patch(session.id)).toString();
    expect(patch).toContain('+one\n+two');
    const summary = await server.client.sessions.get(session.id);
    expect(summary).toMatchObject({ state: 'finished', steps: 5 });
    session.close();
  });

  it('runs hardened, with no network card', async () => {
    const model = script(server.data, [
      { calls: [run('id -u; cat /proc/net/dev | wc -l; touch /usr/x; echo still')] },
      { calls: [run('sleep 300')] },
    ]);
    const session = await start(server, { task: 'Look around', model });
    const seen = await session.event(result('terminal.run'));
    expect((seen.args.output as { text: string }).text).toMatch(
      /^1000\s+3\s+touch: .*Read-only file system\s+still/,
    );
    const { HostConfig, Config } = await (await containerOf(session.id)).inspect();
    expect(HostConfig).toMatchObject({
      CapDrop: ['ALL'],
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      Init: true,
      PidsLimit: 512,
      Privileged: false,
      PortBindings: {},
    });
    expect(HostConfig.SecurityOpt).toContain('no-new-privileges');
    expect(HostConfig.MemorySwap).toBe(HostConfig.Memory);
    expect(JSON.stringify(HostConfig.Mounts ?? HostConfig.Binds)).not.toContain('docker.sock');
    expect(Config.User).toMatch(/^1000/);
    await server.client.sessions.stop(session.id);
    expect((await session.ended()).args).toMatchObject({ state: 'stopped' });
    session.close();
  });

  it('shares nothing with two others that run at once', async () => {
    const words = ['red', 'green', 'blue'];
    const sessions = await Promise.all(
      words.map((word) =>
        start(server, {
          task: word,
          model: script(server.data, [
            { calls: [run(`echo ${word} >> mine; cat *; sleep 1; ls /tmp`)] },
            { finish: word },
          ]),
        }),
      ),
    );
    for (const [index, session] of sessions.entries()) {
      await session.ended();
      const others = words.filter((_, other) => other !== index).join('|');
      expect(session.terminal()).toContain(words[index]);
      expect(session.terminal()).not.toMatch(new RegExp(others));
      const patch = Buffer.from(await server.client.sessions.patch(session.id)).toString();
      expect(patch).toContain(`+${words[index]}`);
      expect(patch).not.toMatch(new RegExp(others));
      session.close();
    }
  });

  it('fails with both texts shown when a script expected something else', async () => {
    const model = script(server.data, [
      { calls: [run('echo apples')] },
      { expect: 'pears', finish: 'never' },
    ]);
    const session = await start(server, { task: 'Compare', model });
    const end = await session.ended();
    expect(end.args).toMatchObject({ state: 'failed' });
    expect(String(end.args.reason)).toMatch(/pears[^]*apples/);
    session.close();
  });

  it('leaves nothing behind when it is deleted', async () => {
    const session = await start(server, {
      task: 'Go',
      model: script(server.data, [{ finish: 'done' }]),
    });
    await session.ended();
    session.close();
    await server.client.sessions.remove(session.id);
    await expect(server.client.sessions.get(session.id)).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(containerOf(session.id)).rejects.toThrow('has no container');
  });
});

describeSystem('what cannot be started', (server) => {
  const fine = () => script(server.data, [{ finish: 'done' }]);
  it.each([
    ['an unknown provider', { model: 'nobody:x' }, /provider/],
    ['a model without its key', { model: 'openai:gpt-5' }, /OPENAI_API_KEY/],
    ['a script that is not there', { model: 'scripted:/no/such.yaml' }, /\/no\/such\.yaml/],
    ['a workspace that does not exist', { workspace: 'missing' }, /workspace/i],
    ['an unknown example', { workspace: 'example:missing' }, /missing/],
  ])('%s is one clear sentence, and no session is left', async (_, more, sentence) => {
    const failure = await server.client.sessions
      .create({ task: 'x', model: fine(), ...more })
      .catch((error: Error) => error);
    expect(failure).toMatchObject({ name: 'AppError', message: expect.stringMatching(sentence) });
    expect(await server.client.sessions.list()).toEqual([]);
  });

  it('an image that is not there fails the session with a sentence that names it', async () => {
    const session = await start(server, {
      task: 'x',
      model: fine(),
      image: 'belay/no-such-image:1',
    }).catch((error: Error) => error);
    if (session instanceof Error) expect(session.message).toMatch(/belay\/no-such-image:1/);
    else expect(String((await session.ended()).args.reason)).toMatch(/belay\/no-such-image:1/);
  });
});
