import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '../config.js';
import { Database } from '../storage/database.js';
import { Documents } from '../storage/documents.js';
import { AgentStore } from './agent.store.js';

let data: string;
let database: Database;
let here: AgentStore;
/** Of a server of the same database with another engine. */
let elsewhere: AgentStore;
/** Lets both read what the other one has stored. */
let refresh: () => Promise<void>;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'belay-store-'));
  const config = new Config({ BELAY_DATA: data });
  database = new Database(config);
  const own = await Documents.load(config, database);
  here = new AgentStore(config, own);
  const other = await Documents.load(config, database);
  elsewhere = new AgentStore(new Config({ BELAY_DATA: join(data, 'other') }), other);
  refresh = async () => {
    await own.refresh();
    await other.refresh();
  };
});
afterEach(async () => {
  await database.onApplicationShutdown();
  await rm(data, { recursive: true });
});

const install = (store: AgentStore, version: string) =>
  store.putInstalled({
    name: 'codex',
    version,
    installed: new Date().toISOString(),
    volumes: [{ name: store.volumeName(['codex', version]), libraries: ['glibc'] }],
    retired: false,
  });
const versions = (store: AgentStore) => store.installed.map(({ version }) => version);

describe('the installed agents', () => {
  it('are those of the engine of the server, and servers with other engines change their own', async () => {
    await install(elsewhere, '1.0.0');
    await refresh();
    expect([here.current('codex'), here.names({ retired: true })]).toEqual([undefined, []]);
    await install(here, '1.0.0');
    await install(here, '2.0.0');
    await refresh();
    expect([versions(here), versions(elsewhere)]).toEqual([['1.0.0', '2.0.0'], ['1.0.0']]);
    expect(elsewhere.current('codex')?.version).toBe('1.0.0');
    await here.retire('codex');
    const [first] = here.installed;
    if (first) await here.forget(first);
    await refresh();
    expect([versions(here), versions(elsewhere)]).toEqual([['2.0.0'], ['1.0.0']]);
    expect([here.current('codex'), elsewhere.current('codex')?.retired]).toEqual([
      undefined,
      false,
    ]);
  });

  it('are named, and with them those that only earlier sessions have', async () => {
    await install(here, '1.0.0');
    await here.putCustom('mine', { command: ['mine'], env: {}, protocol: 'acp' });
    expect(here.names({ retired: false })).toEqual(['codex', 'mine']);
    await here.retire('codex');
    expect(here.names({ retired: false })).toEqual(['mine']);
    expect(here.names({ retired: true })).toEqual(['codex', 'mine']);
  });
});
