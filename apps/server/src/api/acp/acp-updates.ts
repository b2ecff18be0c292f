import {
  calledOperation,
  commandEnding,
  isEvent,
  isStarted,
  pathsOf,
  planStep,
  readableOutput,
  summaryOf,
  type Display,
  type Event,
  type EventOf,
  type Operation,
} from '@belay/protocol';
import type { SessionUpdate, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { FileHunk } from './file-hunks.js';

/** Characters of one text; the dashboard has the rest. */
const maxText = 20_000;

/** Converts the events of one session to ACP updates. */
export class AcpUpdates {
  /** The content shown for each call so far, because an update replaces all of it. */
  readonly #shown = new Map<string, ToolCallContent[]>();
  /** Calls without a result. */
  readonly #open = new Set<string>();

  /** `folder` holds the files on the editor’s side. */
  constructor(private readonly folder: string) {}

  /** `media`: the pictures and sounds of the event’s result. */
  of(event: Event, media: readonly ToolCallContent[] = []): SessionUpdate[] {
    if (isEvent(event, 'say')) return this.#spoken(event.args);
    if (isEvent(event, 'message')) return [messageChunk('user_message_chunk', event.args.text)];
    if (isEvent(event, 'edit'))
      return [messageChunk('user_message_chunk', `Edited: ${event.args.text}`)];
    if (isEvent(event, 'withdraw')) return [messageChunk('user_message_chunk', event.message)];
    if (isEvent(event, 'plan')) return [planOf(event.args.markdown)];
    if (isResult(event)) return this.#result(event, media);
    if (isEvent(event, 'start') && !event.args.again) {
      return [messageChunk('user_message_chunk', event.args.task)];
    }
    const operation = calledOperation(event.action);
    return operation && event.id !== undefined ? this.#call(operation, event, event.id) : [];
  }

  /** The end of a running call’s output; its result replaces it. */
  running(call: string, text: string): SessionUpdate[] {
    const content = [...(this.#shown.get(call) ?? []), textContent(text)];
    return [{ sessionUpdate: 'tool_call_update', toolCallId: call, content }];
  }

  /** The session has ended: calls that are still open will have no result. */
  ended(): SessionUpdate[] {
    const open = [...this.#open];
    this.#open.clear();
    return open.map((toolCallId) => ({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: 'failed',
      content: [
        ...(this.#shown.get(toolCallId) ?? []),
        textContent('The session ended before this call had a result.'),
      ],
    }));
  }

  /** The files that a call has changed, in the form that editors show. */
  diffs(call: string, diffs: readonly FileHunk[]): SessionUpdate[] {
    if (diffs.length === 0) return [];
    const content = diffs.map(({ path, oldText, newText }): ToolCallContent => {
      return { type: 'diff', path: this.#place(path), oldText, newText };
    });
    const all = [...(this.#shown.get(call) ?? []), ...content];
    this.#shown.set(call, all);
    const locations = [...new Set(diffs.map(({ path }) => path))].map((path) => ({
      path: this.#place(path),
    }));
    return [{ sessionUpdate: 'tool_call_update', toolCallId: call, content: all, locations }];
  }

  #spoken({ text, reasoning }: { text: string; reasoning?: string | undefined }): SessionUpdate[] {
    return [
      ...(reasoning ? [replyChunk('reasoning', reasoning)] : []),
      ...(text ? [replyChunk('text', text)] : []),
    ];
  }

  #call(operation: Operation, event: Event, id: string): SessionUpdate[] {
    if (operation.display === 'event') return [];
    const { args } = event;
    const words = summaryOf(operation.name, args).slice(0, 300);
    // The answer to a question and the final summary are shown as text.
    if (operation.display === 'question' || operation.display === 'ending') {
      const text = wordsOf(operation.display, args);
      return text ? [messageChunk('agent_message_chunk', text)] : [];
    }
    if (operation.display === 'thought') {
      const { thought } = args;
      return typeof thought === 'string' ? [messageChunk('agent_thought_chunk', thought)] : [];
    }
    this.#open.add(id);
    const paths = pathsOf(operation, operation.input.safeParse(args).data ?? args);
    return [
      {
        sessionUpdate: 'tool_call',
        toolCallId: id,
        title: words ? `${operation.title}: ${words}` : operation.title,
        kind: kindOf(operation),
        status: 'in_progress',
        locations: paths.map((path) => ({ path: this.#place(path) })),
        rawInput: args,
      },
    ];
  }

  #result({ id, args }: ResultEvent, media: readonly ToolCallContent[]) {
    const operation = calledOperation(args.operation);
    const isShown = operation && !hidden.has(operation.display);
    // The result of a call in the background follows.
    if (id === undefined || !isShown || isStarted(args)) return [];
    this.#open.delete(id);
    const text = [readableOutput(args), commandEnding(args)].filter(Boolean).join('\n');
    const words = [
      ...(this.#shown.get(id) ?? []),
      ...(text ? [textContent(text.slice(0, maxText))] : []),
    ];
    // Without the media, of which a long session has too many to keep.
    this.#shown.set(id, words);
    const status = args.ok ? ('completed' as const) : ('failed' as const);
    const content = [...words, ...media];
    return [{ sessionUpdate: 'tool_call_update' as const, toolCallId: id, status, content }];
  }

  #place(path: string): string {
    return path.startsWith('/') ? path : `${this.folder.replace(/\/$/, '')}/${path}`;
  }
}

const hidden: ReadonlySet<Display> = new Set<Display>(['event', 'question', 'ending', 'thought']);

const textContent = (text: string): ToolCallContent => ({
  type: 'content',
  content: { type: 'text', text },
});

/** The question of `ask` with the answers that it offers, or the final summary. */
function wordsOf(display: Display, args: Event['args']): string {
  if (display === 'ending') return endingArgs.safeParse(args).data?.summary ?? '';
  const { question = '', options = [] } = questionArgs.safeParse(args).data ?? {};
  const list = options.map((option) => `- ${option}`).join('\n');
  return list ? `${question}\n\n${list}` : question;
}

const endingArgs = z.object({ summary: z.string() });
const questionArgs = z.object({ question: z.string(), options: z.array(z.string()).optional() });

type ResultEvent = Event & EventOf<'result' | 'background-result'>;

export const isResult = (event: Event): event is ResultEvent =>
  isEvent(event, 'result') || isEvent(event, 'background-result');

const kinds: Partial<Record<Display, ToolKind>> = {
  command: 'execute',
  terminal: 'execute',
  file: 'read',
  edit: 'edit',
  page: 'fetch',
};

const kindOf = ({ display, risk }: Operation): ToolKind =>
  kinds[display] ?? (risk === 'network' ? 'fetch' : risk === 'read' ? 'read' : 'other');

type Chunk = 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk';

export const messageChunk = (sessionUpdate: Chunk, text: string): SessionUpdate => ({
  sessionUpdate,
  content: { type: 'text', text },
});

export const replyChunk = (kind: 'text' | 'reasoning', text: string): SessionUpdate =>
  messageChunk(kind === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk', text);

function planOf(markdown: string): SessionUpdate {
  const steps = markdown.split('\n').flatMap((line) => planStep(line) ?? []);
  const first = steps.find(({ done }) => !done);
  const entries = steps.map((step) => ({
    content: step.text,
    priority: 'medium' as const,
    status: step.done
      ? ('completed' as const)
      : step === first
        ? ('in_progress' as const)
        : ('pending' as const),
  }));
  return { sessionUpdate: 'plan', entries };
}
