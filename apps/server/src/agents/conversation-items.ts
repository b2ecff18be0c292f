import {
  callOf,
  commandEnding,
  isCall,
  isEvent,
  readableOutput,
  toolNamed,
  undoneMessages,
  userCallPrefix,
  type Event,
  type EventOf,
} from '@belay/protocol';
import type { TranscriptItem } from '../transcripts/agent-transcript.js';
import type { AgentWithTranscripts } from './agent-entry.js';

type Speaker = Pick<AgentWithTranscripts, 'name' | 'transcripts'>;

/**
 * The conversation in a log, with calls as this agent’s model knows them. Without what was rewound, messages that no
 * agent has taken, calls of users, thoughts, and what Belay told the model by itself.
 */
export function conversationItems(log: readonly Event[], speaker: Speaker): TranscriptItem[] {
  const isUndone = undoneMessages(log);
  const waiting = new Map<number, Event & EventOf<'message'>>();
  const texts = new Map<number, string>();
  const said = ({ seq, args, time }: Event & EventOf<'message'>): TranscriptItem => ({
    kind: 'user',
    text: texts.get(seq) ?? args.text,
    time,
  });
  let hasTask = false;
  return log.flatMap((event): TranscriptItem[] => {
    if (isUndone(event)) return [];
    if (isEvent(event, 'edit')) texts.set(event.args.message, event.args.text);
    else if (isEvent(event, 'start')) {
      const isTask = !hasTask;
      hasTask = true;
      return isTask ? [{ kind: 'user', text: event.args.task, time: event.time }] : [];
    } else if (isEvent(event, 'message')) {
      if (event.args.delivery !== 'queue') return [said(event)];
      waiting.set(event.seq, event);
    } else if (isEvent(event, 'deliver')) {
      const taken = [...new Set(event.args.messages)].flatMap((seq) => waiting.get(seq) ?? []);
      for (const { seq } of taken) waiting.delete(seq);
      return taken.map(said);
    } else return partsOfReply(event, speaker);
    return [];
  });
}

function partsOfReply(event: Event, speaker: Speaker): TranscriptItem[] {
  const { id, action, time } = event;
  if (isEvent(event, 'say')) return [{ kind: 'assistant', text: event.args.text, time }];
  if (id === undefined || id.startsWith(userCallPrefix)) return [];
  if (isEvent(event, 'result')) {
    const text = [readableOutput(event.args), commandEnding(event.args)].filter(Boolean).join('\n');
    return [{ kind: 'result', id, text, ok: event.args.ok, time }];
  }
  return isCall(action) ? [{ kind: 'call', id, ...calledTool(event, speaker), time }] : [];
}

function calledTool(
  event: Event,
  { name, transcripts }: Speaker,
): { tool: string; input: Record<string, unknown> } {
  const run = callOf(event, 'terminal.run');
  if (run) return transcripts.format.shell(run.args.command);
  const { action, args } = event;
  const own = toolNamed(action);
  return { tool: own?.agent === name ? own.name : action, input: args };
}
