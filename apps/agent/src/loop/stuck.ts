import type { Answer, Conversation, Item } from './conversation.js';

/** How often the same must happen before it counts as stuck, and how often more after the model was told. */
const repeats = 4;
const alternations = 3;
const errors = 6;
const thoughts = 5;
const afterNote = 3;

interface Done {
  operation: string;
  /** The call and its result, without what differs from run to run; made when asked for, as it may be long. */
  key(): string;
  failed: boolean;
  waits: boolean;
  noted: boolean;
}

/** What the model is told when it goes round in circles; null when it does not, or was told already. */
export function stuckNote(conversation: Conversation): string | null {
  const done = sinceLastWord(conversation.items);
  if (done.some((call) => call.noted)) return null;
  const pattern = patternOf(done);
  return (
    pattern &&
    `You seem to be going round in circles: ${pattern}. Stop, find out why, and try something different, or ask the person.`
  );
}

/** What the person is asked when telling the model did not help; null otherwise. */
export function stuckQuestion(conversation: Conversation): string | null {
  const done = sinceLastWord(conversation.items);
  const noted = done.findLastIndex((call) => call.noted);
  if (noted < 0 || done.length - noted <= afterNote) return null;
  const pattern = patternOf(done);
  return pattern && `The agent goes round in circles: ${pattern}. How should it go on?`;
}

function patternOf(all: Done[]): string | null {
  const done = all.filter((call) => !call.waits);
  const last = done.slice(-repeats);
  const [first] = last;
  if (first && last.length === repeats && last.every((call) => call.key() === first.key())) {
    return `${first.operation} was called ${repeats} times in a row with the same result`;
  }
  const pairs = done.slice(-2 * alternations);
  const [a, b] = pairs;
  if (
    a &&
    b &&
    pairs.length === 2 * alternations &&
    a.key() !== b.key() &&
    pairs.every((call, index) => call.key() === (index % 2 === 0 ? a : b).key())
  ) {
    return `${a.operation} and ${b.operation} take turns with the same results`;
  }
  const tail = done.slice(-errors);
  if (tail.length === errors && tail.every((call) => call.failed)) {
    return `the last ${errors} calls all failed`;
  }
  const talk = done.slice(-thoughts);
  if (talk.length === thoughts && talk.every((call) => idle.has(call.operation))) {
    return `the last ${thoughts} calls were only thoughts and plans`;
  }
  return null;
}

const idle = new Set(['think', 'plan.update']);
/** These wait or look, again and again, for something that is still going on. */
const lookers = new Set(['terminal.read', 'browser.wait', 'system.time']);

/** A word of the person makes a new beginning. */
function sinceLastWord(items: readonly Item[]): Done[] {
  const start = items.findLastIndex((item) => item.kind === 'text');
  return items.slice(start + 1).flatMap((item) => {
    if (item.kind !== 'turn') return [];
    const { say, results } = item.turn;
    return say.calls.flatMap((call) => {
      const answer = results.get(call.id);
      return answer ? [done(call.operation, call.input, answer)] : [];
    });
  });
}

function done(operation: string, input: unknown, answer: Answer): Done {
  return {
    operation,
    key: () => JSON.stringify([operation, input, answer.ok, lasting(answer.output)]),
    failed: !answer.ok,
    waits: lookers.has(operation) || isPause(operation, input) || isRunning(answer.output),
    noted: answer.note !== undefined,
  };
}

/** Such as `sleep 30` while something runs in the background. */
function isPause(operation: string, input: unknown): boolean {
  if (operation !== 'terminal.run' || typeof input !== 'object' || input === null) return false;
  return 'command' in input && /^\s*sleep\s+[\d.]+[smh]?\s*$/.test(String(input.command));
}

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
