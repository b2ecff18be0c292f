import { chainStart } from '@belay/proof';
import {
  faultOf,
  sessionSettings,
  sessionSummary,
  type SessionSettings,
  type SessionSummary,
} from '@belay/protocol';
import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { SessionTable } from '../storage/database-schema.js';
import { serverId } from '../server-id.js';
import { boundedSummary } from './bounded-summary.js';
import { firstSummary } from './session-summary.js';

/** A session’s row, parsed. Records are immutable: a change makes a new one. */
export interface SessionRecord {
  readonly id: string;
  readonly created: string;
  readonly epoch: number;
  /** The server that works on it; null while there is nothing to do. */
  readonly owner: string | null;
  /** Raised by each owner: whoever knows only an earlier one may no longer write. */
  readonly term: number;
  /** The last event when the term began: those up to it may be of another server. */
  readonly termSeq: number;
  readonly lastSeq: number;
  readonly agentN: number;
  /** The digest of the last event; null while a log of an earlier version is not chained yet. */
  readonly head: string | null;
  /** The first event that was chained when it was stored; null like `head`. */
  readonly chainedFrom: number | null;
  readonly settings: SessionSettings;
  readonly summary: SessionSummary;
  /** Why the row cannot be read, in one sentence; settings and summary are then placeholders. */
  readonly damage?: string;
}

/** A session that begins now, without events. */
export function firstRecord(
  id: string,
  settings: SessionSettings,
  comparison: string | null,
): SessionRecord {
  const created = new Date().toISOString();
  const numbers = { epoch: 0, term: 1, termSeq: 0, lastSeq: 0, agentN: 0 };
  const chain = { head: chainStart(id, created), chainedFrom: 1 };
  const summary = { ...firstSummary(id, settings, created), comparison };
  return { id, created, owner: serverId, ...numbers, ...chain, settings, summary };
}

/** Fields missing in data of older versions get their defaults. Never throws: see `damage`. */
export function sessionRecord(row: Selectable<SessionTable>): SessionRecord {
  const { id, created, epoch, owner, term, head, last_seq: lastSeq, agent_n: agentN } = row;
  const numbers = { epoch, term, termSeq: row.term_seq, lastSeq, agentN };
  const known = { id, created, owner, ...numbers, head, chainedFrom: row.chained_from };
  const settings = read(sessionSettings, row.settings);
  const summary = read(sessionSummary, row.summary);
  if (settings.value && summary.value) {
    const own = { ...summary.value, id, lastSeq, comparison: row.comparison };
    return { ...known, settings: settings.value, summary: boundedSummary(own) };
  }
  const damage = `The stored data of the session ${id} cannot be read (${settings.fault ?? summary.fault}). Delete the session, or restore the database.`;
  const standIn = settings.value ?? { ...noSettings, title: `Session ${id}` };
  return { ...known, settings: standIn, summary: damagedSummary(row, standIn, damage), damage };
}

/** The columns that show whether a row has changed: settings and summary follow from the events, which `head` digests. */
export const sessionMarks = [
  'id',
  'epoch',
  'owner',
  'term',
  'term_seq',
  'last_seq',
  'agent_n',
  'head',
  'chained_from',
] as const;

/** Whether a row is still as the record was read from it. A damaged one may have been repaired. */
export function isAsStored(
  record: SessionRecord | undefined,
  row: Pick<Selectable<SessionTable>, (typeof sessionMarks)[number]>,
): boolean {
  if (!record || record.damage !== undefined) return false;
  return (
    record.epoch === row.epoch &&
    record.owner === row.owner &&
    record.term === row.term &&
    record.termSeq === row.term_seq &&
    record.lastSeq === row.last_seq &&
    record.agentN === row.agent_n &&
    record.head === row.head &&
    record.chainedFrom === row.chained_from
  );
}

export const columnsOf = (record: SessionRecord) => ({
  epoch: record.epoch,
  owner: record.owner,
  term: record.term,
  term_seq: record.termSeq,
  last_seq: record.lastSeq,
  agent_n: record.agentN,
  head: record.head,
  chained_from: record.chainedFrom,
  comparison: record.summary.comparison,
  settings: JSON.stringify(record.settings),
  summary: JSON.stringify(record.summary),
});

interface Read<T> {
  value?: T;
  fault?: string;
}

function read<T extends z.ZodType>(schema: T, text: string): Read<z.output<T>> {
  try {
    const { data, error } = schema.safeParse(JSON.parse(text));
    return error ? { fault: faultOf(error) } : { value: data };
  } catch {
    return { fault: 'it is not JSON' };
  }
}

/** Placeholder for settings that cannot be read; never used to start anything. */
const noSettings = sessionSettings.parse({ task: '-', model: 'scripted:unreadable' });

function damagedSummary(
  { id, created, last_seq }: Selectable<SessionTable>,
  settings: SessionSettings,
  reason: string,
): SessionSummary {
  return {
    ...firstSummary(id, settings, created),
    state: 'failed',
    reason,
    lastSeq: last_seq,
  };
}

/** The check of a record that refuses none. */
export const anyRecord = (record: SessionRecord): SessionRecord => record;
