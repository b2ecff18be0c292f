import { dollarsText, mountMark, pluralText, type SessionSummary } from '@belay/protocol';
import { singleLine } from '../output.js';

/** A session’s state, limits and place in one line. */
export function titleLine({
  title,
  state,
  steps,
  dollars,
  model,
  machine,
  mounts,
}: SessionSummary): string {
  const where = machine
    ? `${machine.kind === 'bare' ? '⚠ nothing is confined on' : 'container on'} ${machine.name}`
    : [];
  const parts = [state, singleLine(title, 60), pluralText(steps, 'step'), dollarsText(dollars)];
  return ` ${[...parts, model, where, ...mounts.map(mountMark)].flat().join(' · ')}`;
}
