import {
  sessionLink,
  type GitIdentity,
  type PreparedPublish,
  type PublishAllowance,
  type Reproduction,
} from '@belay/protocol';
import { create } from 'zustand';
import { persist } from 'zustand/middleware';

/** The user’s choices for a push; null until the user edits what was suggested. */
export interface PublishChoice {
  message: string | null;
  title: string | null;
  description: string | null;
  author: GitIdentity | null;
  allow: readonly PublishAllowance[];
  way: 'push' | 'request';
  draft: boolean;
  reproduction: TypedReproduction;
}

/** A test to run again before the push; empty for none. */
export interface TypedReproduction {
  command: string;
  /** One path a line. */
  files: string;
  expects: string;
}

/** Null unless something is typed; the fields of what is are required. */
export function reproductionIn({
  command,
  files,
  expects,
}: TypedReproduction): Reproduction | null {
  const paths = files
    .split('\n')
    .map((path) => path.trim())
    .filter(Boolean);
  const typed = { command: command.trim(), files: paths, expects: expects.trim() };
  return typed.command || typed.expects || paths.length > 0 ? typed : null;
}

export const firstChoice: PublishChoice = {
  message: null,
  title: null,
  description: null,
  author: null,
  allow: [],
  way: 'request',
  draft: false,
  reproduction: { command: '', files: '', expects: '' },
};

/** The texts of a push: those that the user wrote, else those that follow from the commit message. */
export interface PublishTexts {
  message: string;
  title: string;
  description: string;
  author: GitIdentity;
}

export function publishTexts(
  { message: written, title, description, author }: PublishChoice,
  drafted: string,
  prepared: PreparedPublish | undefined,
): PublishTexts {
  const message = written ?? drafted;
  const [subject = '', ...rest] = message.trim().split('\n');
  const link = prepared?.sessionPage ? sessionLink(prepared.sessionPage) : '';
  return {
    message,
    title: title ?? subject.slice(0, 250),
    description: description ?? [rest.join('\n').trim(), link].filter(Boolean).join('\n\n'),
    author: author ?? useAuthor.getState().author ?? prepared?.author ?? nobody,
  };
}

const nobody: GitIdentity = { name: '', email: '' };

/** The author that the user last chose, in this browser. */
export const useAuthor = create<{ author: GitIdentity | null }>()(
  persist((): { author: GitIdentity | null } => ({ author: null }), { name: 'belay.author' }),
);
