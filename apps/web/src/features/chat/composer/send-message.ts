import type { NewMessage } from '@belay/protocol';
import { toBase64 } from '@/lib/base64';
import { client } from '@/lib/server';
import { uploadPicture } from './picture';
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
    const picture = await uploadPicture(file);
    if (picture === null) paths.push(await putIntoWorkspace(id, file));
    else images.push(picture);
  }
  const text = [message.text, ...paths.map((path) => `@${path}`)].filter(Boolean).join('\n');
  await client.sessions.message(id, { ...message, text: text || 'See the picture.', images });
}

async function putIntoWorkspace(id: string, file: File): Promise<string> {
  const path = `attachments/${file.name.replace(/[^\w.-]+/g, '-')}`;
  await client.sessions.call(id, 'files.write', {
    path,
    content: toBase64(new Uint8Array(await file.arrayBuffer())),
    encoding: 'base64',
  });
  return path;
}
