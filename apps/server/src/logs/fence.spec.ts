import { newEvent, sessionSettings, type AgentEvent } from '@belay/protocol';
import { Config } from '../config.js';
import { ReplacedCalls } from '../models/wire/replaced-calls.js';
import { LogSpans } from '../telemetry/log-spans.js';
import { TestLogs } from '../testing/logs.js';
import { BlobStore } from './blob-store.js';
import { EventLog } from './event-log.js';
import { LogsModule } from './logs.module.js';
import { openTerminals } from './open-terminals.js';
import type { TerminalFiles } from './terminal-files.js';

/** Two servers that share a database and a data folder, and have a session one after the other. */
describe('of a session that another server has had meanwhile', () => {
  let logs: TestLogs;
  let here: EventLog;
  let there: EventLog;
  beforeEach(async () => {
    logs = await new TestLogs().open({ BELAY_SESSION_MB: '2', BELAY_SESSION_LOG_MB: '1' });
    const config: Config = Object.assign(logs.config, { peerAddress: 'here:1' });
    [here, there] = [new EventLog(logs.store, config), new EventLog(logs.store, config)];
    logs.log = here;
    await logs.session('one');
    await here.nextEpoch('one');
  });
  afterEach(() => logs.close());

  /** It does something there, and comes back. */
  async function meanwhile(work: () => Promise<unknown>, session = 'one'): Promise<void> {
    await here.release(session);
    await there.append(session, []);
    await work();
    await there.release(session);
    await here.append(session, []);
  }
  const thought = (n: number): AgentEvent => ({
    n,
    time: new Date().toISOString(),
    action: 'think',
    args: { thought: 'x'.repeat(600_000) },
    message: 'think',
    id: `call-${n}`,
  });

  it('the size of the log is read anew', async () => {
    await here.appendFromAgent('one', 1, [thought(1)]);
    await meanwhile(() => there.appendFromAgent('one', 1, [thought(2)]));
    const more = here.appendFromAgent('one', 1, [thought(3)]);
    await expect(more).rejects.toMatchObject({ code: 'disk_full' });
  });

  it('the size of its blobs is read anew', async () => {
    const open = (log: EventLog) => {
      const blobs = new BlobStore(logs.config, logs.database, logs.objects);
      new LogsModule(log, blobs);
      return (at: number) => blobs.putOf('one', Buffer.alloc(500_000, at), 'image/jpeg');
    };
    const [putHere, putThere] = [open(here), open(there)];
    await putHere(1);
    await meanwhile(() => putThere(2));
    await expect(putHere(3)).rejects.toMatchObject({ code: 'limit_reached' });
  });

  it('the size of its terminals is read anew', async () => {
    const place = { session: 'one', terminal: 'main' };
    const open = (log: EventLog) =>
      openTerminals(logs.config, logs.database, logs.objects, log) as TerminalFiles;
    const [terminals, others] = [open(here), open(there)];
    const piece = (offset: number) => ({ ...place, offset, kept: Buffer.from('abc'), length: 3 });
    await terminals.append(piece(0));
    expect(await terminals.used('one')).toBe(3);
    await meanwhile(() => others.append(piece(3)));
    expect(await terminals.begin(place)).toBe(6);
    // The budget counts what the other one has written.
    expect(await terminals.used('one')).toBe(6);
    for (const each of [terminals, others]) await each.onApplicationShutdown();
  });

  it('the calls that its programs got something else for are read anew', async () => {
    const calls = new ReplacedCalls(here, logs.store, logs.database);
    const call = { call: 'a', name: 'run', input: '{}', text: '', tool: null, standIn: null };
    const replaced = newEvent('server', 'replaced', {
      args: { format: 'chat', ...call },
      message: 'It got something else.',
      id: 'a',
    });
    expect(await calls.of('one')).toEqual([]);
    await meanwhile(() => there.append('one', [replaced]));
    expect(await calls.of('one')).toMatchObject([{ call: 'a' }]);
  });

  it('its spans are read anew', async () => {
    const follow = async (log: EventLog) => {
      const spans = new LogSpans(log, logs.store, { content: false });
      const found: string[] = [];
      await spans.follow(({ key, error }) => found.push(error === null ? key : `${key} ${error}`));
      return async () => {
        await spans.stop();
        return found;
      };
    };
    const [spansHere, spansThere] = [await follow(here), await follow(there)];
    const settings = sessionSettings.parse({ task: 'Fix', model: 'scripted:a.yaml' });
    const start = (again: boolean) =>
      newEvent('user', 'start', { args: { ...settings, again }, message: 'Start' });
    const state = (to: 'running' | 'finished') =>
      newEvent('server', 'state', { args: { state: to, reason: null }, message: to });
    // It begins here, and ends there.
    await here.create('two', settings, { events: [start(false), state('running')] });
    await meanwhile(() => there.append('two', [state('finished')]), 'two');
    expect(await spansThere()).toEqual(['turn:1']);
    await here.append('two', [start(true), state('running'), state('finished')]);
    expect(await spansHere()).toEqual(['start:1', 'start:5', 'turn:5']);
  });
});
