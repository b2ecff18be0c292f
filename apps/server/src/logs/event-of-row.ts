import {
  eventArgs,
  eventBounds,
  excerpt,
  faultOf,
  jsonFault,
  type Event,
  type EventAction,
} from '@belay/protocol';
import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { EventTable } from '../storage/database-schema.js';

type EventRow = Pick<
  Selectable<EventTable>,
  'seq' | 'time' | 'source' | 'action' | 'args' | 'message' | 'call'
>;

/** An unreadable event is replaced by one that says so, because other events depend on its number. */
export function eventOfRow({ call, args, ...row }: EventRow): Event {
  const id = call === null ? {} : { id: call };
  try {
    const read = JSON.parse(args) as Record<string, unknown>;
    const fault = faultIn(row.action, read);
    if (fault === undefined) return { ...row, args: read, ...id } as Event;
    return unreadable(row, fault);
  } catch {
    return unreadable(row, 'it is not JSON');
  }
}

function unreadable({ seq, time, action }: Omit<EventRow, 'args' | 'call'>, why: string): Event {
  const fault = `The event ${excerpt(action, 100)} cannot be read: ${why}.`;
  return { seq, time, source: 'server', action: 'unreadable', args: { fault }, message: fault };
}

/** Older versions stored larger events than are allowed today, so only shape and depth are checked. */
function faultIn(action: string, args: unknown): string | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return 'it has no fields';
  const fault = jsonFault(args, anyLength);
  if (fault !== undefined) return `it ${fault}`;
  if (!Object.hasOwn(eventArgs, action)) return undefined;
  const { error } = eventArgs[action as EventAction].safeParse(args);
  return error && !isTooLarge(error) ? faultOf(error) : undefined;
}

const anyLength = { ...eventBounds, characters: Infinity, values: Infinity };

const isTooLarge = ({ issues }: z.ZodError): boolean =>
  issues.every(({ code }) => code === 'too_big');
