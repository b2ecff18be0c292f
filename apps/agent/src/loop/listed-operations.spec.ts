import { actionPermissions, type OperationOutput, type SessionAction } from '@belay/protocol';
import { Stage, type ScriptedReply } from '../testing/stage.js';

const action = (name: string, title: string, description: string): SessionAction => ({
  name,
  title,
  description,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  permissions: actionPermissions.parse({}),
  image: `sha256:${name}`,
});
const filler = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    action(`filler-${index}`, `Filler ${index}`, 'Fills a form of the office with numbers.'),
  );
const translate = action('translate', 'Translate', 'Turns text of one language into another.');

describe('what is listed of the installed actions', () => {
  let stage: Stage;
  const stages: Stage[] = [];
  afterEach(async () => {
    await Promise.all(stages.splice(0).map((one) => one.close()));
  });

  async function play(actions: SessionAction[], turns: ScriptedReply[] = []) {
    stage = new Stage({
      settings: { actions },
      turns,
      action: async () => ({ text: 'Hallo', errors: '', exitCode: 0, seconds: 0 }) as never,
    });
    stages.push(stage);
    await stage.event('finish');
    return stage.requests.map(({ operations }) => operations);
  }
  async function tokens(actions: SessionAction[]): Promise<number> {
    await play(actions);
    const prompt = await stage.call('p1', 'session.prompt', {});
    const { parts } = prompt as OperationOutput<'session.prompt'>;
    return parts.reduce((sum, part) => sum + part.tokens, 0);
  }

  it('is all of a few, and no search', async () => {
    const [first = []] = await play([translate, ...filler(19)]);
    expect(first).toContain('action.translate');
    expect(first).toContain('action.filler-18');
    expect(first).not.toContain('actions.search');
  });

  it('is the search alone of many, and from then on what it found', async () => {
    const requests = await play(
      [...filler(99), translate],
      [
        { calls: [{ operation: 'actions.search', input: { query: 'translation into German' } }] },
        { calls: [{ operation: 'action.translate', input: { text: 'Hello' } }] },
      ],
    );
    const listed = requests.map((names) => names.filter((name) => name.startsWith('action')));
    expect(listed).toEqual(
      [
        ['actions.search'],
        ['action.translate', 'actions.search'],
        ['action.translate', 'actions.search'],
      ].map((names) => expect.arrayContaining(names)),
    );
    expect(listed.map(({ length }) => length)).toEqual([1, 2, 2]);
    const results = stage.log.filter(({ action: name }) => name === 'result');
    expect(results[0]?.args).toMatchObject({
      ok: true,
      output: {
        searched: 100,
        actions: [
          {
            name: 'action_translate',
            description: expect.stringContaining('Turns text of one language'),
            parameters: { properties: { text: { type: 'string' } } },
          },
        ],
      },
    });
    expect(results[1]?.args).toMatchObject({ ok: true, output: { text: 'Hallo' } });
  });

  it('costs a prompt as much for 100 actions as for 21, and little', async () => {
    const [none, some] = [await tokens([]), await tokens(filler(21))];
    expect(await tokens(filler(100))).toBe(some);
    expect(some - none).toBeLessThan(200);
    // A positive control: listed, each would cost.
    expect((await tokens(filler(20))) - none).toBeGreaterThan(4 * (some - none));
  });
});
