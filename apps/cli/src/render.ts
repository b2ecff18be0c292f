import { dialogueOperations, isFact, type Event } from '@belay/protocol';
import { oneLine, type Output } from './output.js';

const marks: Record<string, string> = {
  start: '▶',
  message: '»',
  plan: '☰',
  ask: '?',
  approval: '⚠',
  approve: '✓',
  reject: '✗',
  error: '✗',
  limit: '✗',
  finish: '■',
  state: '●',
};

/** What one event looks like in a terminal; undefined for those that a person need not see. */
export function renderEvent(event: Event, output: Output): string | undefined {
  if (isFact(event, 'say')) return event.args.text.trim() || undefined;
  if (isFact(event, 'result')) {
    // What an agent says and decides has been shown; its result says no more.
    if (event.args.ok && event.args.operation in dialogueOperations) return undefined;
    const mark = event.args.ok ? output.style('green', '✓') : output.style('red', '✗');
    return `  ${mark} ${oneLine(event.message, 120)}`;
  }
  if (isFact(event, 'plan')) return indent(event.args.markdown.trim());
  if (
    [
      'plan.update',
      'usage',
      'commit',
      'terminal',
      'code',
      'browser',
      'egress',
      'guidance',
    ].includes(event.action)
  )
    return undefined;
  const mark = marks[event.action] ?? '▸';
  const text = `${mark} ${oneLine(event.message, 120)}`;
  if (event.action === 'approval' || event.action === 'ask') return output.style('yellow', text);
  return ['error', 'limit'].includes(event.action) ? output.style('red', text) : text;
}

const indent = (text: string) => text.replace(/^/gm, '  ');
