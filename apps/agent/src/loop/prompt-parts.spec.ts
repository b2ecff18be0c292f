import { parseOutput } from '@belay/protocol';
import { Stage } from '../testing/stage.js';

const tool = {
  server: 'docs',
  name: 'find',
  description: 'Finds pages.',
  inputSchema: { type: 'object', properties: { words: { type: 'string' } } },
} as const;

describe('the prompt in parts', () => {
  let stage: Stage;
  afterEach(() => stage.close());
  const parts = async () => {
    const output = parseOutput('session.prompt', await stage.call('p1', 'session.prompt', {}));
    const named = (kind: string, name?: string) =>
      output.parts.filter((part) => part.kind === kind && (name ?? part.name) === part.name);
    return { ...output, named };
  };

  it('has what the next call of the model sends: sections, guidance, tools and messages', async () => {
    stage = new Stage({
      settings: { trust: true, mcp: [tool] },
      turns: [{ text: 'Done?', calls: [{ operation: 'ask', input: { question: 'Which?' } }] }],
      guidance: async (_, known) =>
        known.size > 0 ? [] : [{ path: 'AGENTS.md', text: 'Use tabs.' }],
    });
    await stage.event('ask');
    const { named, tokens, parts: all } = await parts();
    expect(named('system').map(({ name }) => name)).toEqual([
      'Instructions',
      'The sandbox',
      'This session',
    ]);
    expect(named('guidance')).toMatchObject([{ text: expect.stringContaining('Use tabs.') }]);
    expect(named('tool', 'files_read')).toMatchObject([{ tokens: expect.any(Number) }]);
    expect(named('tool', 'mcp_docs_find')[0]?.text).toContain('"words"');
    expect(named('tool', 'workspace_log')).toEqual([]);
    expect(named('history').map(({ name, text }) => [name, text.split('\n')[0]])).toEqual([
      ['user', 'Do it'],
      ['assistant', 'Done?'],
      ['tool', expect.stringContaining('not run')],
    ]);
    expect(tokens).toBe(all.reduce((sum, part) => sum + part.tokens, 0));
    // Looking changes nothing.
    expect(stage.log.some(({ action }) => action === 'session.prompt')).toBe(false);
  });

  it('costs no more than 5,000 tokens besides sandbox and guidance', async () => {
    stage = new Stage({ turns: [{ calls: [{ operation: 'ask', input: { question: '?' } }] }] });
    await stage.event('ask');
    const { named } = await parts();
    const fixed = [
      ...named('system').filter(({ name }) => name !== 'The sandbox'),
      ...named('tool'),
    ];
    expect(fixed.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThan(5_000);
  });

  it('is bounded, and works after the end', async () => {
    stage = new Stage({
      settings: { budgets: { steps: null } },
      turns: Array.from({ length: 300 }, (_, index) => ({
        text: index === 299 ? 'x'.repeat(1_000_000) : '',
        calls: [{ operation: 'files.read', input: { path: String(index) } }],
      })),
      handlers: { 'files.read': async ({ path }) => ({ content: path }) as never },
    });
    await stage.event('finish');
    const { named } = await parts();
    expect(named('history')).toHaveLength(501);
    expect(named('history', 'older')[0]?.text).toBe('103 older messages, which the log has.');
    const long = named('history', 'assistant').find(({ tokens }) => tokens > 200_000);
    expect(long?.text.length).toBeLessThan(101_000);
  });
});
