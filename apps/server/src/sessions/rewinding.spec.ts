import type { Rewound, SessionSummary } from '@belay/protocol';
import { TestServer } from '../testing/server.js';

const commits = { start: 'a'.repeat(40), first: 'b'.repeat(40), second: 'c'.repeat(40) };

let server: TestServer;
let id: string;
beforeEach(async () => {
  server = await new TestServer().start();
  id = await server.session();
});
afterEach(() => server.close());

const says = (action: string, args: object, call?: string) =>
  server.sandboxes.says(server.log, id, { action, args, ...(call && { id: call }) });
const records = (commit: string, parent: string | null, call?: string) =>
  says('commit', { commit, parent, files: [] }, call);
const actions = async () => (await server.log.read(id, { after: 0 })).map(({ action }) => action);
const rewind = (seq: number, { what = 'both', preview = false } = {}) =>
  server.json<Rewound>('POST', `/api/sessions/${id}/rewind`, { seq, what, preview });
const restored = () =>
  server.sandboxes.agents
    .get(id)
    ?.calls.filter(({ name }) => name === 'operation.call')
    .map(({ input }) => (input as { input: { commit: string } }).input.commit);

/** A write, whose commit follows its result as the agent records it. */
async function writes(call: string, commit: string, parent: string) {
  const called = await says('files.write', { path: 'a', content: call }, call);
  const args = { operation: 'files.write', ok: true, output: {}, seconds: 0 };
  const result = await says('result', args, call);
  await records(commit, parent, call);
  return { called, result };
}

describe('a rewind', () => {
  it('restores files and conversation, after a preview that changes nothing', async () => {
    const seq = await records(commits.start, null);
    await says('say', { text: 'Then this.', calls: [] });
    const files = [{ path: 'a.js', status: 'modified' }];
    server.sandboxes.answer = () => ({ files, commit: null });
    expect(await rewind(seq, { preview: true })).toEqual({ status: 200, files, messages: 1 });
    expect(await actions()).not.toContain('rewind');
    expect(await rewind(seq)).toEqual({ status: 200, files, messages: 1 });
    expect(server.sandboxes.agents.get(id)?.calls.at(-1)?.input).toMatchObject({
      operation: 'workspace.rewind',
      input: { commit: commits.start, preview: false },
    });
    const { state, reason } = await server.json<SessionSummary>('GET', `/api/sessions/${id}`);
    expect([state, reason]).toEqual([
      'stopped',
      `Rewound to event ${seq}: send a message to continue.`,
    ]);
  });

  it('to the result of a write keeps the write, and to its call does not', async () => {
    server.sandboxes.answer = () => ({ files: [], commit: null });
    await records(commits.start, null);
    const one = await writes('one', commits.first, commits.start);
    const two = await writes('two', commits.second, commits.first);
    await rewind(two.result, { preview: true });
    await rewind(one.result, { preview: true });
    await rewind(two.called, { preview: true });
    await rewind(one.called, { preview: true });
    expect(restored()).toEqual([commits.second, commits.first, commits.first, commits.start]);
  });

  it('to the task restores the files that the session began with', async () => {
    server.sandboxes.answer = () => ({ files: [], commit: null });
    await records(commits.start, null);
    await writes('one', commits.first, commits.start);
    await rewind(1, { preview: true });
    expect(restored()).toEqual([commits.start]);
  });

  it('does not count what an earlier rewind has undone', async () => {
    server.sandboxes.answer = () => ({ files: [], commit: null });
    const seq = await says('say', { text: 'One.', calls: [] });
    await says('say', { text: 'Two.', calls: [] });
    expect((await rewind(seq, { what: 'conversation' })).messages).toBe(1);
    expect((await rewind(seq, { what: 'conversation', preview: true })).messages).toBe(0);
  });

  it('of the conversation returns the plan to what it was, and that of the files does not', async () => {
    const planned = async () =>
      (await server.json<SessionSummary>('GET', `/api/sessions/${id}`)).plan;
    const seq = await says('plan', { markdown: '- [x] one\n- [ ] two' });
    await says('plan', { markdown: '- [x] one\n- [x] two\n- [x] three' });
    await rewind(seq, { what: 'files' });
    expect(await planned()).toEqual({ steps: 3, done: 3 });
    await rewind(seq, { what: 'conversation' });
    expect(await planned()).toEqual({ steps: 2, done: 1 });
    await rewind(1, { what: 'conversation' });
    expect(await planned()).toEqual({ steps: 0, done: 0 });
  });

  it('beyond the end of the log is refused', async () => {
    expect(await rewind(9_999)).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/^The log has \d+ events, not 9999\./) as string,
    });
  });
});
