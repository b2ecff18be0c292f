import { newEvent, type Event } from '@belay/protocol';
import { LiveStatus } from './live-status.js';

it('shows what the agent does: it thinks, or runs the last call without a result', () => {
  const shown: string[] = [];
  const status = new LiveStatus((words) => void shown.push(words));
  let seq = 0;
  const see = (event: Partial<Event>) =>
    status.see({ seq: ++seq, time: '', source: 'agent', args: {}, ...event } as Event);
  const state = (is: 'running' | 'finished') =>
    see(newEvent('server', 'state', { args: { state: is, reason: null }, message: '' }));
  const call = (id: string, subject: string) =>
    see({ action: 'terminal.run', id, message: `terminal.run ${subject}` });
  const result = (id: string) => see({ action: 'result', id, message: 'done' });

  state('running');
  status.add('I will ');
  status.add('look.\n');
  call('1', 'npm test');
  see({ action: 'approval', id: '1', message: 'May this run?' });
  state('running');
  status.add('one\r\ntwo \u001b[32mgreen\u001b[0m\r\n');
  call('2', 'a command that is much too long for this');
  status.add('x');
  result('2');
  result('1');
  state('finished');
  expect(shown).toEqual([
    'the model is thinking',
    'the model is thinking · I will',
    'the model is thinking · I will look.',
    'terminal.run npm test',
    'terminal.run npm test',
    'terminal.run npm test · two green',
    'terminal.run a command that is much too long for this',
    'terminal.run a command that is … · x',
    'terminal.run npm test',
    'the model is thinking',
    '',
  ]);
});
