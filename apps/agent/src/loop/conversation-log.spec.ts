import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newEvent, type Event } from '@belay/protocol';
import { Stage, type ScriptedReply } from '../testing/stage.js';
import { ConversationLog, foldConversation } from './conversation-log.js';
import { anyLog, shuffled } from './testing/any-log.js';
import { describeGrowingLogs, expectEqualAfterEach } from './testing/describe-growing-log.js';

const cassette = join(__dirname, '../../../../e2e/system/forty-steps/cassette.jsonl');
const usage = { inputTokens: 900, cachedTokens: 0, outputTokens: 10, dollars: null };

describeGrowingLogs([1, 2, 3, 4, 5]);

describe('the conversation of a growing log', () => {
  it('equals a fold of the whole log after every event of a session', async () => {
    const turns: ScriptedReply[] = readFileSync(cassette, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line) as { reply: { text: string; calls: [] } })
      .map(({ reply: { text, calls } }) => ({ text, calls }));
    turns.splice(12, 0, { text: 'Nothing to call.' }, async () => {
      await stage.message('Mind the tabs', { delivery: 'steer', pinned: true });
      await stage.call('user-1', 'files.write', { path: 'a', content: 'b' });
      return { calls: [{ operation: 'files.read', input: { path: 'a' } }], usage };
    });
    turns.splice(14, 0, { calls: [{ operation: 'ask', input: { question: 'Which?' } }] });
    const handler = async () => ({ content: 'x'.repeat(3_000), status: 'exited' }) as never;
    const stage = new Stage({
      turns,
      handlers: {
        'terminal.run': handler,
        'files.list': handler,
        'files.read': handler,
        'files.write': handler,
        'files.edit': handler,
        'files.patch': handler,
        'files.search': handler,
        'files.replace-text': handler,
      },
    });
    await stage.event('ask');
    await stage.message('The second');
    await stage.event('finish');
    const log = [...stage.log];
    await stage.close();
    const replies = log.filter(({ action }) => action === 'say').length;
    expect(replies).toBeGreaterThanOrEqual(40);
    const after = (action: 'rewind' | 'restore', args: object): Event => ({
      ...newEvent('user', action, { args: args as never, message: action }),
      seq: log.length + 1,
      time: '',
    });
    log.push(after('rewind', { seq: 60, what: 'both' }));
    log.push(after('restore', { seq: log.length }));
    expect(expectEqualAfterEach(log)).toBeGreaterThan(120);
    for (let seed = 1; seed <= 3; seed++) expectEqualAfterEach(shuffled(log, seed));
  });

  it('shows the effect of one more event, and stays as it is', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const events = anyLog(seed, 40);
      const log = new ConversationLog();
      for (const event of events) log.append(event);
      const before = structuredClone(log.conversation);
      const args = { operation: 'files.read', ok: true, output: 'x', seconds: 0 };
      const id = events.findLast(({ action }) => action === 'files.read')?.id ?? 'none';
      const next = {
        ...newEvent('agent', 'result', { args, message: 'result', id }),
        time: '',
        seq: Number.MAX_SAFE_INTEGER,
      };
      expect(log.with(next)).toEqual(foldConversation([...events, next]));
      expect(log.conversation).toEqual(before);
    }
  });
});
