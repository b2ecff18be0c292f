import {
  eventArgs,
  newEvent,
  sessionCommands,
  sessionSummary,
  type Event,
  type SessionCommandName,
} from '@belay/protocol';
import { commandMessage, eventMessage, outputMessage } from './socket-messages.js';

describe('a message of the plain WebSocket', () => {
  const event = (action: string, args: object): Event => ({
    ...newEvent('agent', 'pause', { args: {}, message: `${action} …`, id: 'c' }),
    seq: 1,
    time: '2026-01-01T00:00:00.000Z',
    action,
    args: args as Event['args'],
  });

  it('is a text for people, whatever the log says of a call', () => {
    const said = eventMessage('s', event('terminal.run', { command: 'ls' }));
    expect(said).toMatchObject({ action: 'run', message: 'Run: ls', args: { command: 'ls' } });
    expect(eventMessage('s', event('pause', {}))).toMatchObject({ message: 'pause …' });
  });

  it('has what an action printed as JSON as the text of its output', () => {
    const output = { text: '', structured: { n: 3 }, errors: '', exitCode: 0, seconds: 0 };
    expect(outputMessage('action.count', output).args).toMatchObject({ output: '{"n":3}' });
    const result = event('result', { operation: 'action.count', ok: true, output, seconds: 0 });
    expect(eventMessage('s', result).args).toMatchObject({ output: '{"n":3}', result: output });
    const printed = { ...output, text: 'three', structured: undefined };
    expect(outputMessage('action.count', printed).args).toMatchObject({ output: 'three' });
  });

  it('has one form for each action, in replies and events', () => {
    for (const name of Object.keys(sessionCommands) as SessionCommandName[]) {
      const isSummary = sessionCommands[name].output === sessionSummary;
      const { action, session } = commandMessage(name, isSummary ? { id: 's' } : {});
      expect({ name, isEvent: Object.hasOwn(eventArgs, action) }).toEqual({ name, isEvent: false });
      expect([action === 'session', session]).toEqual([isSummary, isSummary ? 's' : undefined]);
    }
    const changed = event('terminal', { terminal: 'main', change: 'opened' });
    expect(eventMessage('s', changed).action).toBe('terminal-change');
  });
});
