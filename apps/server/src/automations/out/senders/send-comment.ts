import { AppError } from '@belay/protocol';
import { z } from 'zod';
import type { ForgeText } from '../../forges/forge.js';
import { ownText, type SendContext, type Sender } from './sender.js';

export const commentContent = z.object({ body: z.string() });

/** Makes the one comment of a run say this: an earlier one is edited. */
export const sendComment: Sender = async (context) => {
  const { forge, subject, row } = context;
  const { body } = commentContent.parse(JSON.parse(row.content));
  const comment = await earlierComment(context);
  if (!comment) return forge.addComment(subject, body);
  if (comment.body.trim() !== body.trim()) await forge.editComment(subject, comment.id, body);
  return { id: comment.id, url: comment.url };
};

/** By its id, as a discussion may have grown longer than what is listed of it. */
async function earlierComment(context: SendContext): Promise<ForgeText | undefined> {
  const { forge, subject, row, rows } = context;
  const sent = rows.find(
    ({ kind, target, remote_id: id }) => kind === row.kind && target === row.target && id !== null,
  );
  if (sent?.remote_id) {
    const found = await forge.comment(subject, sent.remote_id).catch(unlessGone);
    if (found) return found;
  }
  return ownText(await forge.comments(subject), context);
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
}
