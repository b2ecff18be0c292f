import { platformPrefix, resultText } from '@belay/protocol';
import type { Item } from '../loop/conversation.js';

/** The newest part of a conversation that a program is told, in characters. */
const mostCharacters = 60_000;
/** The characters of one result in it. */
const mostOfResult = 2_000;

/** A conversation as text, for a program that does not know it; empty if nothing was said in it. */
export function transcript(items: readonly Item[]): string {
  const parts = items.flatMap(partsOf);
  if (!parts.some(({ isReply }) => isReply)) return '';
  const text = parts.map((part) => part.text).join('\n\n');
  const kept = text.length > mostCharacters ? `…${text.slice(-mostCharacters)}` : text;
  return `${platformPrefix}You continue the work of another agent. The workspace is as it left it. Its conversation so far:\n\n<transcript>\n${kept}\n</transcript>`;
}

interface Part {
  text: string;
  isReply: boolean;
}

function partsOf(item: Item): Part[] {
  if (item.kind === 'text') {
    const text = item.byUser ? `The user: ${item.text}` : item.text;
    return [{ text, isReply: item.told === true }];
  }
  if (item.kind === 'summary') return [{ text: item.summary, isReply: true }];
  if (item.kind !== 'turn') return [];
  const { say, results } = item.turn;
  const said = say.text ? [`The agent: ${say.text}`] : [];
  const calls = say.calls.map(({ id, operation, input }) => {
    const result = results.get(id);
    const output = result ? resultText(result).slice(0, mostOfResult) : 'not run';
    return `The agent called ${operation} ${JSON.stringify(input).slice(0, mostOfResult)}:\n${output}`;
  });
  return [...said, ...calls].map((text) => ({ text, isReply: true }));
}
