import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { itLong, sampled, until } from '@belay/testing';
import { releaseMemory } from '../../release-memory.js';
import { AcpStage, type AcpStageOptions } from './testing/acp-stage.js';
import { asksAtOnce } from './testing/asks-at-once.js';

let acp: AcpStage;
const begin = (options: AcpStageOptions) => (acp = new AcpStage(options));
afterEach(() => acp.close());

/** How many updates of a flood the program has sent. */
const sent = (): number => {
  const file = join(acp.folder, 'home', 'sent');
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
};
const said = () => acp.events('say').map(({ args }) => String(args['text']));
const texts = (text: string) => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
});

describe('attacks: a program that floods ACP', () => {
  it('waits in its pipe while its events cannot be stored, and loses nothing', async () => {
    const chunk = 'x'.repeat(20_000);
    const times = 400;
    let [appends, most] = [0, 0];
    const stored = () => said().reduce((sum, { length }) => sum + length, 0);
    const ahead = () => sent() * chunk.length - stored();
    begin({
      task: [['flood', times, texts(chunk)]],
      beforeAppend: async () => {
        appends += 1;
        // A slow server: the program has the time to send more before this is stored.
        if (appends > 2)
          await until('the program is ahead', () => sent() === times || ahead() > 150_000);
        most = Math.max(most, ahead());
      },
    });
    await acp.stage.event('end');
    expect(stored()).toBe(times * chunk.length);
    expect(most).toBeLessThan(1_500_000);
  });

  it('shows many small texts in few calls, in order', async () => {
    const times = 5_000;
    begin({
      task: [['flood', times, texts('NUMBER ')]],
    });
    await acp.stage.event('end');
    const all = Array.from({ length: times }, (_, at) => `${at + 1} `).join('');
    expect(all.startsWith(acp.stage.deltas.join(''))).toBe(true);
    expect(acp.stage.deltas.length).toBeLessThan(times);
    expect(said()).toEqual([all.trim()]);
  });

  itLong('writes a text of megabytes in parts that the log keeps', async () => {
    begin({ task: [['flood', 1, texts('LARGE and LARGE.')]] });
    await acp.stage.event('end');
    const large = 'x'.repeat(1_000_000);
    expect(said().join('').replaceAll(' ', '')).toBe(`${large}and${large}.`);
    expect(Math.max(...said().map(({ length }) => length))).toBeLessThan(250_000);
    expect(Math.max(...acp.stage.deltas.map(({ length }) => length))).toBeLessThan(100_001);
  });

  it.each(sampled(1, [50, 500]))(
    'has few of %s requests open at once, and each gets its answer',
    async (count) => {
      const asking = asksAtOnce(count);
      acp = asking.acp;
      await acp.stage.event('end');
      expect(said().at(-1)).toBe(`${count} answers`);
      expect(asking.most()).toBe(32);
    },
  );

  itLong('keeps little of the calls that it reports', async () => {
    const report = {
      sessionUpdate: 'tool_call_update',
      toolCallId: 't-NUMBER',
      kind: 'read',
      title: 'LARGE',
      rawOutput: { output: 'LARGE' },
      content: [{ type: 'content', content: { type: 'text', text: 'LARGE' } }],
      _meta: { other: 'LARGE' },
    };
    releaseMemory();
    const before = process.memoryUsage().heapUsed;
    acp = new AcpStage({ task: [['flood', 100, report], ['text', 'Now.'], ['wait']] });
    await until('all is read', () => acp.stage.deltas.includes('Now.'));
    releaseMemory();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200_000_000);
    await acp.stage.say({ source: 'user', action: 'stop', args: {}, message: 'Stop.' });
    await acp.ended();
    const [{ args } = { args: {} }] = acp.events('result');
    expect(args).toMatchObject({ ok: false });
  });
});
