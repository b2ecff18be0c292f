import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BelayServer, containerOf, start, type Followed } from '@belay/testkit';
import { ProviderServer, streaming } from '../../apps/server/src/models/testing/provider-server.js';
import { chatCompletions } from '../../apps/server/src/models/testing/provider-wires.js';

const script = readFileSync(join(__dirname, 'gateway.mjs'), 'utf8');
/** What the model says to its session’s own agent, so that it leaves the sandbox alone. */
const question = { id: 'a1', name: 'ask', input: '{"question":"Done?"}' };
const key = `sk-hidden-${randomBytes(12).toString('hex')}`;

describe('attacks: the model gateway in a sandbox', () => {
  let provider: ProviderServer;
  let server: BelayServer;
  beforeAll(async () => {
    provider = await ProviderServer.open();
    const environment = chatCompletions.environment(provider.url);
    server = new BelayServer({ ...environment, OPENAI_COMPATIBLE_API_KEY: key });
    await server.start();
  });
  afterAll(async () => {
    await server?.dispose();
    await provider?.close();
  });

  const says = (reply: object) => streaming(chatCompletions.reply(reply));
  const open = async (budgets = {}): Promise<Followed> => {
    provider.answer(says({ calls: [question] }));
    const { model } = chatCompletions;
    const session = await start(server, { task: 'Wait', model, modelForPrograms: true, budgets });
    await session.state('waiting');
    return session;
  };
  const run = async ({ id }: Followed, command: string): Promise<string> => {
    const { sessions } = server.client;
    return (await sessions.call(id, 'terminal.run', { command, wait: 120 })).text.trim();
  };
  const tokenOf = (session: Followed) => run(session, 'echo $OPENAI_API_KEY');
  /** What processes and files have, as a user of the container may read it: its programs’ (1000), or the agent’s (0). */
  const found = async ({ id }: Followed, user: '0' | '1000', what: string): Promise<number> => {
    const processes = `cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'`;
    const files = `grep -rlaE -e '${what}' / --exclude-dir=proc --exclude-dir=sys 2>/dev/null`;
    const Cmd = ['sh', '-c', `(${processes} | grep -aE -e '${what}'; ${files}) | wc -l`];
    const container = await containerOf(id);
    const exec = await container.exec({ User: user, Cmd, AttachStdout: true, Tty: true });
    return Number(await text(await exec.start({ Tty: true })));
  };

  it('gives no key away, and takes only its own token and plain requests', async () => {
    const [session, other] = [await open(), await open()];
    const stolen = await tokenOf(other);
    const own = await tokenOf(session);
    expect(own).not.toBe(stolen);
    provider.answer(...Array.from({ length: 4 }, () => says({ text: 'Yes.' })));
    provider.requests.length = 0;
    await server.client.sessions.call(session.id, 'files.write', {
      path: 'gateway.mjs',
      content: script,
    });
    const command = `/opt/belay/node gateway.mjs ${provider.url} ${stolen}`;
    const attacked = (await run(session, command)).split('\n');
    const outcomes = Object.fromEntries(
      attacked.map((line) => [line.slice(0, line.lastIndexOf(' ')), line.split(' ').at(-1)]),
    );
    const served = ['honest', 'overriding headers', 'beside halves', 'at the end'];
    const unlike = attacked.filter((line) => {
      const name = line.slice(0, line.lastIndexOf(' '));
      return served.includes(name) !== (outcomes[name] === '200');
    });
    expect(unlike).toEqual([]);
    expect(outcomes).toMatchObject({ 'another token': '401', 'huge body': '413', bomb: '413' });
    expect(Object.values(outcomes)).not.toContain('503');
    expect(provider.requests).toHaveLength(served.length);
    // Nothing else has reached the provider, and everything that has is as the server wrote it.
    for (const { path, headers } of provider.requests) {
      expect(path).toBe('/v1/chat/completions');
      expect(headers.authorization).toBe(`Bearer ${key}`);
      expect(headers.host).toBe(new URL(provider.url).host);
      expect(JSON.stringify(headers)).not.toMatch(/evil|sk-own|YQ==/);
    }
    // The other session has spent nothing.
    expect((await server.client.sessions.get(other.id)).steps).toBe(1);
    expect(await run(other, 'echo alive')).toBe('alive');

    // The patterns do not match themselves. The control: the token is found.
    for (const user of ['0', '1000'] as const)
      expect(await found(session, user, 'sk-hid[d]en')).toBe(0);
    const ownPattern = `${own.slice(0, 10)}[${own[10]}]`;
    expect(await found(session, '1000', ownPattern)).toBeGreaterThan(0);
    session.close();
    other.close();
  });

  it('never spends more than one call above a budget, however many come at once', async () => {
    const before = 129;
    const limit = before + 200;
    const session = await open({ tokens: limit });
    provider.requests.length = 0;
    const usage = { input: 25, output: 10 };
    provider.answer(...Array.from({ length: 20 }, () => says({ text: 'Yes.', usage })));
    const body = JSON.stringify({
      model: 'local',
      stream: true,
      max_tokens: 10,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const ask = `curl -s -H "authorization: Bearer $OPENAI_API_KEY" -d '${body}' $OPENAI_BASE_URL/chat/completions`;
    await run(session, `for n in $(seq 20); do ${ask} & done; wait`);
    await session.state('limited');
    const { tokens, openRequests } = await server.client.sessions.get(session.id);
    expect(openRequests).toBe(0);
    expect(tokens).toBeGreaterThanOrEqual(limit);
    expect(tokens).toBeLessThan(limit + 35);
    expect(provider.requests).toHaveLength((tokens - before) / 35);
    session.close();
  });
});
