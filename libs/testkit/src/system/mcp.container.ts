import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isFact } from '@belay/protocol';
import { describeSystem } from '../describe-system.js';
import { start } from '../follow.js';
import { toolsServer } from '../mcp.js';
import { run, script } from '../script.js';

const call = (tool: string, input: Record<string, unknown> = {}) => ({
  operation: `mcp.tools.${tool}`,
  input,
});

describeSystem('tools of an MCP server', (server) => {
  beforeAll(() => server.client.mcp.create(toolsServer));

  it('are asked for like what reaches out, run on the server’s host, and answer the model', async () => {
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
        (event) => isFact(event, 'approval') && event.args.operation === operation,
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
    const results = session.events.filter((event) => isFact(event, 'result'));
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

  it('are not there for a session that wants none, and a stop ends a call that runs', async () => {
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
    await says(file, 'begun');
    await server.client.sessions.stop(slow.id);
    await slow.state('stopped');
    await says(file, 'cancelled');
    slow.close();
  });
});

/** Waits until the tool has written this; the limit is generous, for machines under load. */
async function says(file: string, word: string): Promise<void> {
  const end = Date.now() + 20_000;
  while ((await readFile(file, 'utf8').catch(() => '')) !== word) {
    if (Date.now() > end) throw new Error(`${file} never said ${word}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
