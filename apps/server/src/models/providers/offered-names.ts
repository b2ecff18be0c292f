import {
  byHandPrefix,
  platformPrefix,
  sentenceWithToolNames,
  withToolNames,
  type Message,
} from '@belay/protocol';

type Result = Extract<Message, { role: 'tool' }>['results'][number];

const ownPrefixes = [byHandPrefix, platformPrefix];

/** A growing prompt repeats earlier messages: each is converted once. */
const known = new WeakMap<Message, Message>();

/**
 * A message in which the platform's own words (instructions, errors, notes) use the names of operations as tools.
 * Texts of the user, of files and of commands stay unchanged.
 */
export function withOfferedNames(message: Message): Message {
  const before = known.get(message);
  if (before) return before;
  const made = newMessage(message);
  known.set(message, made);
  return made;
}

function newMessage(message: Message): Message {
  if (message.role === 'system') return { ...message, text: inInstructions(message.text) };
  if (message.role === 'tool') return { ...message, results: message.results.map(inResult) };
  if (message.role === 'user' && ownPrefixes.some((prefix) => message.text.startsWith(prefix)))
    return { ...message, text: sentenceWithToolNames(message.text) };
  return message;
}

/** The user's own guidance comes last, and stays unchanged. */
function inInstructions(text: string): string {
  const end = text.search(/\n\n# (?:Skills|Guidance of this workspace)\n/);
  return end < 0 ? withToolNames(text) : withToolNames(text.slice(0, end)) + text.slice(end);
}

function inResult(result: Result): Result {
  const { output, failed } = result;
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return result;
  const fields = Object.entries(output).map(([name, value]: [string, unknown]) => {
    const isOwn = name === 'note' || (failed && name === 'message');
    return [name, isOwn && typeof value === 'string' ? sentenceWithToolNames(value) : value];
  });
  return { ...result, output: Object.fromEntries(fields) };
}
