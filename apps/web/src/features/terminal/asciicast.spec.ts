import type { Event } from '@belay/protocol';
import { toAsciicast } from './asciicast';

const at = (seconds: number, action: string, args: Record<string, unknown>): Event => ({
  seq: seconds + 1,
  time: new Date(1_000_000 + seconds * 1_000).toISOString(),
  source: 'agent',
  action,
  args,
  message: '',
});
const result = (seconds: number, terminal: string, to: number) =>
  at(seconds, 'result', {
    operation: 'terminal.run',
    ok: true,
    output: {
      terminal,
      status: 'exited',
      exitCode: 0,
      text: '',
      omittedBytes: 0,
      from: 0,
      to,
      seconds: 1,
      directory: '.',
    },
  });

it('times pieces of output by intervals, and does not split characters', () => {
  const bytes = new TextEncoder().encode('one\r\nzwöif\r\nrest');
  const cast = toAsciicast({
    title: 'A test',
    terminal: 'main',
    bytes,
    events: [
      at(0, 'terminal', { terminal: 'main', change: 'opened', columns: 80, rows: 24 }),
      result(2, 'main', 5),
      result(3, 'other', 99),
      at(4, 'terminal', { terminal: 'main', change: 'resized', columns: 100, rows: 30 }),
      result(7, 'main', 8),
      result(8, 'main', 13),
    ],
  });
  const [header, ...lines] = cast
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(header).toEqual({
    version: 3,
    term: { cols: 80, rows: 24 },
    timestamp: 1_000,
    title: 'A test',
  });
  expect(lines).toEqual([
    [2, 'o', 'one\r\n'],
    [2, 'r', '100x30'],
    [3, 'o', 'zw'],
    [1, 'o', 'öif\r\n'.slice(0, 5)],
    [0, 'o', 'rest'],
  ]);
});
