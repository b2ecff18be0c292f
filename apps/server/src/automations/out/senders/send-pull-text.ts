import { AppError } from '@belay/protocol';
import { z } from 'zod';
import type { Sender } from './sender.js';

export const pullTextContent = z.object({
  commit: z.string(),
  /** The titles that runs gave it, and the one that it should have; null for a pull request of others. */
  title: z.object({ given: z.array(z.string()), wanted: z.string() }).nullable(),
});

/**
 * Makes the text of a pull request tell of its newest commit. What is there already is not sent again. What others wrote,
 * or changed, is left as it is.
 */
export const sendPullText: Sender = async ({ forge, subject: { number }, self, row, proofs }) => {
  const { commit, title } = pullTextContent.parse(JSON.parse(row.content));
  const text = await forge.pullText(number);
  if (text.author === null || text.author.id !== (await self()).id)
    throw new AppError('rejected', `Someone else opened #${number}: its text was left as it is.`);
  const body = await proofs.renewed(text.body, commit);
  const renamed = title ? titleAfter(text.title, title) : text.title;
  const change = {
    ...(renamed !== text.title && { title: renamed }),
    ...(body !== undefined && body !== text.body && { body }),
  };
  if (Object.keys(change).length > 0) await forge.editPull(number, change);
  if (body === undefined)
    throw new AppError(
      'rejected',
      `The proof in the text of #${number} was removed or changed, so that the text was left as it is.`,
    );
  return { id: String(number), url: text.url };
};

/** A title that someone changed stays. GitLab and Gitea say in it that it is a draft. */
function titleAfter(
  title: string,
  { given, wanted }: { given: readonly string[]; wanted: string },
): string {
  if (given.includes(title)) return wanted;
  const [, draft = '', rest = ''] = /^(Draft: |WIP: )(.*)$/s.exec(title) ?? [];
  return given.includes(rest) ? draft + wanted : title;
}
