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
  message: z
    .object({ id, content: z.union([z.string(), z.array(z.unknown())]) })
    .optional()
    .catch(undefined),
});
type Node = z.output<typeof node>;

const textBlock = z.object({ type: z.literal('text'), text: z.string() });
const callBlock = z.object({
  type: z.literal('tool_use'),
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.unknown().optional(),
});
const resultBlock = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string().min(1),
  content: z.unknown().optional(),
  is_error: z.boolean().catch(false),
});
const block = z.discriminatedUnion('type', [textBlock, callBlock, resultBlock]);

function read(text: string): AgentTranscript {
  const { lines, skipped } = transcriptLines(text);
  const nodes = lines.flatMap((line) => node.safeParse(line).data ?? []);
  const chosen = conversationIn(nodes);
  const items = nodes.filter((one) => chosen.has(one)).flatMap(itemsIn);
  const cwd = nodes.findLast((one) => one.cwd !== undefined)?.cwd ?? null;
  const unknown = nodes.filter((one) => isMessage(one) && !one.message).length;
  return { items, cwd, skipped: skipped + lines.length - nodes.length + unknown };
}

const isMessage = ({ type }: Node): boolean => type === 'user' || type === 'assistant';

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
    [...chain].flatMap(({ type, message }) =>
      type === 'assistant' && message?.id ? [message.id] : [],
    ),
  );
  const own = nodes.filter((one) => !one.isSidechain && isMessage(one));
  for (const one of own)
    if (one.type === 'assistant' && replies.has(one.message?.id ?? '')) chain.add(one);
  const calls = new Set([...chain].flatMap((one) => blocksIn(one).flatMap(callIdIn)));
  for (const one of own)
    if (blocksIn(one).some((part) => calls.has(resultIdIn(part)))) chain.add(one);
  return chain;
}

type Block = z.output<typeof block>;

const callIdIn = (part: Block): string[] => (part.type === 'tool_use' ? [part.id] : []);
const resultIdIn = (part: Block): string => (part.type === 'tool_result' ? part.tool_use_id : '');

function blocksIn({ message }: Node): Block[] {
  const { content = [] } = message ?? {};
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part) => {
    if (isFields(part) && part['type'] === 'image') return { type: 'text', text: '[picture]' };
    return block.safeParse(part).data ?? [];
  });
}

function itemsIn(one: Node): TranscriptItem[] {
  const { type } = one;
  // What the program tells its model by itself.
  if ((type !== 'user' && type !== 'assistant') || one.isMeta) return [];
  const time = pastTime(one.timestamp);
  return blocksIn(one).flatMap((part): TranscriptItem[] => {
    if (part.type === 'text') return [{ kind: type, text: part.text, time }];
    if (part.type === 'tool_use') {
      const input = isFields(part.input) ? part.input : {};
      return type === 'assistant'
        ? [{ kind: 'call', id: part.id, tool: part.name, input, time }]
        : [];
    }
    const text = resultText(part.content);
    return [{ kind: 'result', id: part.tool_use_id, text, ok: !part.is_error, time }];
  });
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.flatMap((part) => textBlock.safeParse(part).data?.text ?? '[picture]').join('\n');
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
      return reply(at, { type: 'text', text: item.text });
    case 'call': {
      const call = `toolu_${at}`;
      ids.set(item.id, call);
      const { tool, input } = item;
      return reply(at, { type: 'tool_use', id: call, name: writtenToolName(tool), input });
    }
    case 'result': {
      const content = { type: 'tool_result', tool_use_id: ids.get(item.id), content: item.text };
      const message = { role: 'user', content: [{ ...content, is_error: !item.ok }] };
      return { type: 'user', message };
    }
  }
}

const reply = (at: number, content: Fields): Fields => ({
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
