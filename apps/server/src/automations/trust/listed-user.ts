import type { ForgeUser } from '@belay/protocol';

/** Whether a list of names and ids has this user. A number is always an id: anyone may choose a number as a name. */
export const isListed = (list: readonly string[], { id, name }: ForgeUser): boolean =>
  list.some((entry) =>
    isId(entry) ? entry === id : entry.replace(/^@/, '').toLowerCase() === name.toLowerCase(),
  );

/** Whether the list has the user’s id, which cannot become another’s. */
export const isListedById = (list: readonly string[], { id }: ForgeUser): boolean =>
  list.some((entry) => isId(entry) && entry === id);

const isId = (entry: string): boolean => /^\d+$/.test(entry);

/** Bots by the host’s word, and those whose names say so. */
export const isBot = ({ isBot: says, name }: ForgeUser): boolean =>
  says || /\[bot\]$|^(?:copilot|github-actions|web-flow)$|^(?:project|group)_\d+_bot/i.test(name);

/** A user’s name in a sentence or a heading: nothing in it can end a line or begin another part. */
export const nameOfUser = (user: ForgeUser | null): string =>
  user === null
    ? 'nobody known'
    : `@${user.name.replaceAll(/[^\p{L}\p{N}._[\]-]/gu, '').slice(0, 60)}`;
