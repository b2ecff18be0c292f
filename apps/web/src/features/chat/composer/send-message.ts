import type { NewMessage } from '@belay/protocol';
import { toBase64 } from '@/lib/base64';
import { client } from '@/lib/server';
import { pictureFor } from './picture';
import type { Attachment } from './use-attachments';

/** Sends a message with pictures; other files are put into the workspace and named in the text. */
export async function sendMessage(
  id: string,
  message: Partial<NewMessage> & { text: string },
  attachments: readonly Attachment[],
): Promise<void> {
  const images: string[] = [];
  const paths: string[] = [];
  for (const { file } of attachments) {
    const picture = await pictureFor(file);
    if (picture)
      images.push((await client.uploads.blob(await bytesOf(picture), picture.type)).blob);
    else paths.push(await putIntoWorkspace(id, file.name, await bytesOf(file)));
  }
  const text = [message.text, ...paths.map((path) => `@${path}`)].filter(Boolean).join('\n');
  await client.sessions.message(id, { ...message, text: text || 'See the picture.', images });
}

const bytesOf = async (blob: Blob) => new Uint8Array(await blob.arrayBuffer());

async function putIntoWorkspace(id: string, name: string, content: Uint8Array): Promise<string> {
  const path = `attachments/${name.replace(/[^\w.-]+/g, '-')}`;
  await client.sessions.call(id, 'files.write', {
    path,
    content: toBase64(content),
    encoding: 'base64',
  });
  return path;
}
