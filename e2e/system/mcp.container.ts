import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isEvent } from '@belay/protocol';
import { eventually, until } from '@belay/testing';
import {
  containedServer,
  describeSystem,
  docker,
  run,
  script,
  start,
  toolsServer,
} from '@belay/testkit';

const call = (tool: string, input: Record<string, unknown> = {}) => ({
  operation: `mcp.tools.${tool}`,
  input,
});

describeSystem('tools of an MCP server', (server) => {
  beforeAll(() => server.client.mcp.create(toolsServer));

  it('need approval like network access, run on the server’s host, and return results to the model', async () => {
    const model = script(server.data, [
      { calls: [call('echo', { text: 'one' })] },
      { expect: 'you said one', calls: [call('echo', { text: 'two' }), call('picture')] },
      { expect: 'you said two.*Not now', calls: [call('long', { length: 50_000 })] },
      { calls: [run('wc -c < /tmp/mcp-turn-3-1.txt; env')] },
      { expect: '50000', calls: [call('fail')] },
      { expect: 'the disk is on fire', finish: 'done' },
    ]);
    const session = await start(server, { task: 'Use it', model, approvals: 'ask' });
    const client = server.client.sessions;
    const question = (operation: string, after = 0) =>
      session.event(
        (event) => isEvent(event, 'approval') && event.args.operation === operation,
        after,
      );
    const echo = await question('mcp.tools.echo');
    expect(echo.args).toMatchObject({ input: { text: 'one' }, risk: 'network' });
    await client.answer(session.id, String(echo.args['id']), {
      verdict: 'approved',
      remember: { scope: 'session', operation: 'mcp.tools.echo', pattern: '*', expires: null },
    });
    const picture = await question('mcp.tools.picture');
    const no = { verdict: 'rejected', reason: 'Not now' } as const;
    await client.answer(session.id, String(picture.args['id']), no);
    const long = await question('mcp.tools.long', picture.seq);
    await client.change(session.id, { approvals: 'auto' });
    await session.finished();
    expect(long.seq).toBeGreaterThan(picture.seq);
    expect(session.events.filter(({ action }) => action === 'approval')).toHaveLength(3);
    const results = session.events.filter((event) => isEvent(event, 'result'));
    expect(results.map(({ args }) => [args.operation, args.ok])).toEqual([
      ['mcp.tools.echo', true],
      ['mcp.tools.echo', true],
      ['mcp.tools.picture', false],
      ['mcp.tools.long', true],
      ['terminal.run', true],
      ['mcp.tools.fail', false],
      ['finish', true],
    ]);
    expect(session.terminal()).not.toContain('stays-on-the-host');
    session.close();
  });

  it('are missing in a session without MCP, and a stop cancels a running call', async () => {
    const model = script(server.data, [
      { calls: [call('echo', { text: 'one' })] },
      { expect: 'There is no operation mcp.tools.echo', finish: 'done' },
    ]);
    const none = await start(server, { task: 'Use it', model, mcp: [] });
    await none.finished();
    none.close();
    const file = join(server.data, 'slow.txt');
    const slow = await start(server, {
      task: 'Wait',
      model: script(server.data, [{ calls: [call('slow', { file })] }]),
    });
    await holds(file, 'begun');
    await server.client.sessions.stop(slow.id);
    await slow.state('stopped');
    await holds(file, 'cancelled');
    slow.close();
  });

  it('run by default in a container without access to the host, which is removed with the server', async () => {
    const added = await server.client.mcp.create(containedServer);
    expect(added).toMatchObject({ state: 'connected', error: null });
    const input = {
      file: join(server.data, 'server.json'),
      port: Number(new URL(server.url).port),
    };
    const contained = (tool: string, given = {}) => ({
      operation: `mcp.contained.${tool}`,
      input: given,
    });
    const session = await start(server, {
      task: 'Look',
      model: script(server.data, [
        { calls: [contained('look', input), contained('environment'), call('look', input)] },
        { finish: 'done' },
      ]),
    });
    await session.finished();
    session.close();
    const said = session.events
      .filter((event) => isEvent(event, 'result'))
      .map(({ args }) => (args.output as { text?: string } | null)?.text ?? '');
    const nothing = { read: 'ENOENT', dial: 'ECONNREFUSED', write: 'EROFS', networks: [] };
    expect(JSON.parse(said[0] ?? '')).toEqual({ ...nothing, user: 1000 });
    const variables = (said[1] ?? '').split(' ');
    expect(variables).toEqual(expect.arrayContaining(['HOME', 'MCP_SECRET', 'PATH']));
    expect(variables.filter((name) => name.startsWith('BELAY'))).toEqual([]);
    // Control: on the host, the same program can read and reach both.
    expect(JSON.parse(said[2] ?? '')).toMatchObject({
      read: expect.stringContaining(server.token),
      dial: 'reached',
    });

    const args = ['-y', 'no-such-mcp-server'];
    const transport = { type: 'stdio' as const, command: 'npx', args };
    const { error } = await server.client.mcp.create({ name: 'npx', transport });
    expect(error).toMatch(/has no network, so npx can download nothing: .*"host": true/);
    const missing = { type: 'stdio', command: 'no-such-mcp-server' } as const;
    const changed = await server.client.mcp.change('npx', { transport: missing });
    expect(changed.error).toContain('cannot be run in the image of sandboxes');
    const one = [expect.stringContaining('belay-mcp-contained')];
    await eventually(async () => expect(await programs(server.data)).toEqual(one));
    await server.end();
    await eventually(async () => expect(await programs(server.data)).toEqual([]));
  });
});

/** The names of the containers that run programs. */
async function programs(data: string): Promise<string[]> {
  const filters = { label: [`belay.data=${data}`], name: ['belay-mcp-'] };
  const found = await docker.listContainers({ all: true, filters });
  return found.flatMap(({ Names }) => Names);
}

/** Waits until the tool has written this. */
async function holds(file: string, word: string): Promise<void> {
  const text = () => readFile(file, 'utf8').catch(() => '');
  await until(`${file} holds ${word}`, async () => (await text()) === word, { state: text });
}
