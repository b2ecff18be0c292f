import type { NewEvent } from '@belay/protocol';
import { TurnRecorder } from './turn-recorder.js';

describe('what was said before a call that the server holds', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const recording = () => {
    const texts: unknown[] = [];
    const recorder = new TurnRecorder({
      agent: 'mine',
      cwd: '/workspace',
      writer: { append: (event: NewEvent) => void texts.push(event.args['text']) },
      runner: { record: () => undefined },
      heldCall: () => undefined,
      isOwnTool: () => false,
      live: { show: () => undefined, drop: () => undefined },
    });
    const say = (text: string) =>
      recorder.update({
        sessionUpdate: 'agent_message_chunk',
        content: { type: 'text', text },
      });
    return { recorder, say, texts };
  };

  it('is written as a whole, however slowly the program passes it on', () => {
    const { recorder, say, texts } = recording();
    say('I go');
    recorder.hold();
    jest.advanceTimersByTime(900);
    say(' on');
    jest.advanceTimersByTime(900);
    say('.');
    jest.advanceTimersByTime(900);
    expect(texts).toEqual([]);
    jest.advanceTimersByTime(100);
    expect(texts).toEqual(['I go on.']);
  });

  it('is awaited for a while where nothing was said yet', () => {
    const { recorder, say, texts } = recording();
    recorder.hold();
    jest.advanceTimersByTime(1_500);
    say('Late.');
    jest.advanceTimersByTime(1_000);
    expect(texts).toEqual(['Late.']);
    say('More.');
    jest.advanceTimersByTime(10_000);
    expect(texts).toEqual(['Late.']);
  });
});
