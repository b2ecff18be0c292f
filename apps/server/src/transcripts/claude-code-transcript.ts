import { randomUUID } from 'node:crypto';
import { isFields, type TranscriptFile } from '@belay/protocol';
import { z } from 'zod';
import {
  writtenToolName,
  type AgentTranscript,
  type TranscriptFormat,
  type TranscriptItem,
  type TranscriptTarget,
} from './agent-transcript.js';
import { pastTime, transcriptLines, type Fields } from './transcript-lines.js';

/**
 * The format of Claude Code (read and resumed with 2.1.316): a tree of lines, whose newest leaf is the conversation.
 * Some lines between messages are attachments; the results of parallel calls are side branches.
 */
export const claudeCodeTranscript: TranscriptFormat = {
  read,
  write,
  shell: (command) => ({ tool: 'Bash', input: { command } }),
};

const id = z.string().min(1).max(200).optional().catch(undefined);
const node = z.object({
  type: z.string(),
  uuid: id,
  parentUuid: id,
  /** Leads past a summary to what it summarizes. */
  logicalParentUuid: id,
  isSidechain: z.boolean().catch(false),
  isMeta: z.boolean().catch(false),
  cwd: z.string().max(4_096).optional().catch(undefined),
  timestamp: z.unknown().optional(),
  message: z.object({ id, content: z.unknown().optional() }).optional().catch(undefined),
});

/** A line of the tree; only messages have parts. */
type Node = Omit<z.output<typeof node>, 'message'> & {
  reply: string | undefined;
  parts: readonly Part[];
};
type Part =
  | { kind: 'text'; text: string }
  | { kind: 'call'; id: string; tool: string; input: Fields }
  | { kind: 'result'; id: string; text: string; ok: boolean };

async function read(text: string): Promise<AgentTranscript> {
  const nodes: Node[] = [];
  let skipped = 0;
  for await (const line of transcriptLines(text)) {
    const { data } = node.safeParse(line);
    if (!data || (isMessage(data) && !data.message)) skipped += 1;
    if (!data) continue;
    const { message, ...rest } = data;
    const parts = isMessage(data) ? partsIn(message?.content) : [];
    nodes.push({ ...rest, reply: message?.id, parts });
  }
  const chosen = conversationIn(nodes);
  const items = nodes.filter((one) => chosen.has(one)).flatMap(itemsIn);
  const cwd = nodes.findLast((one) => one.cwd !== undefined)?.cwd ?? null;
  return { items, cwd, skipped };
}

const isMessage = ({ type }: { type: string }): boolean => type === 'user' || type === 'assistant';

/** The messages of the newest branch, with the other parts of its replies and the results of its calls. */
function conversationIn(nodes: readonly Node[]): Set<Node> {
  const byId = new Map(nodes.flatMap((one) => (one.uuid ? [[one.uuid, one] as const] : [])));
  const leaf = nodes.findLast((one) => one.uuid && isMessage(one) && !one.isSidechain);
  const chain = new Set<Node>();
  for (let at = leaf; at && !chain.has(at);) {
    chain.add(at);
    at = byId.get(at.parentUuid ?? at.logicalParentUuid ?? '');
  }
  const replies = new Set(
    [...chain].flatMap(({ type, reply }) => (type === 'assistant' && reply ? [reply] : [])),
  );
  const own = nodes.filter((one) => !one.isSidechain && isMessage(one));
  for (const one of own)
    if (one.type === 'assistant' && replies.has(one.reply ?? '')) chain.add(one);
  const calls = new Set([...chain].flatMap((one) => idsOf(one, 'call')));
  for (const one of own) if (idsOf(one, 'result').some((call) => calls.has(call))) chain.add(one);
  return chain;
}

const idsOf = ({ parts }: Node, kind: 'call' | 'result'): string[] =>
  parts.flatMap((part) => (part.kind === kind && 'id' in part ? part.id : []));

/** Checked without schemas, whose errors are slow: a file may have millions of parts. */
function partsIn(content: unknown): Part[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return Array.isArray(content) ? content.flatMap(partIn) : [];
}

function partIn(part: unknown): Part[] {
  if (!isFields(part)) return [];
  const { type, text, id: call, name, input, tool_use_id: of, content, is_error: isError } = part;
  if (type === 'image') return [{ kind: 'text', text: picture }];
  if (type === 'text' && typeof text === 'string') return [{ kind: 'text', text }];
  if (type === 'tool_use' && isName(call) && isName(name))
    return [{ kind: 'call', id: call, tool: name, input: isFields(input) ? input : {} }];
  if (type === 'tool_result' && isName(of))
    return [{ kind: 'result', id: of, text: resultText(content), ok: isError !== true }];
  return [];
}

const picture = '[picture]';
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map(textOf).join('\n') : '';
}

const textOf = (part: unknown): string =>
  isFields(part) && typeof part['text'] === 'string' ? part['text'] : picture;

function itemsIn({ type, isMeta, timestamp, parts }: Node): TranscriptItem[] {
  // What the program tells its model by itself.
  if ((type !== 'user' && type !== 'assistant') || isMeta) return [];
  const time = pastTime(timestamp);
  return parts.flatMap((part): TranscriptItem[] => {
    if (part.kind === 'text') return [{ ...part, kind: type, time }];
    return part.kind === 'result' || type === 'assistant' ? [{ ...part, time }] : [];
  });
}

function write(
  items: readonly TranscriptItem[],
  { id: sessionId, cwd, now }: TranscriptTarget,
): TranscriptFile {
  let parentUuid: string | null = null;
  const ids = new Map<string, string>();
  const lines = items.map((item, at) => {
    const uuid = randomUUID();
    const common = { parentUuid, isSidechain: false, userType: 'external', cwd, sessionId };
    const timestamp = item.time ?? now.toISOString();
    parentUuid = uuid;
    return { ...common, version: writtenAs, uuid, timestamp, ...message(item, at, ids) };
  });
  const path = `projects/${cwd.replaceAll(/[^A-Za-z0-9]/g, '-')}/${sessionId}.jsonl`;
  return { id: sessionId, path, text: lines.map((line) => `${JSON.stringify(line)}\n`).join('') };
}

/** The version of the program whose lines these are. */
const writtenAs = '2.1.316';

/** Ids are made anew, because those of other programs may not be valid. */
function message(item: TranscriptItem, at: number, ids: Map<string, string>): Fields {
  switch (item.kind) {
    case 'user':
      return { type: 'user', message: { role: 'user', content: item.text } };
    case 'assistant':
      return written(at, { type: 'text', text: item.text });
    case 'call': {
      const call = `toolu_${at}`;
      ids.set(item.id, call);
      const { tool, input } = item;
      return written(at, { type: 'tool_use', id: call, name: writtenToolName(tool), input });
    }
    case 'result': {
      const content = { type: 'tool_result', tool_use_id: ids.get(item.id), content: item.text };
      const message = { role: 'user', content: [{ ...content, is_error: !item.ok }] };
      return { type: 'user', message };
    }
  }
}

const written = (at: number, content: Fields): Fields => ({
  type: 'assistant',
  message: {
    id: `msg_${at}`,
    type: 'message',
    role: 'assistant',
    model: '<synthetic>',
    content: [content],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  },
});
