import { isPolling, operationNamed } from '@belay/protocol';
import type { CallResult, Conversation, Item, ModelTurn } from './conversation.js';

/** The number of equal replies in a row that counts as stuck, and the number of further ones after the note. */
const repeats = 4;
const alternations = 3;
const failures = 6;
const thoughts = 5;
const afterNote = 3;
const longestPattern = Math.max(repeats, 2 * alternations, failures, thoughts);

/** A reply whose calls all have results; all calls of one reply are one attempt. */
interface Attempt {
  operations: string;
  /** The calls and results without values that differ from run to run; computed on demand, because it may be long. */
  key(): string;
  failed: boolean;
  idle: boolean;
  waits: boolean;
  /** Whether a command of the agent was running: its result may be awaited in any way. */
  besideCommand: boolean;
  notes: readonly string[];
}

/** The note for a model that repeats itself; null if it does not, or was already told about this pattern. */
export function stuckNote({ items, open }: Conversation): string | null {
  // The first results of a reply are not conclusive.
  if (open.length > 0) return null;
  const pattern = patternIn(items);
  if (pattern === null || attemptsFromNote(items, pattern) > 0) return null;
  return `You seem to be going round in circles: ${pattern}. Stop, find out why, and try something different, or ask the user. To wait for a program, run it with terminal.run, and call terminal.read with \`wait\` or \`until\`.`;
}

/** The question to the user if the note about this pattern did not help; otherwise null. */
export function stuckQuestion({ items }: Conversation): string | null {
  const pattern = patternIn(items);
  if (pattern === null || attemptsFromNote(items, pattern) <= afterNote) return null;
  return `The agent is going round in circles: ${pattern}. How should it continue?`;
}

/** The number of replies from the one with the note about a pattern; 0 without one. */
function attemptsFromNote(items: readonly Item[], pattern: string): number {
  let count = 0;
  for (const { notes } of latestAttempts(items)) {
    count++;
    if (notes.some((note) => note.includes(pattern))) return count;
  }
  return 0;
}

function patternIn(items: readonly Item[]): string | null {
  const done = lastThatDoNotWait(items);
  return repetitionIn(done.filter(({ besideCommand }) => !besideCommand)) ?? futilityIn(done);
}

function repetitionIn(done: readonly Attempt[]): string | null {
  const last = done.slice(-repeats);
  const [first] = last;
  if (first && last.length === repeats && last.every((each) => each.key() === first.key())) {
    return `${first.operations} was called ${repeats} times in a row with the same result`;
  }
  const pairs = done.slice(-2 * alternations);
  const [a, b] = pairs;
  if (
    a &&
    b &&
    pairs.length === 2 * alternations &&
    a.key() !== b.key() &&
    pairs.every((each, index) => each.key() === (index % 2 === 0 ? a : b).key())
  ) {
    return `${a.operations} and ${b.operations} take turns with the same results`;
  }
  return null;
}

function futilityIn(done: readonly Attempt[]): string | null {
  const tail = done.slice(-failures);
  if (tail.length === failures && tail.every((each) => each.failed)) {
    return `all calls of the last ${failures} replies failed`;
  }
  const talk = done.slice(-thoughts);
  if (talk.length === thoughts && talk.every((each) => each.idle)) {
    return `the last ${thoughts} replies were only thoughts and plans`;
  }
  return null;
}

function lastThatDoNotWait(items: readonly Item[]): Attempt[] {
  const last: Attempt[] = [];
  for (const attempt of latestAttempts(items)) {
    if (!attempt.waits && last.push(attempt) === longestPattern) break;
  }
  return last.reverse();
}

/** The replies with calls since the user’s last message, newest first. */
function* latestAttempts(items: readonly Item[]): Generator<Attempt> {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index];
    if (item?.kind === 'text' && !item.told) return;
    if (item?.kind === 'turn' && item.turn.results.size > 0) yield attemptOf(item.turn);
  }
}

function attemptOf({ say, results, waits: besideCommand }: ModelTurn): Attempt {
  const calls = say.calls.flatMap(({ id, operation, input }) => {
    const result = results.get(id);
    return result ? [{ operation, input, result }] : [];
  });
  return {
    operations: [...new Set(calls.map(({ operation }) => operation))].join(', '),
    key: () =>
      JSON.stringify(
        calls.map(({ operation, input, result }) => [
          operation,
          input,
          result.ok,
          lasting(result.output),
        ]),
      ),
    failed: calls.every(({ result }) => !result.ok),
    idle: calls.every(({ operation }) => operationNamed(operation)?.idle),
    waits: calls.every(({ operation, input, result }) => waits(operation, input, result)),
    besideCommand,
    notes: calls.flatMap(({ result }) => result.note ?? []),
  };
}

const waits = (operation: string, input: unknown, { output }: CallResult): boolean =>
  isPolling(operation, input) || isRunning(output);

function isRunning(output: unknown): boolean {
  return typeof output === 'object' && output !== null && 'status' in output
    ? output.status === 'running'
    : false;
}

const passing = new Set(['from', 'to', 'seconds', 'omittedBytes', 'time']);

function lasting(output: unknown): unknown {
  if (typeof output !== 'object' || output === null) return output;
  return Object.fromEntries(Object.entries(output).filter(([key]) => !passing.has(key)));
}
