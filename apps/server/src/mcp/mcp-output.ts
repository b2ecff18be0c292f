import { isDeepStrictEqual } from 'node:util';
import { AppError, type McpOutput } from '@belay/protocol';
import type { CallToolResult } from './mcp.client.js';

/** Characters of a result shown to the model; the rest is stored beside the log. */
const most = 30_000;

type Content = CallToolResult['content'][number];
type PutBlob = (bytes: Uint8Array, type: string) => Promise<string>;

/** The text of a result for the model. Throws `tool_failed` when the tool reports an error. */
export async function toMcpOutput(result: CallToolResult, putBlob: PutBlob): Promise<McpOutput> {
  const text = result.content.map(textOf).filter(Boolean).join('\n');
  if (result.isError) {
    throw new AppError('tool_failed', cut(text) || 'The tool failed without a reason.');
  }
  const images = await imagesIn(result.content, putBlob);
  const shown = { ...(images.length > 0 && { images }) };
  const structuredContent = tellsMore(result);
  const whole = structuredContent
    ? [text, JSON.stringify(structuredContent, null, 2)].filter(Boolean).join('\n')
    : text;
  if (whole.length <= most)
    return { text, ...(structuredContent && { structuredContent }), ...shown };
  const full = await putBlob(Buffer.from(whole), 'text/plain');
  return { text: cut(whole), omittedCharacters: whole.length - most, full, ...shown };
}

/** Without structured content that only repeats the text, which servers send for clients that do not read it. */
function tellsMore({ structuredContent, content }: CallToolResult) {
  if (!structuredContent) return undefined;
  const texts = content.map((part) => (part.type === 'text' ? part.text : undefined));
  // Python’s SDKs wrap results that are not objects.
  const { result, ...others } = structuredContent;
  const wrapped = Object.keys(others).length === 0 ? [result] : [];
  const isRepeated = [structuredContent, ...wrapped].some((value) => isSaidBy(texts, value));
  return isRepeated ? undefined : structuredContent;
}

/** Whether the texts are a value: one text the whole of it, or one for each of its items. */
function isSaidBy(texts: readonly (string | undefined)[], value: unknown): boolean {
  if (texts.length === 1 && isSame(texts[0], value)) return true;
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  return (
    items.length > 0 &&
    items.length === texts.length &&
    items.every((item, index) => isSame(texts[index], item))
  );
}

function isSame(text: string | undefined, value: unknown): boolean {
  if (text === undefined) return false;
  if (text === value) return true;
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false;
  }
}

function textOf(part: Content): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'resource_link':
      return `[${part.title ?? part.name}: ${part.uri}]`;
    case 'resource': {
      const { uri, mimeType = 'unknown type' } = part.resource;
      if ('text' in part.resource) return part.resource.text;
      return isImage(mimeType) ? '' : `[${uri} of ${mimeType}, which cannot be shown here]`;
    }
    case 'audio':
      return `[audio of ${part.mimeType}, which cannot be shown here]`;
    default:
      return '';
  }
}

async function imagesIn(content: readonly Content[], putBlob: PutBlob): Promise<string[]> {
  const pictures = content.flatMap((part) => {
    if (part.type === 'image') return { data: part.data, type: part.mimeType };
    if (part.type !== 'resource' || !('blob' in part.resource)) return [];
    const { blob, mimeType = '' } = part.resource;
    return isImage(mimeType) ? { data: blob, type: mimeType } : [];
  });
  return Promise.all(pictures.map(({ data, type }) => putBlob(Buffer.from(data, 'base64'), type)));
}

/** The image types that providers and browsers support. */
const isImage = (type = ''): boolean => /^image\/(png|jpeg|gif|webp)$/.test(type);

/** Keeps the beginning and the end. */
function cut(text: string): string {
  if (text.length <= most) return text;
  const half = most / 2;
  const left = text.length - most;
  return `${text.slice(0, half)}\n… ${left} characters left out …\n${text.slice(-half)}`;
}
