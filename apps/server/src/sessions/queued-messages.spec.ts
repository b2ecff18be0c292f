import type { Event, Problem } from '@belay/protocol';
import { SessionCommands } from '../api/commands/session-commands.js';
import { ownerCaller } from '../access/caller.js';
import { TestServer } from '../testing/server.js';

describe('queued messages', () => {
  let server: TestServer;
  let session: string;
  beforeAll(async () => {
    server = await new TestServer().start();
    session = await server.session();
  });
  afterAll(() => server.close());

  const log = () => server.log.read(session, { after: 0 });
  const last = async (): Promise<Event> => (await log()).at(-1)!;
  const send = async (text: string, more: object = {}): Promise<number> => {
    await server.json('POST', `/api/sessions/${session}/messages`, { text, ...more });
    return (await log()).findLast(({ action }) => action === 'message')!.seq;
  };
  const edit = (message: number, text: string) =>
    server.json<Problem>('PUT', `/api/sessions/${session}/messages/${message}`, { text });
  const withdraw = (message: number) =>
    server.json<Problem>('DELETE', `/api/sessions/${session}/messages/${message}`);
  /** As its agent asks, once it knows all events up to `through`. */
  const deliver = async (messages: number[], through?: number) =>
    server.log.messages.deliver(session, await server.log.epoch(session), {
      messages,
      through: through ?? (await server.log.lastSeq(session)),
    });

  it('are edited and withdrawn by REST and the commands, each as an event', async () => {
    const message = await send('Tidy up');
    expect(await edit(message, 'Tidy the docs')).toMatchObject({ status: 204 });
    expect(await last()).toMatchObject({
      source: 'user',
      action: 'edit',
      args: { message, text: 'Tidy the docs' },
    });
    expect(await withdraw(message)).toMatchObject({ status: 204 });
    expect(await last()).toMatchObject({ action: 'withdraw', args: { message } });
    // Once more changes nothing; its text can no longer be changed.
    expect(await withdraw(message)).toMatchObject({ status: 204 });
    expect((await log()).filter(({ action }) => action === 'withdraw')).toHaveLength(1);
    expect(await edit(message, 'x')).toMatchObject({
      status: 409,
      detail: 'This message was withdrawn: send another one.',
    });

    const other = await send('And the page');
    const signal = AbortSignal.timeout(20_000);
    const command = (name: string, input: object) =>
      server.app
        .get(SessionCommands)
        .call(ownerCaller, { name, input: { session, message: other, ...input }, signal });
    expect(await command('edit', { text: 'And the readme' })).toMatchObject({ id: session });
    expect(await last()).toMatchObject({ action: 'edit', args: { text: 'And the readme' } });
    expect(await command('withdraw', {})).toMatchObject({ id: session });
    expect(await last()).toMatchObject({ action: 'withdraw', args: { message: other } });
  });

  it('stay as they are once the agent has taken them, also after a restart of the server', async () => {
    const message = await send('Tidy up');
    const later = await send('And rest');
    await deliver([message]);
    expect(await last()).toMatchObject({ source: 'server', action: 'deliver' });
    const refused = {
      status: 409,
      code: 'conflict',
      detail: 'This message was taken by the agent: it can no longer be changed, send another one.',
    };
    expect(await edit(message, 'x')).toMatchObject(refused);
    expect(await withdraw(message)).toMatchObject(refused);
    await server.restart();
    expect(await edit(message, 'x')).toMatchObject(refused);
    expect(await withdraw(later)).toMatchObject({ status: 204 });
    // An agent that was killed before its reply takes it again.
    await deliver([message]);
    expect((await log()).filter(({ action }) => action === 'deliver')).toHaveLength(1);
  });

  it('attacks: 13, an agent takes what are messages alone, so it fills no log with numbers', async () => {
    const message = await send('Tidy up');
    const steer = await send('Now', { delivery: 'steer' });
    const before = await server.log.lastSeq(session);
    const others = (await log()).filter(({ action }) => action !== 'message');
    for (const { seq } of others) await deliver([seq]);
    await deliver([steer]);
    expect(await server.log.lastSeq(session)).toBe(before);
    await deliver([1, message, steer]);
    expect(await last()).toMatchObject({ action: 'deliver', args: { messages: [message] } });
    for (const own of [before + 1, message]) await deliver([own]);
    expect(await server.log.lastSeq(session)).toBe(before + 1);
  });

  it('are decided in one order: an agent that knows an older text is told to look again', async () => {
    const message = await send('Tidy up');
    const known = await server.log.lastSeq(session);
    await server.log.messages.edit({ session, message }, 'Tidy the docs');
    await expect(deliver([message], known)).rejects.toMatchObject({ code: 'conflict' });
    await server.log.messages.withdraw({ session, message });
    await expect(deliver([message], known)).rejects.toMatchObject({ code: 'conflict' });

    const other = await send('Tidy up');
    const through = await server.log.lastSeq(session);
    const both = await Promise.allSettled([
      deliver([other], through),
      server.log.messages.withdraw({ session, message: other }),
    ]);
    // One of them, whichever was first; then no other.
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await expect(
      server.log.messages.deliver(session, 0, { messages: [other], through }),
    ).rejects.toMatchObject({ code: 'conflict' });
  });

  it('are refused with a sentence when they are none, were sent at once, or something rests on them', async () => {
    const steer = await send('Now', { delivery: 'steer' });
    expect(await edit(steer, 'x')).toMatchObject({
      status: 409,
      detail: 'This message was sent immediately: it can no longer be changed.',
    });
    const missing = await server.log.lastSeq(session);
    for (const message of [1, missing + 1, 9_007_199_254_740_991])
      expect(await withdraw(message)).toMatchObject({ status: 404, code: 'not_found' });
    for (const message of ['0', 'x', '-1', '1.5']) {
      const path = `/api/sessions/${session}/messages/${message}`;
      expect((await server.json('DELETE', path)).status).toBe(400);
    }
    const queued = await send('Tidy up');
    expect((await edit(queued, '')).status).toBe(400);
    expect((await edit(queued, 'x'.repeat(200_001))).status).toBe(400);
    const asViewer = await server.fetch(`/api/sessions/${session}/messages/${queued}`, {
      method: 'DELETE',
      token: server.viewerToken,
    });
    expect(asViewer.status).toBe(403);
    await asViewer.text();

    const args = { question: 'Which colour?', options: [] };
    await server.sandboxes.says(server.log, session, { action: 'ask', args, id: 'q1' });
    const answer = await send('Blue');
    expect(await withdraw(answer)).toMatchObject({
      status: 409,
      detail: 'This message answers the agent’s question: edit it, or send another one.',
    });
    expect((await edit(answer, 'Green')).status).toBe(204);
    await server.sandboxes.says(server.log, session, {
      action: 'result',
      args: { operation: 'ask', ok: true, output: { answer: 'Green' }, seconds: 0 },
      id: 'q1',
    });
    expect((await withdraw(await send('Then tidy up'))).status).toBe(204);

    await server.sandboxes.finishes(server.log, session, 'Done.');
    const again = await send('One more thing');
    expect(await withdraw(again)).toMatchObject({
      status: 409,
      detail: 'This message has resumed the session: edit it, or stop the session.',
    });
  });
});
