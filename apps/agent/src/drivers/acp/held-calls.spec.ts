import type { Event } from '@belay/protocol';
import { HeldCalls } from './held-calls.js';
import { reported } from './tool-call.js';

const event = (action: string, args: object, id: string): Event => ({
  seq: 1,
  time: '2026-01-01T00:00:00Z',
  source: 'server',
  action,
  args: { ...args },
  message: action,
  id,
});
const run = (toolCallId: string, command: string) =>
  reported(undefined, { toolCallId, kind: 'execute', rawInput: { command } });
const ls = event('terminal.run', { command: 'ls' }, 'call_1');

function heldWith(...events: Event[]): HeldCalls {
  const held = new HeldCalls('codex');
  for (const one of events) held.handle(one);
  return held;
}

it('knows a reported call by its id, whatever the report says', () => {
  expect(heldWith(ls).find(run('call_1', 'rm -r .'))?.event).toBe(ls);
});

it('knows one whose id follows the name of its tool, whatever else the program tells', () => {
  const report = reported(undefined, { toolCallId: 'run_shell_command__call_1', title: 'ls' });
  expect(heldWith(ls).find(report)?.event).toBe(ls);
});

it('knows one with another id by what it does, oldest first, each once', () => {
  const again = { ...ls, id: 'call_2' };
  const held = heldWith(ls, again);
  expect(held.find(run('item_1', 'ls'))?.event.id).toBe('call_1');
  expect(held.find(run('item_1', 'ls'))?.event.id).toBe('call_1');
  expect(held.find(run('item_2', 'ls'))?.event.id).toBe('call_2');
  expect(held.find(run('item_3', 'ls'))).toBeUndefined();
});

it('knows a tool of the program by its whole input', () => {
  const patch = event('tool.codex.apply_patch', { input: 'x' }, 'call_1');
  const report = (rawInput: object) =>
    reported(undefined, { toolCallId: 'i', kind: 'edit', rawInput });
  expect(heldWith(patch).find(report({ input: 'x' }))?.event).toBe(patch);
  expect(heldWith(patch).find(report({ input: 'y' }))).toBeUndefined();
});

it('takes no call of others than the server for one, and notes rejections', () => {
  expect(heldWith({ ...ls, source: 'agent' }).find(run('call_1', 'ls'))).toBeUndefined();
  const rejected = event('reject', { reason: 'No.' }, 'call_1');
  expect(heldWith(ls, rejected).find(run('call_1', 'ls'))).toMatchObject({
    refusal: { code: 'rejected', message: expect.stringContaining('No.') },
  });
  expect(heldWith(ls, event('replaced', {}, 'call_1')).find(run('call_1', 'ls'))).toMatchObject({
    refusal: { code: 'rejected' },
    isReplaced: true,
  });
});
