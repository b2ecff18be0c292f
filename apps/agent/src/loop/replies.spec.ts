import { AppError, newEvent } from '@belay/protocol';
import { lastText, Stage, type StageOptions } from '../testing/stage.js';
import { foldConversation } from './conversation-log.js';

const read = { operation: 'files.read', input: { path: 'a.txt' } };
const write = { operation: 'files.write', input: { path: 'a.txt', content: 'x' } };

describe('what the loop does about replies', () => {
  let stage: Stage;
  const play = (options: StageOptions) => (stage = new Stage(options));
  afterEach(() => stage.close());

  it('reports to the model that its reply was cut, not that it called nothing', async () => {
    play({ turns: [{ text: 'Once upon', finish: 'length' }] });
    await stage.event('finish');
    expect(stage.log.find((event) => event.action === 'say')?.args).toMatchObject({ cut: true });
    expect(stage.requests[1]?.messages.at(-1)).toMatchObject({
      text: expect.stringMatching(/^Your reply reached its length limit/),
    });
  });

  it('reminds once after a text without calls; the next one is the answer, and a message goes on', async () => {
    play({ turns: [{ text: 'Hm.' }, { text: 'It is blue.' }] });
    expect((await stage.event('end')).args).toEqual({ text: 'It is blue.' });
    expect(stage.log.some(({ action }) => action === 'ask')).toBe(false);
    expect(lastText(stage.requests[1]!.messages)).toMatch(/called no operation/);
    await stage.message('Now paint it');
    await stage.event('finish');
    expect(
      stage.requests[2]!.messages.slice(2)
        .map((message) => message.role)
        .join(' '),
    ).toBe('assistant user assistant user');
    expect(lastText(stage.requests[2]!.messages)).toBe('Now paint it');
  });

  it('breaks off a reply for an immediate message, and asks again with it', async () => {
    const begun = Promise.withResolvers<void>();
    const broken = Promise.withResolvers<void>();
    play({
      turns: [
        (_, signal) => {
          signal.addEventListener('abort', () => broken.resolve());
          begun.resolve();
          return new Promise(() => {});
        },
        { calls: [read] },
      ],
      handlers: { 'files.read': async () => ({}) as never },
    });
    await begun.promise;
    await stage.message('Only read', { delivery: 'steer' });
    await broken.promise;
    await stage.event('finish');
    expect(lastText(stage.requests[1]!.messages)).toBe('Only read');
    expect(stage.results()[0]).toMatchObject({ args: { operation: 'files.read', ok: true } });
  });

  it('runs what was written when a message arrives that is to come with the next results', async () => {
    play({
      turns: [
        async () => {
          await stage.message('By the way: tests, too', { delivery: 'next' });
          return { calls: [read, write] };
        },
      ],
      handlers: {
        'files.read': async () => ({}) as never,
        'files.write': async () => ({}) as never,
      },
    });
    await stage.event('finish');
    expect(stage.results().slice(0, 2)).toMatchObject([
      { args: { ok: true } },
      { args: { ok: true } },
    ]);
    expect(lastText(stage.requests[1]!.messages)).toBe('By the way: tests, too');
  });

  it.each<[string, () => Promise<void>]>([
    ['a message', () => stage.message('Try again')],
    ['resume', () => stage.say(newEvent('user', 'resume', { args: {}, message: 'resume' }))],
    [
      'another model',
      () =>
        stage.say(newEvent('user', 'change', { args: { model: 'scripted:y' }, message: 'other' })),
    ],
  ])('a model that fails interrupts the work with its sentence; %s tries again', async (_, act) => {
    play({ turns: [new AppError('model_failed', 'The provider refused the key.')] });
    const error = await stage.event('error');
    expect(error.args).toMatchObject({
      code: 'model_failed',
      message: 'The provider refused the key.',
    });
    await act();
    await stage.event('finish');
  });

  it('a model that fails again is not called again by itself', async () => {
    const down = new AppError('model_failed', 'The provider is down.');
    const failing = async () => {
      await stage.message('Quick');
      throw down;
    };
    play({ turns: [failing, down, down] });
    await stage.event('error');
    expect(foldConversation(stage.log).ended).toBe(true);
    await stage.message('Try again');
    await stage.event('error', 2);
    expect(foldConversation(stage.log).ended).toBe(true);
    await stage.message('And again');
    await stage.event('error', 3);
    expect(stage.requests).toHaveLength(3);
  });
});
