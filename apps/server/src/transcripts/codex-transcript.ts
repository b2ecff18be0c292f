import { isFields, type TranscriptFile } from '@belay/protocol';
import { z } from 'zod';
import {
  writtenToolName,
  type AgentTranscript,
  type TranscriptFormat,
  type TranscriptItem,
  type TranscriptTarget,
} from './agent-transcript.js';
import { objectIn, pastTime, transcriptLines, type Fields } from './transcript-lines.js';

/**
 * The format of Codex (read and resumed with 0.166.0): its requests’ items and what it showed, in order. What the user
 * wrote is known from the latter, since the former contain more messages in the user’s name.
 */
export const codexTranscript: TranscriptFormat = {
  read,
  write,
  shell: (command) => ({ tool: 'exec_command', input: { cmd: command } }),
};

const line = z.object({
  timestamp: z.unknown().optional(),
  type: z.string(),
  payload: z.looseObject({}),
});
type Line = z.output<typeof line>;

/** Lines that say nothing of the conversation. */
const silent = new Set([
  'session_meta',
  'turn_context',
  'compacted',
  'world_state',
  'token_usage_record',
  'event_msg',
]);
const silentItems = new Set<unknown>([
  'reasoning',
  'web_search_call',
  'ghost_snapshot',
  'compaction',
]);

const callId = z.string().min(1);
const item = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), role: z.string(), content: z.unknown().optional() }),
  z.object({
    type: z.literal('function_call'),
    call_id: callId,
    name: z.string().min(1),
    arguments: z.string(),
  }),
  z.object({
    type: z.literal('custom_tool_call'),
    call_id: callId,
    name: z.string().min(1),
    input: z.string(),
  }),
  z.object({
    type: z.literal('local_shell_call'),
    call_id: callId,
    action: z.unknown().optional(),
  }),
  z.object({
    type: z.literal('function_call_output'),
    call_id: callId,
    output: z.unknown().optional(),
  }),
  z.object({
    type: z.literal('custom_tool_call_output'),
    call_id: callId,
    output: z.unknown().optional(),
  }),
]);

/** What a line adds to the conversation: an item, or the end of that many of the user’s turns. */
type Step = { item: TranscriptItem; isShown: boolean } | { undone: number };

async function read(text: string): Promise<AgentTranscript> {
  const steps: Step[] = [];
  let cwd: string | null = null;
  let skipped = 0;
  for await (const given of transcriptLines(text)) {
    const { data } = line.safeParse(given);
    const folder = data?.payload['cwd'];
    if (typeof folder === 'string' && folder.length <= 4_096) cwd = folder;
    const step = data && stepIn(data);
    if (step) steps.push(step);
    else if (!data || !isSilent(data)) skipped += 1;
  }
  return { items: itemsAfter(steps), cwd, skipped };
}

function itemsAfter(steps: readonly Step[]): TranscriptItem[] {
  const showsUser = steps.some((step) => 'item' in step && step.isShown);
  const items: TranscriptItem[] = [];
  /** Where the user’s turns begin. */
  const turns: number[] = [];
  for (const step of steps) {
    if ('undone' in step) items.length = turns.splice(-step.undone)[0] ?? items.length;
    else if (!isEmpty(step.item) && (step.item.kind !== 'user' || step.isShown || !showsUser)) {
      if (step.item.kind === 'user') turns.push(items.length);
      items.push(step.item);
    }
  }
  return items;
}

const isEmpty = (one: TranscriptItem): boolean =>
  (one.kind === 'user' || one.kind === 'assistant') && one.text === '';

const isSilent = ({ type, payload }: Line): boolean =>
  type === 'response_item' ? silentItems.has(payload['type']) : silent.has(type);

function stepIn(one: Line): Step | undefined {
  const time = pastTime(one.timestamp);
  const shown = shownMessage(one);
  if (shown !== undefined) return { item: { kind: 'user', text: shown, time }, isShown: true };
  const undone = undoneTurns(one);
  if (undone > 0) return { undone };
  const made = one.type === 'response_item' ? itemIn(one.payload, time) : undefined;
  return made && { item: made, isShown: false };
}

/** What the user wrote, as the program showed it. */
function shownMessage({ type, payload }: Line): string | undefined {
  const { type: kind, message } = payload;
  const isShown = type === 'event_msg' && kind === 'user_message' && typeof message === 'string';
  return isShown ? message : undefined;
}

