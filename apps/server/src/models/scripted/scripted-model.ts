import { setTimeout as delay } from 'node:timers/promises';
import {
  AppError,
  operationNamed,
  type Message,
  type ModelRequest,
  type OperationCall,
} from '@belay/protocol';
import { z } from 'zod';
import type { Model, GenerateOptions, ModelOutput } from '../model.js';
import { readScript, type Script, type ScriptTurn } from './script.js';

/**
 * Plays a script: no key, no network, always the same. The next turn depends only on the conversation, so a restarted
 * server or agent continues, and a rewound session plays its turns again.
 */
export function scriptedModel(file: string, name = file): Model {
  return {
    async generate(request, call) {
      const script = await readScript(file, name);
      const played = turnsPlayed(request.messages);
      if (request.purpose === 'compact') return summary(request, played);
      const next = nextTurn(script, { played, messages: request.messages });
      const turn = script.turns[next];
      if (!turn) return afterTheEnd(request, { script, name, played });
      checkExpectation(turn, request.messages, `turn ${next + 1} of the script ${name}`);
      await stream(turn.reason, { kind: 'reasoning', pace: script.pace, call });
      await stream(turn.say, { kind: 'text', pace: script.pace, call });
      return {
        text: turn.say ?? '',
        ...(turn.reason && { reasoning: turn.reason }),
        ...callsOf(turn, next),
        usage: estimate(request, turn.say ?? ''),
        contextTokens,
        opaque: { scripted: next },
      };
    },
  };
}

/** The index of the next turn whose condition matches the last results; past the end if there is none. */
function nextTurn(
  { turns }: Script,
  { played, messages }: { played: number; messages: Message[] },
): number {
  const results = lastResults(messages);
  // A finish that was refused is repeated at the end of the script.
  const last = turns.length - 1;
  if (played > last && turns[last]?.finish && isEndRefused(messages)) return last;
  const found = turns.findIndex(
    ({ when }, index) =>
      index >= played && (when === undefined || new RegExp(when, 's').test(results)),
  );
  return found < 0 ? Math.max(played, turns.length) : found;
}

const isEndRefused = (messages: readonly Message[]): boolean => {
  const last = messages.findLast((message) => message.role === 'tool');
  return (last?.results ?? []).some(
    ({ operation, failed }) => failed && operationNamed(operation)?.display === 'ending',
  );
};

/** The window of a typical model, so that meters show a value. */
const contextTokens = 200_000;

const scriptedReply = z.object({ scripted: z.int() });
const scriptedSummary = /\[(\d+) turns of the script are played\]/;

/** The newest reply contains its turn; after a compaction that dropped it, the summary does. */
function turnsPlayed(messages: Message[]): number {
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant') {
      const reply = scriptedReply.safeParse(message.opaque);
      if (reply.success) return reply.data.scripted + 1;
    } else if (message.role !== 'tool') {
      const told = scriptedSummary.exec(message.text)?.[1];
      if (told !== undefined) return Number(told);
    }
  }
  return messages.filter(({ role }) => role === 'assistant').length;
}

function checkExpectation(turn: ScriptTurn, messages: Message[], where: string): void {
  if (turn.expect === undefined) return;
  const json = lastResults(messages);
  if (new RegExp(turn.expect, 's').test(json)) return;
  throw new AppError(
    'model_failed',
    `The results do not match what ${where} expects: /${turn.expect}/ against ${shortened(json)}`,
  );
}

function lastResults(messages: Message[]): string {
  const last = messages.findLast((message) => message.role === 'tool');
  return JSON.stringify(
    (last?.results ?? []).map(({ operation, failed, output }) => ({ operation, failed, output })),
  );
}

function callsOf(turn: ScriptTurn, played: number): Pick<ModelOutput, 'calls' | 'finish'> {
  const wanted = turn.finish ? [{ operation: 'finish', input: turn.finish }] : (turn.calls ?? []);
  const calls = wanted.map(({ operation, input }, index): OperationCall => ({
    id: `turn-${played + 1}-${index + 1}`,
    operation,
    input,
  }));
  return { calls, finish: calls.length > 0 ? 'calls' : 'stop' };
}

/** The user may continue talking to a finished demo; a script that ran out before its end is an error. */
function afterTheEnd(
  request: ModelRequest,
  { script, name, played }: { script: Script; name: string; played: number },
): ModelOutput {
  const turns = script.turns.length;
  if (!script.turns.at(-1)?.finish) {
    throw new AppError('model_failed', `The script ${name} has ${turns} turns and ends there.`);
  }
  const text = `This script has ${turns} turns, and all were played. Start a session with a real model to continue.`;
  return {
    text,
    calls: [],
    finish: 'stop',
    usage: estimate(request, text),
    contextTokens,
    opaque: { scripted: played },
  };
}

function summary(request: ModelRequest, played: number): ModelOutput {
  const text = `The conversation so far followed a script. [${played} turns of the script are played]`;
  return { text, calls: [], finish: 'stop', usage: estimate(request, text), contextTokens };
}

async function stream(
  text: string | undefined,
  { kind, pace, call }: { kind: 'text' | 'reasoning'; pace: number; call: GenerateOptions },
): Promise<void> {
  for (const piece of text?.match(/\s*\S{1,12}\s*/g) ?? []) {
    call.signal.throwIfAborted();
    call.delta(kind, piece);
    if (pace > 0) await delay(pace, undefined, { signal: call.signal });
  }
}

/** Four characters count as a token, so that meters change; nothing is charged. */
function estimate(request: ModelRequest, text: string): ModelOutput['usage'] {
  const input = Math.ceil(JSON.stringify(request.messages).length / 4);
  return { input, cached: 0, cacheWrite: 0, output: Math.ceil(text.length / 4), dollars: 0 };
}

const shortened = (json: string): string =>
  json.length > 2_000 ? `${json.slice(0, 1_000)} … ${json.slice(-1_000)}` : json;
