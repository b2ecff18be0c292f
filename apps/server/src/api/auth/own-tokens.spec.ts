import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Documents } from '../../storage/documents.js';
import { lease } from '../../storage/lease.js';
import { TestLogs } from '../../testing/logs.js';
import { OwnTokens } from './own-tokens.js';

/** Only a server that never answers exceeds it, even on a busy machine. */
const respondMs = 300_000;

describe('the tokens of a server', () => {
  let logs: TestLogs;
  const programs: Server[] = [];
  beforeEach(async () => void (logs = await new TestLogs({ fresh: async () => ({}) }).open()));
  afterEach(async () => {
    lease.hold();
    for (const program of programs.splice(0)) {
      program.closeAllConnections();
      program.close();
    }
    await logs.close();
  });

  async function start(): Promise<OwnTokens> {
    const tokens = new OwnTokens(logs.config, await Documents.load(logs.config, logs.database));
    await tokens.onModuleInit();
    tokens.respondMs = respondMs;
    return tokens;
  }
  const saved = (): unknown =>
    JSON.parse(readFileSync(join(logs.config.data, 'server.json'), 'utf8'));

  /** The address of a program that gives this answer to whatever it is asked; null for none. */
  async function answering(answer: object | null): Promise<string> {
    const program = createServer((_, response) => {
      if (answer) response.end(JSON.stringify(answer));
    });
    programs.push(program);
    await once(program.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(program.address() as AddressInfo).port}`;
  }

  it('are in the data folder of one that stands by, with its address', async () => {
    lease.standBy();
    const tokens = await start();
    await tokens.announceStandBy('http://127.0.0.1:4600');
    expect(saved()).toMatchObject({ url: 'http://127.0.0.1:4600', ...tokens.value });
  });

  it('stay with the address of the one that leads, where both have one data folder', async () => {
    const leads = await start();
    leads.onLead();
    const url = await answering({ ok: true });
    leads.announce(url);
    lease.standBy();
    const other = await start();
    await other.announceStandBy('http://127.0.0.1:2');
    expect(saved()).toMatchObject({ url, ...leads.value });
    expect(other.value).toEqual(leads.value);
  });

  it.each([
    ['nothing', undefined],
    ['another program', { name: 'other' }],
  ])(
    'are with the new address of one that stands by where %s is at its former one',
    async (_, answer) => {
      const before = await start();
      before.announce(answer ? await answering(answer) : 'http://127.0.0.1:1');
      lease.standBy();
      const tokens = await start();
      await tokens.announceStandBy('http://127.0.0.1:2');
      expect(saved()).toMatchObject({ url: 'http://127.0.0.1:2', ...tokens.value });
    },
  );

  it('are with the new address of one that stands by where nothing answers in time', async () => {
    const before = await start();
    before.announce(await answering(null));
    lease.standBy();
    const tokens = await start();
    tokens.respondMs = 1;
    await tokens.announceStandBy('http://127.0.0.1:2');
    expect(saved()).toMatchObject({ url: 'http://127.0.0.1:2' });
  });

  it('are current again in the folder of one that begins anew at its address', async () => {
    const before = await start();
    before.announce('http://127.0.0.1:1');
    lease.standBy();
    const tokens = await start();
    await tokens.change({ token: 'x'.repeat(32) });
    before.announce('http://127.0.0.1:1');
    await tokens.announceStandBy('http://127.0.0.1:1');
    expect(saved()).toMatchObject({ token: 'x'.repeat(32) });
  });
});
