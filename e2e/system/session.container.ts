import { isEvent, resultOf, type Event } from '@belay/protocol';
import { containerOf, describeSystem, docker, prepared, run, script, start } from '@belay/testkit';
import { eventually, itLong, until } from '@belay/testing';

const result = (operation: string) => (event: Event) =>
  isEvent(event, 'result') && event.args.operation === operation;

const isFree = (name: string): Promise<boolean> =>
  docker
    .getContainer(name)
    .inspect()
    .then(
      () => false,
      () => true,
    );

describeSystem('a session', (server) => {
  it('works in its container, reports event by event, ends as finished, and can be deleted', async () => {
    const model = script(server.data, [
      {
        say: 'I begin.',
        calls: [{ operation: 'plan.update', input: { markdown: '- [x] write' } }],
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
    expect(events.filter((event) => isEvent(event, 'code'))).toHaveLength(2);
    const patch = Buffer.from(await server.client.sessions.patch(session.id)).toString();
    expect(patch).toContain('+one\n+two');
    const summary = await server.client.sessions.get(session.id);
    expect(summary).toMatchObject({ state: 'finished', steps: 5 });
    session.close();
    // It leaves nothing behind when it is deleted.
    await server.client.sessions.remove(session.id);
    await expect(server.client.sessions.get(session.id)).rejects.toMatchObject({
      code: 'not_found',
    });
    await eventually(() => expect(containerOf(session.id)).rejects.toThrow('has no container'));
  });

  it('runs hardened, with no network card, and stops immediately in the middle of a command', async () => {
    const model = script(server.data, [
      { calls: [run('id -u; cat /proc/net/dev | wc -l; touch /usr/x; echo still')] },
      { calls: [run('echo begun; sleep infinity', { wait: 3_600 })] },
    ]);
    const session = await start(server, { task: 'Look around', model });
    const seen = await session.event(result('terminal.run'));
    expect(resultOf(seen, 'terminal.run')?.text).toMatch(
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
    // The agent starts as root so that it can run as a different user than its programs, which are
    // the unprivileged user 1000.
    expect(HostConfig.CapAdd?.map((name: string) => name.replace(/^CAP_/, ''))).toEqual([
      'SETGID',
      'SETUID',
    ]);
    expect(Config.Labels['belay.user']).toMatch(/^1000/);
    await session.printed('begun');
    await server.client.sessions.stop(session.id);
    expect((await session.ended()).args).toMatchObject({ state: 'stopped' });
    session.close();
  });

  itLong('has its name in docker ps, and starts with another when that is taken', async () => {
    const ask = { calls: [{ operation: 'ask', input: { question: 'Done?' } }] };
    const model = script(server.data, [ask, ask]);
    const session = await start(server, { task: 'Wait', model });
    await session.state('waiting');
    const nameOf = async () => (await (await containerOf(session.id)).inspect()).Name.slice(1);
    await until('its name', async () => (await nameOf()) === `belay-${session.id}`);
    await server.client.sessions.stop(session.id);
    await session.ended();
    const name = `belay-${session.id}`;
    await until('its removal', () => isFree(name));
    const image = prepared('BELAY_TEST_DEBIAN');
    const other = await docker.createContainer({ name, Image: image, Cmd: ['true'] });
    try {
      await server.client.sessions.restart(session.id);
      const stateOf = async () => (await server.client.sessions.get(session.id)).state;
      await until('it works', async () => ['running', 'waiting'].includes(await stateOf()));
      expect(await nameOf()).toMatch(new RegExp(`^${name}-[0-9a-f]{6}$`));
    } finally {
      await other.remove({ force: true });
      await server.client.sessions.remove(session.id);
      session.close();
    }
  });

  it('shares nothing with one that runs at the same time', async () => {
    const words = ['red', 'green'];
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
      await session.printed(words[index] ?? '');
      expect(session.terminal()).not.toMatch(new RegExp(others));
      const patch = Buffer.from(await server.client.sessions.patch(session.id)).toString();
      expect(patch).toContain(`+${words[index]}`);
      expect(patch).not.toMatch(new RegExp(others));
      session.close();
    }
  });

  it('fails with both texts when a script expected a different one', async () => {
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

  describe('that cannot start:', () => {
    const fine = () => script(server.data, [{ finish: 'done' }]);
    it.each([
      ['an unknown provider', { model: 'nobody:x' }, /There is no model "nobody:x"/],
      ['a model without its key', { model: 'openai:gpt-5' }, /OPENAI_API_KEY/],
      ['a script that is not there', { model: 'scripted:/no/such.yaml' }, /\/no\/such\.yaml/],
      ['a workspace that does not exist', { workspace: 'missing' }, /workspace/i],
      ['an unknown example', { workspace: 'example:missing' }, /missing/],
    ])(
      '%s is reported in one clear sentence, and no session is left',
      async (_, more, sentence) => {
        const before = await server.client.sessions.list();
        const failure = await server.client.sessions
          .create({ task: 'x', model: fine(), ...more })
          .catch((error: Error) => error);
        expect(failure).toMatchObject({
          name: 'AppError',
          message: expect.stringMatching(sentence),
        });
        expect(await server.client.sessions.list()).toHaveLength(before.length);
      },
    );

    it('a missing image fails the session with a sentence that names it', async () => {
      const session = await start(server, {
        task: 'x',
        model: fine(),
        image: 'belay/no-such-image:1',
      }).catch((error: Error) => error);
      if (session instanceof Error) expect(session.message).toMatch(/belay\/no-such-image:1/);
      else expect(String((await session.ended()).args.reason)).toMatch(/belay\/no-such-image:1/);
    });
  });
});
