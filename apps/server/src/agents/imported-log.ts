import {
  describeCall,
  excerpt,
  jsonFault,
  loggedToolName,
  newEvent,
  oneLine,
  pluralText,
  programOutput,
  withShortTexts,
  type Event,
  type NewEvent,
  type Operation,
  type SessionSettings,
} from '@belay/protocol';
import type { AgentTranscript, TranscriptItem } from '../transcripts/agent-transcript.js';
import { pairedItems } from '../transcripts/paired-items.js';
import { mappedCall, type ProgramTools } from './mapped-call.js';

/** The entries that a log has space for, and the characters of one message and one result. */
const mostItems = 20_000;
const mostOfMessage = 100_000;
const mostOfResult = 30_000;
/** The characters of each text in an input that is too large for the log. */
const mostOfInput = 2_000;

/** The beginning of the log of a session that continues a transcript. */
export interface ImportedLog {
  task: string;
  /** Numbered events with the session’s settings, which end with the event that says where they are from. */
  events(settings: SessionSettings): Event[];
}

/**
 * A transcript of this agent as the beginning of a log, in which the agent had a turn for each message. All of it is
 * what a file says: ids are made anew, times never decrease, and nothing in it names an event, a blob or a call that
 * exists.
 */
export function importedLog(
  { items, skipped }: AgentTranscript,
  agent: ProgramTools & { title: string },
): ImportedLog {
  const paired = pairedItems(items);
  const first = paired.findIndex(({ kind }) => kind === 'user');
  const opening = paired[first];
  const task = opening?.kind === 'user' ? excerpt(opening.text, mostOfMessage) : agent.title;
  const others = paired.toSpliced(Math.max(0, first), first < 0 ? 0 : 1);
  const from = Math.max(0, others.length - mostItems);
  // A result follows its call.
  const kept = others.slice(others[from]?.kind === 'result' ? from + 1 : from);
  const leftOut = others.length - kept.length;
  const said = kept.filter(({ kind }) => kind === 'user' || kind === 'assistant').length;
  const called = kept.filter(({ kind }) => kind === 'call').length;
  const missing = [
    skipped > 0 && ` Not understood: ${pluralText(skipped, 'line')}.`,
    leftOut > 0 && ` Left out: the oldest ${pluralText(leftOut, 'entry', 'entries')}.`,
  ].filter(Boolean);
  const content = `${pluralText(said + 1, 'message')} and ${pluralText(called, 'call')}`;
  const message = `Imported from ${agent.title} on another machine: ${content}.${missing.join('')}`;
  const end = newEvent('server', 'imported', {
    args: { agent: agent.name, skipped, leftOut },
    message,
  });
  return {
    task,
    events(settings) {
      const start = newEvent('user', 'start', { args: settings, message: settings.task });
      const turns = eventsOf(kept, agent);
      return numbered([{ ...start, time: opening?.time ?? undefined }, ...turns, end]);
    },
  };
}

type Timed = Omit<NewEvent, 'time'> & { time?: string | undefined };

/** A call of the transcript, by its id there. */
interface ImportedCall {
  id: string;
  operation: Operation;
  shown: string;
}

/** The turn of a program begins anew with each message that it was told. */
function eventsOf(items: readonly TranscriptItem[], agent: ProgramTools): Timed[] {
  const calls = new Map<string, ImportedCall>();
  let through = 1;
  let isOpen = false;
  const events: Timed[] = [];
  const began = (): Timed => {
    const args = { change: 'began', conversation: 'imported', through } as const;
    return newEvent('agent', 'turn', { args, message: 'A turn began.' });
  };
  for (const item of items) {
    const time = item.time ?? undefined;
    if (item.kind === 'user') {
      if (isOpen) events.push({ ...ended(), time });
      isOpen = false;
      events.push({ ...told(item.text), time });
      through = events.length + 1;
    } else {
      if (!isOpen) events.push({ ...began(), time });
      isOpen = true;
      events.push(...partOfTurn(item, agent, calls).map((event) => ({ ...event, time })));
    }
  }
  return isOpen ? [...events, ended()] : events;
}

const ended = (): Timed =>
  newEvent('agent', 'turn', { args: { change: 'ended', end: 'done' }, message: 'Turn done.' });

const told = (given: string): Timed => {
  const text = excerpt(given, mostOfMessage);
  return newEvent('user', 'message', { args: { text, delivery: 'next' }, message: text });
};

function partOfTurn(
  item: Exclude<TranscriptItem, { kind: 'user' }>,
  agent: ProgramTools,
  calls: Map<string, ImportedCall>,
): Timed[] {
  if (item.kind === 'assistant') {
    const text = excerpt(item.text, mostOfMessage);
    const args = { text, calls: [] };
    return [newEvent('agent', 'say', { args, message: oneLine(text) })];
  }
  if (item.kind === 'call') {
    const id = `import-${calls.size + 1}`;
    const { operation, input } = mappedCall(
      agent,
      loggedToolName(item.tool),
      boundedInput(item.input),
    );
    const shown = excerpt(oneLine(describeCall(operation, input)));
    calls.set(item.id, { id, operation, shown });
    return [{ source: 'agent', action: operation.name, args: input, message: shown, id }];
  }
  const call = calls.get(item.id);
  if (!call) return [];
  const text = excerpt(item.text, mostOfResult);
  // A file does not say how a command ended.
  const run = { text, exitCode: null, seconds: 0, cwd: '' };
  const output = item.ok
    ? programOutput(call.operation, run)
    : { code: 'tool_failed', message: text };
  const args = { operation: call.operation.name, ok: item.ok, output, seconds: 0 };
  const message = `${call.shown} ${item.ok ? 'done' : 'failed'}`;
  return [newEvent('agent', 'result', { args, message, id: call.id })];
}

function boundedInput(input: Record<string, unknown>): Record<string, unknown> {
  if (jsonFault(input) === undefined) return input;
  const short = withShortTexts(input, mostOfInput) as Record<string, unknown>;
  return jsonFault(short) === undefined ? short : {};
}

function numbered(events: readonly Timed[]): Event[] {
  let latest = '';
  const now = new Date().toISOString();
  return events.map(({ time = now, ...event }, at) => {
    if (time > latest) latest = time;
    return { ...event, seq: at + 1, time: latest };
  });
}
