import type { WireFormatName } from '@belay/protocol';
import type { Refusal, HeldCall } from './held-call.js';

/** One reply of the model whose calls are decided on. */
export interface JudgedReply {
  session: string;
  format: WireFormatName;
  /** The tools that the request offers. */
  offered: readonly string[];
  /** The client is gone, or the session has ended. */
  signal: AbortSignal;
}

/** How a client whose reply is held is kept alive: an event or comment of SSE that it ignores, or an empty line. */
export type PingKind = 'ping' | 'event' | 'comment' | 'line';

/** Decides on the calls of programs. Agents differ in their tools, so it knows them. */
export interface CallJudge {
  pingOf(reply: Pick<JudgedReply, 'session'>): Promise<PingKind | undefined>;
  /** `id` names the call in the log. Rejects when the session has ended meanwhile. */
  decide(reply: JudgedReply, call: HeldCall): Promise<{ id: string; refusal: Refusal | null }>;
  /** The program has the whole reply. */
  delivered(reply: JudgedReply): void;
  /** The program has not got the calls with these keys, and asks its model for them again. */
  brokeOff(reply: JudgedReply, calls: readonly string[]): void;
}

const pings: Readonly<Record<PingKind, string>> = {
  ping: 'event: ping\ndata: {"type": "ping"}\n\n',
  event: 'data: {"type":"belay.ping"}\n\n',
  comment: ': belay\n\n',
  line: '\n',
};

const usualPings: Readonly<Record<WireFormatName, PingKind>> = {
  messages: 'ping',
  responses: 'comment',
  chat: 'comment',
  gemini: 'line',
};

/** What keeps a client alive between two frames. */
export const pingFrame = (format: WireFormatName, kind: PingKind = usualPings[format]): string =>
  pings[kind];
