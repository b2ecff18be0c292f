import { createHash } from 'node:crypto';
import type { ConsideredText, ForgeUser } from '@belay/protocol';

/** A text of a git host that a run may be given. */
export interface GivenText {
  kind: ConsideredText['kind'];
  /** What it is, in the server’s own words: “Issue #12”. */
  heading: string;
  /** Null if no user wrote it. */
  author: ForgeUser | null;
  text: string;
  /** `output` is shown as it is by the host, and not as Markdown. */
  form: 'markdown' | 'output';
  /** `author`: by the permission of its author; `data`: quoted whoever wrote it. */
  trust: 'author' | 'data';
  /** The run is about it: it is cut rather than left out. */
  isMain: boolean;
  /** The thread that a reply may answer. */
  thread?: string;
}

/** The hash by which a text is known: the same for a payload and for what the host says later. */
export const hashOfGiven = (text: string): string =>
  createHash('sha256').update(text.toWellFormed().replaceAll('\r\n', '\n')).digest('hex');
