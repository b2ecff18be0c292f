import { operations, withShortTexts } from '@belay/protocol';
import { UserCalls } from './user-calls.js';

describe('an event in the user’s name', () => {
  const operation = operations['files.write'];
  const input = { path: 'a.txt', content: 'x'.repeat(3_000_000) };
  const event = (args: object, action: string = operation.name) => ({
    source: 'agent' as const,
    action,
    args: { ...args },
    message: '',
    id: 'user-1',
  });
  const calls = new UserCalls();
  calls.add('s', 'user-1', { operation, input });

  it('is the call that the user made, whole or with long texts shortened, and its result', () => {
    expect(calls.sourceOf('s', event(input))).toBe('user');
    const short = withShortTexts(input, 2_000) as object;
    expect(calls.sourceOf('s', event(short))).toBe('user');
    expect(calls.sourceOf('s', event({}, 'result'))).toBe('user');
    expect(calls.sourceOf('other', event(input))).toBe('agent');
  });

  it('attacks: is no other call', () => {
    for (const other of [
      event({ ...input, path: 'b.txt' }),
      event({ path: 'a.txt', content: 'y' }),
      event(input, 'terminal.run'),
    ]) {
      expect(() => calls.sourceOf('s', other)).toThrow('The user did not call');
    }
  });
});
