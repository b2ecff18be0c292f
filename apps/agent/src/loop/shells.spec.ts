import { excerpt, type Event } from '@belay/protocol';
import { Shells } from './shells.js';

const output = (fields: object) => ({
  terminal: 'main',
  text: '',
  omittedBytes: 0,
  from: 0,
  to: 0,
  status: 'background',
  exitCode: null,
  seconds: 1,
  directory: '/workspace',
  ...fields,
});
const result = (operation: string, fields: object = {}) => ({
  operation,
  ok: true,
  output: output(fields),
  seconds: 1,
  images: [],
});
const call = (command: string): Event => ({
  seq: 1,
  time: '',
  source: 'agent',
  action: 'terminal.run',
  args: { command, background: true },
  message: command,
  id: 'c1',
});
const runningOf = (shells: Shells) => shells.running.map(({ command }) => command);
const start = (...commands: string[]) => {
  const shells = new Shells();
  for (const command of commands) shells.see(call(command), result('terminal.run'));
  return shells;
};

describe('commands that are still running', () => {
  const long = `echo ${'x'.repeat(600)}`;

  it('end by the shortened command of their event, of any length', () => {
    const shells = start('sleep 5', long);
    expect(runningOf(shells)).toEqual(['sleep 5', long]);
    shells.end({ terminal: 'main', command: excerpt(long, 500) });
    expect(runningOf(shells)).toEqual(['sleep 5']);
    shells.end({ terminal: 'main', command: 'sleep 5' });
    expect(runningOf(shells)).toEqual([]);
  });

  it('are known by the shorter form of a later result', () => {
    const shells = start(long);
    shells.see(undefined, result('terminal.read', { command: excerpt(long, 200) }));
    expect(runningOf(shells)).toEqual([excerpt(long, 200)]);
    shells.end({ terminal: 'main', command: excerpt(long, 500) });
    expect(runningOf(shells)).toEqual([]);
  });

  it('are shortened between the halves of a character', () => {
    const command = `${'x'.repeat(498)}😀 and more`;
    const shells = start(command);
    shells.end({ terminal: 'main', command: excerpt(command, 500) });
    expect(runningOf(shells)).toEqual([]);
  });

  it('outlast one that begins like them, in the same terminal', () => {
    const shells = start('sleep 1', 'sleep 10');
    shells.end({ terminal: 'main', command: 'sleep 1' });
    expect(runningOf(shells)).toEqual(['sleep 10']);
    const others = start('sleep 1', 'sleep 10');
    others.end({ terminal: 'main', command: 'sleep 10' });
    expect(runningOf(others)).toEqual(['sleep 1']);
  });
});
