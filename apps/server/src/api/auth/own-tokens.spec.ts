import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Documents } from '../../storage/documents.js';
import { lease } from '../../storage/lease.js';
import { TestLogs } from '../../testing/logs.js';
import { OwnTokens } from './own-tokens.js';

describe('the tokens of a server', () => {
  let logs: TestLogs;
  beforeEach(async () => void (logs = await new TestLogs({ fresh: async () => ({}) }).open()));
  afterEach(async () => {
    lease.hold();
    await logs.close();
  });

  async function start(): Promise<OwnTokens> {
    const tokens = new OwnTokens(logs.config, await Documents.load(logs.config, logs.database));
    await tokens.onModuleInit();
    return tokens;
  }
  const saved = (): unknown =>
    JSON.parse(readFileSync(join(logs.config.data, 'server.json'), 'utf8'));

  it('are in the data folder of one that stands by, with its address', async () => {
    lease.standBy();
    const tokens = await start();
    tokens.announceStandBy('http://127.0.0.1:4600');
    expect(saved()).toMatchObject({ url: 'http://127.0.0.1:4600', ...tokens.value });
  });

  it('stay with the address of the one that leads, where both have one data folder', async () => {
    const leads = await start();
    leads.onLead();
    leads.announce('http://127.0.0.1:1');
    lease.standBy();
    const other = await start();
    other.announceStandBy('http://127.0.0.1:2');
    expect(saved()).toMatchObject({ url: 'http://127.0.0.1:1', ...leads.value });
    expect(other.value).toEqual(leads.value);
  });

  it('are current again in the folder of one that begins anew at its address', async () => {
    const before = await start();
    before.announce('http://127.0.0.1:1');
    lease.standBy();
    const tokens = await start();
    await tokens.change({ token: 'x'.repeat(32) });
    before.announce('http://127.0.0.1:1');
    tokens.announceStandBy('http://127.0.0.1:1');
    expect(saved()).toMatchObject({ token: 'x'.repeat(32) });
  });
});
