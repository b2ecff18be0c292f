import { isEnded, isEvent, type Event } from '@belay/protocol';
import { hasFailed, isCancelled } from './call-result';

/** An event that is marked on the timeline. */
export interface Mark {
  seq: number;
  kind: 'message' | 'step' | 'edit' | 'failed' | 'approval' | 'ended';
}

export function markKind(event: Event): Mark['kind'] | null {
  if (event.action === 'message' || event.action === 'start') return 'message';
  if (event.action === 'say') return 'step';
  if (event.action === 'code') return 'edit';
  if (event.action === 'approval') return 'approval';
  if (isEvent(event, 'result')) return hasFailed(event) && !isCancelled(event) ? 'failed' : null;
  if (isEvent(event, 'background-result')) return event.args.ok ? null : 'failed';
  if (isEvent(event, 'state')) return isEnded(event.args.state) ? 'ended' : null;
  return null;
}
