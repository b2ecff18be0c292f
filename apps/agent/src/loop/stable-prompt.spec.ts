import { newEvent } from '@belay/protocol';
import { Stage } from '../testing/stage.js';

const usage = newEvent('server', 'usage', {
  args: {
    inputTokens: 90,
    cachedTokens: 0,
    outputTokens: 10,
    dollars: 0.01,
    model: 'scripted:x',
    contextTokens: 90,
    contextWindow: null,
  },
  message: 'used',
});

describe('a prompt over thirty steps', () => {
  let stage: Stage;
  afterEach(() => stage.close());

  it('begins with the bytes of the one before, whatever comes in between', async () => {
    const read = (step: number) => ({
      calls: [{ operation: 'files.read', input: { path: `folder-${step}/a.txt` } }],
    });
    const between: Record<number, () => Promise<unknown>> = {
      4: () => stage.message('Hurry', { delivery: 'next' }),
      8: () => stage.call('p1', 'files.mkdir', { path: 'by-hand' }),
      12: () =>
        stage.say(newEvent('user', 'change', { args: { approvals: 'auto' }, message: 'Auto' })),
      16: () => stage.message('Also this, later'),
    };
    stage = new Stage({
      settings: { trust: true, budgets: { steps: 32 } },
      turns: Array.from({ length: 30 }, (_, index) => async () => {
        await stage.say(usage);
        await between[index]?.();
        return index === 14 || index === 20 ? { text: 'I am lost' } : read(index);
      }),
      handlers: {
        'files.read': async ({ path }) => ({ content: `content of ${path}` }) as never,
        'files.mkdir': async () => ({}) as never,
      },
      guidance: async (paths) =>
        paths
          .filter((path) => /^folder-(10|25)\//.test(path))
          .map((path) => ({ path: path.replace('a.txt', 'AGENTS.md'), text: 'Use tabs.' })),
    });
    await stage.event('finish');
    const prompts = stage.requests.map(({ messages }) => JSON.stringify(messages).slice(0, -1));
    expect(prompts).toHaveLength(31);
    prompts.slice(1).forEach((prompt, index) => {
      expect(prompt.startsWith(`${prompts[index]},`)).toBe(true);
    });
    // What came in between is there.
    for (const text of [
      'Hurry',
      'by-hand',
      'Approvals: auto.',
      'Also this, later',
      'You called no operation',
      'From folder-10/AGENTS.md',
      'From folder-25/AGENTS.md',
      'At most 10 of 32 steps left',
      '2 of 32 steps left',
    ])
      expect(prompts.at(-1)).toContain(text);
  });
});
