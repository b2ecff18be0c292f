import { modelFields } from '../calls.js';
import { isFields } from '../is-fields.js';
import type { Message } from '../models.js';

type Result = Extract<Message, { role: 'tool' }>['results'][number];
/** Quotes, and characters that escapes add. */
const mostEscapes = 6;

type Fields = Record<string, unknown>;

/**
 * A result as text for the model: short fields as JSON, which comes first so that later text cannot forge it; then
 * texts, unescaped, and lists of similar items as lines.
 */
export function resultText({ operation, output }: Pick<Result, 'operation' | 'output'>): string {
  if (typeof output === 'string') return output;
  if (!isFields(output)) return JSON.stringify(output ?? null);
  const short: Fields = {};
  const blocks: string[] = [];
  const { fields, numbered } = modelFields(operation, output);
  for (const [name, value] of Object.entries(fields)) {
    const block = name === numbered ? String(value) : inLines(value);
    if (block) blocks.push(`${name}:\n${block}`);
    else short[name] = value;
  }
  const head = Object.keys(short).length > 0 || blocks.length === 0 ? [JSON.stringify(short)] : [];
  return [...head, ...blocks].join('\n\n');
}

function inLines(value: unknown): string | undefined {
  if (typeof value === 'string')
    return value.includes('\n') || isEscaped(value) ? value : undefined;
  return Array.isArray(value) ? table(value) : undefined;
}

/** Whether a text is much harder to read as JSON. */
const isEscaped = (text: string): boolean =>
  JSON.stringify(text).length - text.length > mostEscapes;

/** Undefined unless all rows have the same simple fields. */
function table(rows: unknown[]): string | undefined {
  const [first] = rows;
  if (rows.length < 2 || !isFields(first)) return undefined;
  const names = Object.keys(first);
  const lines = rows.map((row) => (isFields(row) ? line(row, names) : undefined));
  if (names.length === 0 || lines.includes(undefined)) return undefined;
  return [names.join('\t'), ...lines].join('\n');
}

function line(row: Fields, names: string[]): string | undefined {
  if (Object.keys(row).join() !== names.join()) return undefined;
  const values = names.map((name) => row[name]);
  if (values.some((value) => typeof value === 'object' && value !== null)) return undefined;
  return values.map((value, index) => cell(value, index === names.length - 1)).join('\t');
}

/** The last cell ends its line, so tabs in it do not matter. */
function cell(value: unknown, isLast: boolean): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (isLast ? /[\n\r]/ : /[\n\r\t]/).test(text) ? JSON.stringify(text) : text;
}
