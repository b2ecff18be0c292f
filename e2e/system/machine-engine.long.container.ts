import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { describeSystem, prepared, run, script, SecondEngine, start } from '@belay/testkit';
import type { BelayServer, Followed } from '@belay/testkit';
import { counting, endCounting, expectCountedOnce } from './counting.js';
import { eventNumbers, gaplessNumbers } from './event-numbers.js';
import { invite } from './joined-machine.js';
import { JoinProcess } from './join-process.js';
import { shownWithin } from './shown-within.js';

/** Writes down each time that it runs, and prints them all. */
const noted = (name: string, then: string) =>
  run(`echo ${name} >> runs; cat runs; ${then}`, { wait: 300, timeout: 300 });
const onBox = (server: BelayServer, calls: ReturnType<typeof run>[]): Promise<Followed> => {
  const turns = [...calls.map((call) => ({ calls: [call] })), { finish: 'done' }];
  return start(server, { task: 'Work', model: script(server.data, turns), machine: 'box' });
};
/** The work goes on from here, and is shown so. */
async function expectGoesOn(server: BelayServer, session: Followed): Promise<void> {
  const printed = session.terminal().match(/^line \d+/gm)?.length ?? 0;
  await session.printed(`line ${printed + 5}`);
  expect(await server.client.sessions.get(session.id)).toMatchObject({ state: 'running' });
}

describeSystem('a machine whose engine is killed', (server) => {
  const home = mkdtempSync(join(tmpdir(), 'belay-machine-'));
  const image = prepared('BELAY_TEST_BUSYBOX');
  let engine: SecondEngine;
  let box: JoinProcess;
  beforeAll(async () => {
    engine = await SecondEngine.start();
    for (const name of [image, prepared('BELAY_RUNTIME_IMAGE')]) await engine.copyImage(name);
    const { token } = await invite(server, 'box');
    box = new JoinProcess(home, { DOCKER_HOST: engine.host });
    box.start(server.url, '--token', token, '--container', '--image', image);
    await box.says('Connected as box');
  });
  afterAll(async () => {
    await box?.end('SIGTERM');
    await engine?.dispose();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });

  it('goes on exactly, begins nothing meanwhile, and says what ended', async () => {
    const session = await onBox(server, [counting]);
    const victim = await onBox(server, [noted('first', 'sleep 300'), noted('second', 'true')]);
    await session.printed('line 3');
    await victim.printed(/^first/m);
    const pid = await engine.pidOf(victim.id);
    const before = await engine.inventory();

    await engine.killDockerd();
    await expectGoesOn(server, session);
    process.kill(pid, 'SIGKILL');
    const away = /sandbox cannot be reached/;
    await shownWithin(server, victim, { state: 'waiting', reason: away });
    const refused = await onBox(server, [noted('never', 'true')]);
    expect((await refused.state('failed')).args.reason).toMatch(
      /box does not report its containers: is Docker running there\?/,
    );
    await expectGoesOn(server, session);

    await engine.startDockerd();
    await shownWithin(server, victim, { state: 'failed', reason: /The sandbox was killed/ });
    const killed = await victim.state('failed');
    await server.client.sessions.restart(victim.id);
    await victim.finished(killed.seq);
    await victim.printed(/^first\r?\nsecond/m);
    await endCounting(server, session);
    await expectCountedOnce(session);
    await until('the engine has what it had', async () => (await engine.inventory()) === before, {
      state: () => engine.inventory(),
    });
    for (const one of [victim, refused]) one.close();
  });

  it('goes on until a start of it ends all, says so, and goes on with its files', async () => {
    const count = 'for i in $(seq 1000); do echo line $i; sleep 0.2; done';
    const session = await onBox(server, [noted('first', count), noted('second', 'true')]);
    await session.printed('line 3');
    await engine.killDockerd();
    await expectGoesOn(server, session);
    await engine.startDockerd({ liveRestore: false });
    await shownWithin(server, session, { state: 'failed', reason: /Its files are kept\./ });
    const ended = await session.state('failed');
    await server.client.sessions.restart(session.id);
    await session.finished(ended.seq);
    await session.printed(/^first\r?\nsecond/m);
    const counted = session.terminal().match(/^line \d+/gm) ?? [];
    expect(counted).toEqual(counted.map((_, at) => `line ${at + 1}`));
    expect(eventNumbers(session)).toEqual(gaplessNumbers(session));
    session.close();
  });
});
