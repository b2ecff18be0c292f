import { homedir } from 'node:os';
import { userIdentity } from '@belay/host';
import { gitIdentity, type GitIdentity, type SessionSettings } from '@belay/protocol';
import { ownerCaller, type Caller } from '../access/caller.js';

/**
 * The author of a commit with a session’s changes: the identity that the session got, else the one in the git settings
 * of the user who runs the server, for that user, else a named user. Null if none is known.
 */
export async function commitAuthor(
  { gitIdentity: own }: Pick<SessionSettings, 'gitIdentity'>,
  { id, label }: Pick<Caller, 'id' | 'label'>,
): Promise<GitIdentity | null> {
  if (own) return own;
  if (id === ownerCaller.id) return userIdentity(homedir());
  // Users of an identity provider have their mail address as their name.
  const isMail = /^[^\s@]+@[^\s@]+$/.test(label);
  const named = { name: isMail ? label.replace(/@.*/, '') : label, email: label };
  return (isMail && gitIdentity.safeParse(named).data) || null;
}
