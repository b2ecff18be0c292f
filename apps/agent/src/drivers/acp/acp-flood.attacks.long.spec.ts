import { until } from '@belay/testing';
import { releaseMemory } from '../../release-memory.js';
import { AcpStage } from './testing/acp-stage.js';
import { asksAtOnce } from './testing/asks-at-once.js';

let acp: AcpStage;
afterEach(() => acp.close());

const said = () => acp.events('say').map(({ args }) => String(args['text']));

describe('attacks: a program that floods ACP', () => {
  it('has few of 500 requests open at once, and each gets its answer', async () => {
    const asking = asksAtOnce(500);
    acp = asking.acp;
    await acp.stage.event('end');
    expect(said().at(-1)).toBe('500 answers');
    expect(asking.most()).toBe(32);
  });

  it('keeps little of the calls that it reports', async () => {
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
