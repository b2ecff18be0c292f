import { createHash } from 'node:crypto';
import type { ForgeUser } from '@belay/protocol';

const longest = 120;

/** The key of something that happens once: the same however it is learned of. */
export const eventKey = (...parts: (string | number)[]): string => parts.map(keyPart).join(':');

/** The key of something without an id that can happen again, such as a label that is set, removed and set again. */
export const timedKey = (at: string, ...parts: (string | number)[]): string =>
  `${eventKey(...parts)}:@${seconds(at)}`;

/** GitLab does not say which comments are those of one review: it is what a user says about a merge request at one time. */
export const reviewAt = (at: string, number: number, { id }: ForgeUser): string =>
  timedKey(at, 'review', number, id);

/** The hash of a text as it was: line ends differ between what hosts send and what they return. */
export const hashOfText = (text: string): string =>
  createHash('sha256').update(text.toWellFormed().replaceAll('\r\n', '\n')).digest('hex');

const seconds = (at: string): number => Math.floor(Date.parse(at) / 1_000);

/** Names come from strangers: they are made safe for every database, and cannot imitate the parts around them. */
function keyPart(part: string | number): string {
  const text = encodeURIComponent(String(part).toWellFormed()).replaceAll('%2F', '/');
  return text.length <= longest ? text : createHash('sha256').update(text).digest('hex');
}
