import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import type { ServerConnection } from '../../server-connection.js';
import type { TextItem } from '../../loop/conversation.js';

interface PromptOptions {
  connection: Pick<ServerConnection, 'call'>;
  /** Whether the program takes pictures; otherwise they become files. */
  takesPictures: boolean;
}

/** Where pictures are put for a program that reads files only. */
const pictureFolder = '/tmp/belay-pictures';

/** Texts with their pictures as a prompt. */
export async function promptBlocks(
  items: readonly Pick<TextItem, 'text' | 'images'>[],
  options: PromptOptions,
): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = [];
  for (const { text, images } of items) {
    blocks.push({ type: 'text', text });
    for (const blob of images) blocks.push(await picture(blob, options));
  }
  return blocks;
}

async function picture(
  blob: string,
  { connection, takesPictures }: PromptOptions,
): Promise<ContentBlock> {
  const { type, bytes } = await connection.call('blobs.get', { blob });
  if (takesPictures)
    return { type: 'image', mimeType: type, data: Buffer.from(bytes).toString('base64') };
  const extension = /^image\/([a-z0-9]+)/.exec(type)?.[1] ?? 'bin';
  const path = join(pictureFolder, `${blob}.${extension}`);
  mkdirSync(pictureFolder, { recursive: true });
  writeFileSync(path, bytes);
  return { type: 'text', text: `The user attached a picture: ${path}` };
}
