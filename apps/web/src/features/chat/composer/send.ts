import type { NewMessage, SessionSummary } from '@belay/protocol';
import { askFork } from '@/features/session-controls/fork-request';
import { summaryNow } from '@/features/session-log/summaries';
import { toBase64 } from '@/lib/base64';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import { pictureFor } from './picture';
import type { Attachment } from './use-attachments';

/** What can be written after `/`, with what it does. */
export const slashCommands: Record<
  string,
  { title: string; run(session: SessionSummary, rest: string): Promise<unknown> }
> = {
  pause: { title: 'Pause after this call', run: ({ id }) => client.sessions.pause(id) },
  resume: { title: 'Resume the session', run: ({ id }) => client.sessions.resume(id) },
  stop: { title: 'Stop the session', run: ({ id }) => client.sessions.stop(id) },
  restart: { title: 'Restart from the log', run: ({ id }) => client.sessions.restart(id) },
  fork: {
    title: 'Fork into a new session',
    run: async (session) => askFork(session, session.lastSeq),
  },
  pin: {
    title: 'Send a message that is never compacted',
    run: ({ id }, rest) => client.sessions.message(id, { text: rest, pinned: true }),
  },
  ask: {
    title: 'Ask before each risky call',
    run: ({ id }) => client.sessions.change(id, { approvals: 'ask' }),
  },
  delay: {
    title: 'Run calls after 2 s',
    run: ({ id }) => client.sessions.change(id, { approvals: 'delay' }),
  },
  auto: {
    title: 'Run calls at once',
    run: ({ id }) => client.sessions.change(id, { approvals: 'auto' }),
  },
  trust: {
    title: 'Trust AGENTS.md',
    run: ({ id }) => client.sessions.call(id, 'workspace.trust', {}),
  },
};

/** Runs a line such as `/pause`; false when it is a message. */
export async function runSlashCommand(id: string, text: string): Promise<boolean> {
  const [, name = '', rest = ''] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  const command = Object.hasOwn(slashCommands, name) ? slashCommands[name] : undefined;
  const session = summaryNow(id);
  if (!command || !session) return false;
  await command.run(session, rest);
  toast(command.title);
  return true;
}

/** Sends a message: pictures go beside it, other files into the workspace, named by their paths. */
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
