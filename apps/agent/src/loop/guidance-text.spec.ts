import { AppError } from '@belay/protocol';
import { lastText, Stage, type ScriptedReply } from '../testing/stage.js';

const opening = { path: 'AGENTS.md', text: 'Use tabs.' };
const nested = { path: 'src/AGENTS.md', text: 'Test with npm test.' };
const skill = { path: '.agents/skills/release/SKILL.md', text: 'release: how to publish' };

describe('guidance that is found during the work', () => {
  let stage: Stage;
  afterEach(() => stage.close());
  const play = (turns: ScriptedReply[]) => {
    stage = new Stage({
      settings: { trust: true },
      turns,
      handlers: { 'files.read': async () => ({}) as never },
      guidance: async (paths, known) =>
        paths.length === 0 ? [opening] : [nested, skill].filter(({ path }) => !known.has(path)),
    });
  };
  const read = (_: unknown, index: number) => ({
    calls: [{ operation: 'files.read', input: { path: 'src/a', from: index + 1 } }],
  });

  it('comes at the end of the prompt, and leaves its beginning as it was', async () => {
    play([read(null, 0), read(null, 1)]);
    await stage.event('finish');
    const [first, second, third] = stage.requests.map(({ messages }) => messages);
    expect(first?.[0]).toMatchObject({ text: expect.stringContaining('Use tabs.') as string });
    expect(second?.slice(0, first?.length)).toEqual(first);
    expect(third?.slice(0, second?.length)).toEqual(second);
    expect(lastText(second ?? [])).toMatch(
      /^More guidance of this workspace[^]*release: how to publish[^]*src\/AGENTS.md[^]*npm test/,
    );
    expect(lastText(third ?? [])).not.toContain('npm test');
  });

  it('is kept word for word when the conversation is shortened', async () => {
    const reads = Array.from({ length: 12 }, read);
    const overflow = new AppError('context_overflow', 'Too long.');
    play([...reads, overflow, { text: 'Summary of it.', calls: [] }]);
    await stage.event('finish');
    const shortened = stage.requests.at(-1)?.messages ?? [];
    expect(stage.log.map(({ action }) => action)).toContain('compact');
    expect(JSON.stringify(shortened)).toContain('Test with npm test.');
  });
});
