import type { McpOutput } from '@belay/protocol';
import { until } from '@belay/testing';
import { BlobStore } from '../logs/blob-store.js';
import { ApprovalService } from '../approvals/approval.service.js';
import { Database } from '../storage/database.js';
import { TestServer } from '../testing/server.js';
import { McpCalls } from './mcp-calls.js';
import { overStdio } from './testing/tools-server.js';

describe('a call of an MCP tool', () => {
  const server = new TestServer();
  let ids = 0;
  beforeAll(async () => {
    await server.start();
    await server.json('POST', '/api/mcp', { name: 'tools', transport: overStdio() });
  });
  afterAll(() => server.close());

  /** The agent writes the call into its log. */
  async function logged(session: string, tool: string, args: object = {}): Promise<string> {
    const id = `call-${(ids += 1)}`;
    await server.sandboxes.says(server.log, session, { action: `mcp.tools.${tool}`, args, id });
    return id;
  }
  const run = (session: string, id: string, signal = new AbortController().signal) =>
    server.app.get(McpCalls).run(session, id, signal);
  async function output(tool: string, args: object = {}): Promise<McpOutput> {
    const session = await server.session({ approvals: 'auto' });
    return run(session, await logged(session, tool, args));
  }
  const answer = (session: string, id: string, verdict: string) =>
    server.json('POST', `/api/sessions/${session}/approvals/${id}`, { verdict });

  it('answers text, structured content and pictures, which are kept as blobs', async () => {
    expect(await output('echo', { text: 'hi' })).toEqual({ text: 'you said hi' });
    const structured = { text: 'mild', structuredContent: { degrees: 21 } };
    expect(await output('weather')).toEqual(structured);
    const { text, images = [] } = await output('picture');
    expect(text).toBe('Here it is:');
    const picture = await server.app.get(BlobStore).get(images[0] ?? '');
    expect(picture.type).toBe('image/png');
    expect(picture.bytes.subarray(1, 4).toString()).toBe('PNG');
  });

  it('with a long result shows its ends and keeps the whole', async () => {
    const { text, omittedCharacters, full } = await output('long', { length: 100_000 });
    expect(omittedCharacters).toBe(70_000);
    expect(text).toMatch(/^x{15000}\n… 70000 characters left out …\nx{15000}$/);
    const kept = await server.app.get(BlobStore).get(full ?? '');
    expect(kept.bytes.toString()).toBe('x'.repeat(100_000));
  });

  it('that fails returns the tool’s message', async () => {
    await expect(output('fail')).rejects.toMatchObject({
      code: 'tool_failed',
      message: 'the disk is on fire',
    });
  });

  it('waits for the user with the input that the log has, however it is asked', async () => {
    const session = await server.session({ approvals: 'ask' });
    const id = await logged(session, 'echo', { text: 'hi' });
    const call = run(session, id);
    await server.reaches(session, 'waiting');
    expect((await server.log.summary(session)).waitingFor).toEqual([
      {
        id,
        operation: 'mcp.tools.echo',
        input: { text: 'hi' },
        risk: 'network',
        subject: '{"text":"hi"}',
      },
    ]);
    await answer(session, id, 'approved');
    expect(await call).toEqual({ text: 'you said hi' });
    const rejected = await logged(session, 'echo', { text: 'no' });
    const failure = run(session, rejected).catch((error: unknown) => error);
    await server.reaches(session, 'waiting');
    await answer(session, rejected, 'rejected');
    expect(await failure).toMatchObject({ code: 'rejected' });
  });

  it('is allowed by a remembered rule, for this tool and no other', async () => {
    const session = await server.session({ approvals: 'ask' });
    const rule = { scope: 'session', session, operation: 'mcp.tools.echo', pattern: '*' };
    await server.json('POST', '/api/rules', rule);
    const id = await logged(session, 'echo', { text: 'hi' });
    expect(await run(session, id)).toEqual({ text: 'you said hi' });
    const other = await logged(session, 'picture');
    const asked = run(session, other);
    await server.reaches(session, 'waiting');
    await answer(session, other, 'approved');
    expect(await asked).toMatchObject({ text: 'Here it is:' });
  });

  describe('that a sandbox forges', () => {
    const forbidden = { code: 'forbidden' };

    it('does not run: one that was never logged, a tool it was not given, one logged twice', async () => {
      const session = await server.session({ approvals: 'auto', mcp: [] });
      await expect(run(session, 'never-logged')).rejects.toMatchObject({ code: 'not_found' });
      await expect(run(session, await logged(session, 'echo'))).rejects.toMatchObject(forbidden);
      const given = await server.session({ approvals: 'auto' });
      const twice = { action: 'mcp.tools.echo', args: { text: 'a' }, id: 'twice' };
      await server.sandboxes.says(server.log, given, twice);
      const again = server.sandboxes.says(server.log, given, { ...twice, args: { text: 'b' } });
      await expect(again).rejects.toMatchObject(forbidden);
      expect(await run(given, 'twice')).toEqual({ text: 'you said a' });
    });

    it('gets no approval that was given to something else', async () => {
      const session = await server.session({ approvals: 'ask' });
      const approvals = server.app.get(ApprovalService);
      const signal = new AbortController().signal;
      const harmless = {
        operation: 'terminal.run',
        input: { command: 'ls' },
        risk: 'execute' as const,
        subject: 'ls',
      };
      // Asked first, logged as another call afterwards.
      const early = approvals.request(session, { id: 'early', ...harmless }, signal);
      await server.reaches(session, 'waiting');
      await answer(session, 'early', 'approved');
      await early;
      const call = { action: 'mcp.tools.echo', args: { text: 'a' }, id: 'early' };
      await server.sandboxes.says(server.log, session, call);
      await expect(run(session, 'early')).rejects.toMatchObject(forbidden);
      // Logged first, asked as another call afterwards.
      const late = await logged(session, 'echo', { text: 'a' });
      await expect(
        approvals.request(session, { id: late, ...harmless }, signal),
      ).rejects.toMatchObject(forbidden);
    });
  });

  it('runs once: not before it has its result, nor with it, nor again after the server was started anew', async () => {
    const session = await server.session({ approvals: 'auto' });
    const done = await logged(session, 'echo', { text: 'hi' });
    await run(session, done);
    await expect(run(session, done)).rejects.toMatchObject({ code: 'conflict' });
    const result = { operation: 'mcp.tools.echo', ok: true, output: {}, seconds: 0 };
    await server.sandboxes.says(server.log, session, { action: 'result', args: result, id: done });
    await expect(run(session, done)).rejects.toMatchObject({ code: 'conflict' });
    const begun = await logged(session, 'echo', { text: 'hi' });
    const asking = await server.session({ approvals: 'ask' });
    const waits = await logged(asking, 'echo', { text: 'patient' });
    void run(asking, waits).catch(() => undefined);
    await server.reaches(asking, 'waiting');
    // The clock of the next server may be behind.
    const { kysely } = server.app.get(Database);
    const later = { time: '2999-01-01T00:00:00.000Z' };
    await kysely.updateTable('event').set(later).where('call', '=', begun).execute();
    await server.restart();
    await until('the server', async () => {
      const [tools] = await server.json<{ state: string }[]>('GET', '/api/mcp');
      return tools?.state === 'connected';
    });
    await expect(run(session, begun)).rejects.toThrow('it may have taken effect');
    const call = run(asking, waits);
    await answer(asking, waits, 'approved');
    expect(await call).toEqual({ text: 'you said patient' });
  });
});