/** The number of the user’s turns that were taken back here. */
function undoneTurns({ type, payload }: Line): number {
  const { type: kind, num_turns: turns } = payload;
  const isUndo = type === 'event_msg' && kind === 'thread_rolled_back';
  return isUndo && Number.isInteger(turns) ? Math.max(0, Number(turns)) : 0;
}

function itemIn(payload: Fields, time: string | null): TranscriptItem | undefined {
  const { data } = item.safeParse(payload);
  if (!data) return undefined;
  switch (data.type) {
    case 'message': {
      const { role } = data;
      // What the program tells its model by itself has no text here.
      const text = Array.isArray(data.content) ? textIn(data.content) : '';
      const isOwn =
        role === 'assistant' || (role === 'user' && !/^\s*(?:<|# AGENTS\.md)/.test(text));
      return { kind: role === 'assistant' ? role : 'user', text: isOwn ? text : '', time };
    }
    case 'function_call': {
      const input = objectIn(data.arguments) ?? { input: data.arguments };
      return { kind: 'call', id: data.call_id, tool: data.name, input, time };
    }
    case 'custom_tool_call':
      return {
        kind: 'call',
        id: data.call_id,
        tool: data.name,
        input: { input: data.input },
        time,
      };
    case 'local_shell_call': {
      const input = { action: data.action };
      return { kind: 'call', id: data.call_id, tool: data.type, input, time };
    }
    default:
      return { kind: 'result', id: data.call_id, ...outputIn(data.output), time };
  }
}

/** Checked without a schema, whose errors are slow: a file may have millions of parts. */
const textIn = (content: readonly unknown[]): string =>
  content
    .map((part) =>
      isFields(part) && typeof part['text'] === 'string' ? part['text'] : '[picture]',
    )
    .join('\n');

function outputIn(output: unknown): { text: string; ok: boolean } {
  if (typeof output === 'string') return { text: output, ok: true };
  if (Array.isArray(output)) return { text: textIn(output), ok: true };
  if (!isFields(output)) return { text: '', ok: true };
  const { content, success } = output;
  return { text: typeof content === 'string' ? content : '', ok: success !== false };
}

function write(
  items: readonly TranscriptItem[],
  { id, cwd, now }: TranscriptTarget,
): TranscriptFile {
  const ids = new Map<string, string>();
  const begun = now.toISOString();
  const meta = { id, timestamp: begun, cwd, originator: 'belay', cli_version: '0.166.0' };
  const lines = [
    { timestamp: begun, type: 'session_meta', payload: { ...meta, source: 'cli' } },
    ...items.flatMap((one, at) => {
      const timestamp = one.time ?? begun;
      return payloads(one, at, ids).map((written) => ({ timestamp, ...written }));
    }),
  ];
  const [day = '', time = ''] = begun.slice(0, 19).split('T');
  const name = `rollout-${day}T${time.replaceAll(':', '-')}-${id}.jsonl`;
  return {
    id,
    path: `sessions/${day.replaceAll('-', '/')}/${name}`,
    text: lines.map((one) => `${JSON.stringify(one)}\n`).join(''),
  };
}

/** Ids are made anew, because those of other programs may not be valid. */
function payloads(
  one: TranscriptItem,
  at: number,
  ids: Map<string, string>,
): { type: string; payload: Fields }[] {
  const response = (payload: Fields) => ({ type: 'response_item', payload });
  const shown = (type: string, message: string) => ({
    type: 'event_msg',
    payload: { type, message },
  });
  switch (one.kind) {
    case 'user': {
      const content = [{ type: 'input_text', text: one.text }];
      return [
        response({ type: 'message', role: 'user', content }),
        shown('user_message', one.text),
      ];
    }
    case 'assistant': {
      const content = [{ type: 'output_text', text: one.text }];
      return [
        shown('agent_message', one.text),
        response({ type: 'message', role: 'assistant', content }),
      ];
    }
    case 'call': {
      const call = `call_${at}`;
      ids.set(one.id, call);
      const [name, input] = [writtenToolName(one.tool), JSON.stringify(one.input)];
      return [response({ type: 'function_call', name, arguments: input, call_id: call })];
    }
    case 'result': {
      const call = ids.get(one.id);
      return [response({ type: 'function_call_output', call_id: call, output: one.text })];
    }
  }
}
