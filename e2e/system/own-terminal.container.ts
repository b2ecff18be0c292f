import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type BelayClient } from '@belay/client';
import { isEvent } from '@belay/protocol';
import { spawn, type IPty } from '@lydell/node-pty';
import { pause, until } from '@belay/testing';
import { built, prepared, removeSandboxes, run, script } from '@belay/testkit';

describe('a server that was started at a terminal', () => {
  let data: string;
  let terminal: IPty;
  let shown = '';
  let ended = false;
  let client: BelayClient;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'belay-'));
    terminal = spawn(process.execPath, [built('apps/server/dist/bundle/main.cjs')], {
      cols: 200,
      rows: 40,
      env: {
        ...process.env,
        BELAY_PORT: '0',
        BELAY_DATA: data,
        BELAY_IMAGE: prepared('BELAY_TEST_IMAGE'),
        BELAY_RUNTIME: prepared('BELAY_RUNTIME'),
        BELAY_POOL: '0',
        TERM: 'xterm-256color',
      },
    });
    terminal.onData((text) => (shown += text));
    terminal.onExit(() => (ended = true));
    const { url = '', token = '' } = await until(
      'it is ready',
      () => /"url":"(?<url>[^"]+)","token":"(?<token>[^"]+)"/.exec(shown)?.groups,
    );
    client = createClient({ url, token });
  });
  afterAll(async () => {
    // Ctrl-C still ends the server.
    terminal.write('\u0003');
    await until('it has ended', () => ended);
    await removeSandboxes(data);
    await rm(data, { recursive: true, force: true, maxRetries: 10 });
  });

  const answers = async (line: string) => {
    await pause(400, 'the user reads the question');
    terminal.write(line);
  };

  it('asks there, and takes y, n and a reason', async () => {
    const model = script(data, [
      { calls: [run('echo first'), run('echo second')] },
      { expect: 'Use ninja', finish: 'Done.' },
    ]);
    const task = { task: 'Ask', model, approvals: 'ask' as const };
    const { id } = await client.sessions.create(task);
    await until('the question', () => /allow terminal\.run\?\s+echo first/.test(shown));
    await until('its keys', () => shown.includes('[y]es · [n]o, or a reason: '));
    await answers('y\r');
    await until('the next', () => /allow terminal\.run\?\s+echo second/.test(shown));
    await answers('Use ninja\r');
    const state = async () => (await client.sessions.get(id)).state;
    await until('its end', async () => (await state()) === 'finished', { state });
    const results = (await client.sessions.events(id)).filter((event) => isEvent(event, 'result'));
    expect(results.map(({ args }) => args.ok)).toEqual([true, false, true]);
  });
});
