import {
  actionOutput,
  errorCodes,
  mcpOutput,
  type ActionOutput,
  type AppError,
} from '@belay/protocol';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { BlobStore } from '../../logs/blob-store.js';
import { blobUri, storedFile } from './mcp-resources.js';

/** Pictures and sounds that are sent along; the others are links. */
const maxMedia = 4;

type Content = CallToolResult['content'][number];
type File = ActionOutput['files'][number];

interface Succeeded {
  output: unknown;
  /** Empty for a call without a session. */
  session: string;
  /** Pictures in the output. */
  images: readonly string[];
}

/** The files in the outputs of actions and MCP tools. */
const withFiles = actionOutput
  .pick({ files: true, audio: true })
  .partial()
  .extend(mcpOutput.pick({ full: true }).shape);

/**
 * The text is the structured content as JSON, as the protocol recommends: a client that knows both shows its model one
 * of them. Pictures and sounds follow, each once, and links to all other files.
 */
export async function toolResult(
  blobs: BlobStore,
  { output, session, images }: Succeeded,
): Promise<CallToolResult> {
  const structuredContent = { ...Object(output) } as Record<string, unknown>;
  const { files = [], audio = [], full } = withFiles.safeParse(output).data ?? {};
  const media = [...new Set([...images, ...audio])].slice(0, maxMedia);
  const link = ({ name: title, type: mimeType, blob, bytes: size }: File): Content => ({
    type: 'resource_link',
    uri: blobUri(session, blob),
    name: title,
    mimeType,
    size,
  });
  const links = files.filter(({ blob }) => !media.includes(blob)).map(link);
  const whole: Content[] = full
    ? [{ type: 'resource_link', uri: blobUri(session, full), name: 'whole output' }]
    : [];
  const shown = await Promise.all(media.map((blob) => mediaOf(blobs, session, blob)));
  const text = JSON.stringify(structuredContent);
  return {
    content: [{ type: 'text', text }, ...shown, ...links, ...whole],
    structuredContent,
  };
}

async function mediaOf(blobs: BlobStore, session: string, blob: string): Promise<Content> {
  const { type: mimeType, bytes } = await storedFile(blobs, session, blob);
  const data = bytes.toString('base64');
  return { type: mimeType.startsWith('audio/') ? 'audio' : 'image', mimeType, data };
}

/** Clients check structured content by the output schema, also that of an error: so the problem is in `_meta`. */
export const toolFailure = ({ code, message }: AppError): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: message }],
  _meta: { 'belay/problem': { code, status: errorCodes[code].http, detail: message } },
});
