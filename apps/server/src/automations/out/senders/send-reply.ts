import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { ownText, type Sender } from './sender.js';

export const replyContent = z.object({ thread: z.string(), body: z.string() });

/** One reply of a run in each thread. */
export const sendReply: Sender = async (context) => {
  const { forge, subject, row } = context;
  const { thread: id, body } = replyContent.parse(JSON.parse(row.content));
  const thread = (await forge.threads(subject.number)).find((one) => one.id === id);
  if (!thread)
    throw new AppError(
      'not_found',
      'The pull request has no such thread, or it was removed: nothing was answered.',
    );
  const sent = await ownText(thread.comments, context);
  if (sent) return { id: sent.id, url: sent.url };
  return forge.reply(subject.number, thread, body);
};
