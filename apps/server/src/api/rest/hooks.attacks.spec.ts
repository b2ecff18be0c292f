import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { automationDefinition } from '@belay/protocol';
import { ownerCaller } from '../../access/caller.js';
import { AutomationsStore } from '../../automations/definitions/automations.store.js';
import { ForgeSources } from '../../automations/forges/forge-sources.js';
import { Deliveries } from '../../automations/triggers/deliveries.js';
import {
  forgejoHook,
  giteaPayloads,
  githubHook,
  githubPayloads,
  gitlabHook,
  gitlabPayloads,
  payloadSecret,
  type SentWebhook,
} from '../../automations/triggers/testing/webhook-payloads.js';
import { Webhooks } from '../../automations/triggers/webhooks/webhooks.js';
import { Database } from '../../storage/database.js';
import { TestServer } from '../../testing/server.js';

const kinds = { github: 'github.acme.dev', gitlab: 'gitlab.acme.dev', gitea: 'git.acme.dev' };
type Kind = keyof typeof kinds;

describe('attacks: what begins runs from outside', () => {
  const server = new TestServer();
  const sources = {} as Record<Kind | 'other', string>;
  beforeAll(async () => {
    await server.start({ BELAY_REQUESTS_PER_SECOND: '0' });
    for (const [kind, host] of Object.entries(kinds)) {
      await server.json('PUT', `/api/git/hosts/${host}`, { kind });
      sources[kind as Kind] = await source(host, 'acme/api');
    }
    sources.other = await source(kinds.github, 'acme/other');
    jest
      .spyOn(server.app.get(ForgeSources), 'secretOf')
      .mockImplementation((id) =>
        Promise.resolve(id === sources.other ? 'another-secret' : payloadSecret),
      );
  });
  afterAll(() => server.close());

  const database = () => server.app.get(Database).kysely;
  async function source(host: string, repository: string): Promise<string> {
    const id = randomUUID();
    await database()
      .insertInto('forge_source')
      .values({
        id,
        host,
        repository,
        repository_id: '17',
        default_branch: 'main',
        self_id: '99',
        self_name: 'belay',
        hook_id: null,
        files_by: null,
        files_commit: null,
        problem: null,
        created: new Date().toISOString(),
      })
      .execute();
    return id;
  }
  const send = async (id: string, { headers, body }: SentWebhook) => {
    const answer = await server.fetch(`/hooks/git/${id}`, {
      method: 'POST',
      token: '',
      headers,
      body,
    });
    return { status: answer.status, text: await answer.text() };
  };
  const rows = async (id: string) => {
    await server.app.get(Deliveries).drained();
    return database()
      .selectFrom('automation_delivery')
      .selectAll()
      .where('source', '=', id)
      .orderBy('id')
      .execute();
  };

  it.each([
    ['github', githubHook('issues', githubPayloads.opened)],
    ['gitlab', gitlabHook('Issue Hook', gitlabPayloads.opened, { time: new Date() })],
    ['gitea', forgejoHook('issues', giteaPayloads.opened)],
  ] as const)('an honest webhook of %s is stored, and then answered', async (kind, hook) => {
    const id = sources[kind];
    const { status, text } = await send(id, hook);
    const [first] = await rows(id);
    expect({ status, text: JSON.parse(text) as unknown }).toEqual({
      status: 202,
      text: { delivery: first?.id },
    });
    expect(first).toMatchObject({ transport: 'webhook', event_key: 'issue:12:opened' });
    const before = (await rows(id)).length;
    // Sent again, it is known.
    expect((await send(id, hook)).status).toBe(202);
    expect(await rows(id)).toHaveLength(before);
  });

  it('a test of the webhook is answered, and not stored', async () => {
    const before = await rows(sources.github);
    const answer = await send(sources.github, githubHook('ping', githubPayloads.ping));
    expect(answer).toEqual({ status: 200, text: '{"delivery":null}' });
    expect(await rows(sources.github)).toEqual(before);
  });

  it('nothing tells an unknown source from a wrong or missing signature', async () => {
    const hook = githubHook('issues', githubPayloads.opened, { id: 'forged' });
    const { 'x-hub-signature-256': _, ...unsigned } = hook.headers;
    const forged = [
      await send('no-such-source', hook),
      await send(sources.github, { ...hook, headers: unsigned }),
      await send('no-such-source', { ...hook, headers: unsigned }),
      await send(sources.github, githubHook('issues', githubPayloads.opened, { secret: 'x' })),
      await send(sources.other, hook),
      await send(sources.gitea, hook),
      await send(sources.gitlab, hook),
      await send(sources.github, { ...hook, body: `${hook.body} ` }),
    ];
    expect(new Set(forged.map(({ text }) => text)).size).toBe(1);
    expect(new Set(forged.map(({ status }) => status))).toEqual(new Set([401]));
    for (const id of Object.values(sources))
      expect((await rows(id)).map(({ delivery }) => delivery)).not.toContain('forged');
    const { entries } = await server.json<{ entries: { action: string; outcome: string }[] }>(
      'GET',
      '/api/audit',
    );
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'hooks.git', outcome: 'unauthorized' }),
    );
  });

  it('one of another repository is refused, with a row that says so', async () => {
    const repository = { ...githubPayloads.opened.repository, id: 18 };
    const payload = { ...githubPayloads.opened, repository };
    await send(sources.github, githubHook('issues', payload, { id: 'foreign' }));
    const row = (await rows(sources.github)).find(({ delivery }) => delivery === 'foreign');
    expect(row).toMatchObject({
      state: 'refused',
      why: 'It is about another repository than the one that is followed.',
    });
  });

  describe('one that is too large', () => {
    const halfSent = (to: string, headers: Record<string, string>, bytes: number) =>
      new Promise<number>((resolve, reject) => {
        const open = request(`${server.url}/hooks/git/${to}`, {
          method: 'POST',
          headers: { 'x-hub-signature-256': 'sha256=00', ...headers },
        });
        open.on('response', (response) => {
          resolve(response.statusCode ?? 0);
          open.destroy();
        });
        open.on('error', reject);
        open.write(Buffer.alloc(bytes, ' '));
      });
    const minute = () => Math.floor(Date.now() / 60_000);
    const tenMegabytes = { 'content-length': `${10 * 2 ** 20}` };
    const chunked = { 'transfer-encoding': 'chunked' };
    let noted: jest.SpiedFunction<Webhooks['noteTooLarge']>;
    beforeAll(() => {
      noted = jest.spyOn(server.app.get(Webhooks), 'noteTooLarge');
    });
    /** The rows, once nothing is being noted. */
    const notes = async (id: string) => {
      await Promise.all(noted.mock.results.map(({ value }) => value as Promise<void>));
      return database()
        .selectFrom('automation_delivery')
        .select(['state', 'event', 'why', 'body_sha256'])
        .where('source', '=', id)
        .where('delivery', 'like', 'too-large%')
        .execute();
    };
    const note = (size: string) => ({
      state: 'refused',
      event: 'unknown',
      why: `A webhook of ${size} was refused unread, and who sent it is unknown: at most 8 MB are read.`,
      body_sha256: null,
    });

    it('is refused by its stated length, with a row that says so', async () => {
      const id = await source(kinds.github, 'acme/large');
      expect(await halfSent(id, tenMegabytes, 10)).toBe(413);
      expect(await notes(id)).toEqual([note('10 MB')]);
    });

    it('is refused while it arrives, with a row that says so', async () => {
      const id = await source(kinds.github, 'acme/endless');
      expect(await halfSent(id, chunked, 8 * 2 ** 20 + 1)).toBe(413);
      expect(await notes(id)).toEqual([note('more than 8 MB')]);
    });

    it('leaves at most one row for each minute, and none without a source or a signature', async () => {
      const id = await source(kinds.github, 'acme/flood');
      const all = async () =>
        database().selectFrom('automation_delivery').select('source').execute();
      const receive = jest.spyOn(server.app.get(Deliveries), 'receive');
      const begun = minute();
      const flood = Array.from({ length: 100 }, (_, n) =>
        halfSent(id, { ...tenMegabytes, 'x-github-delivery': `flood-${n}` }, 10),
      );
      expect(new Set(await Promise.all(flood))).toEqual(new Set([413]));
      const stored = await notes(id);
      expect(stored.length).toBeGreaterThan(0);
      const before = await all();
      expect(await halfSent('no-such-source', tenMegabytes, 10)).toBe(413);
      expect(await halfSent(id, { ...tenMegabytes, 'x-hub-signature-256': '' }, 10)).toBe(401);
      expect(await notes(id)).toEqual(stored);
      expect(await all()).toEqual(before);
      const minutes = minute() - begun + 1;
      expect(stored.length).toBeLessThanOrEqual(minutes);
      expect(receive.mock.calls.length).toBeLessThanOrEqual(minutes);
    });
  });

  it('an honest one may come in pieces, with a key of its own', async () => {
    const hook = gitlabHook('Push Hook', gitlabPayloads.push);
    const status = await new Promise<number>((resolve, reject) => {
      const open = request(`${server.url}/hooks/git/${sources.gitlab}`, {
        method: 'POST',
        headers: { ...hook.headers, 'transfer-encoding': 'chunked' },
      });
      open.on('response', (response) => resolve(response.statusCode ?? 0));
      open.on('error', reject);
      open.write(hook.body.slice(0, 10));
      open.end(hook.body.slice(10));
    });
    expect(status).toBe(202);
  });

  describe('an address of an automation', () => {
    let id: string;
    let hand: string;
    let secret: string;
    let handSecret: string;
    beforeAll(async () => {
      const store = server.app.get(AutomationsStore);
      const save = async (name: string, on: object) => {
        const run = { task: 'Fix', budgets: { dollars: 1 } };
        const definition = automationDefinition.parse({ name, on, run });
        const saved = await store.save(definition, { by: ownerCaller });
        return { id: saved.id, secret: await store.setSecret(saved.id) };
      };
      ({ id, secret } = await save('alert', { url: true, key: 'alert.id' }));
      ({ id: hand, secret: handSecret } = await save('by-hand', { hand: true }));
    });

    const call = async (
      to: string,
      body: string,
      headers: Record<string, string> = { authorization: `Bearer ${secret}` },
    ) => {
      const answer = await server.fetch(`/hooks/run/${to}`, {
        method: 'POST',
        token: '',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      });
      return { status: answer.status, text: await answer.text() };
    };
    const alert = (key: unknown) => JSON.stringify({ alert: { id: key }, severity: 'high' });

    it('takes an object with its secret, once for each key', async () => {
      const first = await call(id, alert(1));
      expect(first.status).toBe(202);
      expect(await call(id, alert(1))).toEqual(first);
      expect((await call(id, alert(2))).status).toBe(202);
      const authorization = `Bearer ${secret}`;
      const again = { authorization, 'idempotency-key': 'one' };
      expect((await call(id, alert(3), again)).text).toBe((await call(id, alert(4), again)).text);
      const stored = await rows(id);
      expect(stored).toHaveLength(3);
      expect(JSON.parse(stored[0]?.occurrence ?? '')).toMatchObject({
        event: 'url',
        payload: alert(1),
      });
    });

    it('gives one answer to every wrong secret', async () => {
      const wrong = [
        await call(id, alert(9), {}),
        await call(id, alert(9), { authorization: `Bearer bhk_${'x'.repeat(43)}` }),
        await call(id, alert(9), { authorization: `Bearer ${handSecret}` }),
        await call(id, alert(9), { authorization: `Bearer ${server.token}` }),
        await call('no-such-automation', alert(9)),
        await call(hand, alert(9), { authorization: `Bearer ${handSecret}` }),
      ];
      expect(new Set(wrong.map(({ text }) => text)).size).toBe(1);
      expect(wrong[0]?.status).toBe(401);
      expect(await rows(id)).toHaveLength(3);
    });

    it.each([
      ['a list', '[1]', 400],
      ['no JSON', 'x', 400],
      ['no key', '{"a":1}', 400],
      ['an inherited key', '{"alert":{"__proto__":{"id":1}}}', 400],
      ['nesting', `${'['.repeat(100)}`, 400],
      ['too much', JSON.stringify({ alert: { id: 1 }, x: 'x'.repeat(65_536) }), 413],
    ])('refuses %s in a sentence', async (_, body, status) => {
      const answer = await call(id, body);
      expect(answer.status).toBe(status);
      expect(await rows(id)).toHaveLength(3);
    });
  });
});
