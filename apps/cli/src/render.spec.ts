import type { Event } from '@belay/protocol';
import { renderEvent } from './render.js';

const output = { line: () => undefined, style: (_: unknown, text: string) => text };
const result = (operation: string, ok: boolean): Event => ({
  seq: 1,
  time: '2026-01-01T00:00:00.000Z',
  source: 'agent',
  action: 'result',
  id: 'c',
  args: { operation, ok, output: {}, ms: 0 },
  message: `${operation} ended`,
});

it('shows results, but for those of what has been shown already', () => {
  expect(renderEvent(result('terminal.run', true), output)).toBe('  ✓ terminal.run ended');
  expect(renderEvent(result('plan.update', true), output)).toBeUndefined();
  expect(renderEvent(result('finish', false), output)).toBe('  ✗ finish ended');
});
