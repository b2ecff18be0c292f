import { newEvent } from '@belay/protocol';
import { Stage, type StageOptions } from '../testing/stage.js';
import { foldConversation } from './conversation-log.js';

describe('queued messages that the user changes', () => {
  let stage: Stage;
  afterEach(() => stage.close());

  const command = { operation: 'terminal.run', input: { command: 'npm test' } };
  const play = (options: StageOptions) => (stage = new Stage(options));

  it('reads a queued message as it was edited last, one that was withdrawn not at all', async () => {
    const running = Promise.withResolvers<void>();
    let asked = 0;
    const edit = (message: number, text: string) =>
      stage.say(newEvent('user', 'edit', { args: { message, text }, message: text }));
    const withdraw = (message: number) =>
      stage.say(newEvent('user', 'withdraw', { args: { message }, message: 'Withdrew' }));
    play({
      turns: [{ calls: [command] }, { text: 'Done with that.' }],
      handlers: { 'terminal.run': async () => (await running.promise, {}) as never },
      // At the last moment: the agent has read its log, and has not been told yet that it may use it.
      onDeliver: async ([first = 0]) => {
        if (asked++ === 0) await edit(first, 'Tidy the tests');
      },
    });
    await stage.event('terminal.run');
    await stage.message('Tidy up');
    await stage.message('Delete everything');
    const [tidy, deletes] = stage.log.filter(({ action }) => action === 'message');
    await edit(tidy!.seq, 'Tidy the docs');
    await withdraw(deletes!.seq);
    running.resolve();
    await stage.event('finish');
    const prompts = JSON.stringify(stage.requests.map(({ messages }) => messages));
    expect(JSON.stringify(stage.requests[2])).toContain('Tidy the tests');
    expect(prompts).not.toMatch(/Tidy up|Tidy the docs|Delete everything/);
    expect(stage.delivered).toEqual([tidy!.seq]);
  });

  it('takes as the answer what was not withdrawn, also at the last moment', async () => {
    play({
      turns: [{ calls: [{ operation: 'ask', input: { question: 'Which colour?' } }] }],
      onDeliver: async ([message = 0]) => {
        const written = stage.log.filter(({ action }) => action === 'withdraw');
        if (written.length > 0) return;
        await stage.say(
          newEvent('user', 'withdraw', { args: { message }, message: 'Withdrew' }),
          newEvent('user', 'message', { args: { text: 'Green' }, message: 'Green' }),
        );
      },
    });
    await stage.event('ask');
    await stage.message('Blue');
    await stage.event('finish');
    expect(stage.results()[0]!.args).toMatchObject({ output: { answer: 'Green' } });
    expect(JSON.stringify(stage.requests)).not.toContain('Blue');
    const refolded = foldConversation(stage.log);
    expect(refolded.waiting).toEqual([]);
  });
});
