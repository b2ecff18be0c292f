import { newEvent, type Event, type NewEvent } from '@belay/protocol';
import { foldConversation } from './conversation-log.js';

const logOf = (...events: NewEvent[]): Event[] =>
  events.map((event, index) => ({ time: '', ...event, seq: index + 1 }));

const calls = [{ id: 'c1', operation: 'terminal.run', input: { command: 'npm start' } }];
const outcome = (fields: object, edited?: Record<string, string>) =>
  newEvent('agent', 'result', {
    args: {
      operation: 'terminal.run',
      ok: true,
      output: {
        terminal: 'main',
        text: '',
        omittedBytes: 0,
        from: 0,
        to: 0,
        seconds: 1,
        directory: '/workspace',
        exitCode: null,
        ...fields,
      },
      seconds: 1,
      ...(edited && { edited }),
    },
    message: 'result',
    id: 'c1',
  });
const after = (result: NewEvent) =>
  foldConversation(
    logOf(
      newEvent('user', 'start', { args: { task: 'Do it', model: 'scripted:x' }, message: 'start' }),
      newEvent('agent', 'say', { args: { text: '', calls }, message: 'say' }),
      {
        source: 'agent',
        action: 'terminal.run',
        args: { command: 'npm start' },
        message: '',
        id: 'c1',
      },
      result,
    ),
  );

describe('a command that the user changed before allowing it', () => {
  const edited = { command: 'npm start -- --port 80' };

  it('is the one that is running', () => {
    const commandsAfter = (result: NewEvent) => after(result).running.map(({ command }) => command);
    expect(commandsAfter(outcome({ status: 'running' }, edited))).toEqual([edited.command]);
    expect(commandsAfter(outcome({ status: 'running' }))).toEqual(['npm start']);
  });

  it('is the one that has checked the work', () => {
    const exited = { status: 'exited', exitCode: 1 };
    expect(after(outcome(exited, edited)).work.checked).toEqual({ ...edited, exitCode: 1 });
    expect(after(outcome(exited)).work.checked).toEqual({ command: 'npm start', exitCode: 1 });
  });
});
