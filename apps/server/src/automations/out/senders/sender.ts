import type { ForgeUser } from '@belay/protocol';
import type { Forge, ForgeSent, ForgeSubject, ForgeText } from '../../forges/forge.js';
import type { ProofBlocks } from '../../../publishing/proof-blocks.js';
import { markerOf } from '../run-target.js';
import type { OutgoingRow } from '../outgoing.store.js';

export interface SendContext {
  run: string;
  forge: Forge;
  subject: ForgeSubject;
  /** The user of the server’s token. */
  self(): Promise<ForgeUser>;
  row: OutgoingRow;
  /** What this server says about commits. */
  proofs: Pick<ProofBlocks, 'renewed'>;
  /** What the run has planned and sent so far. */
  rows: readonly OutgoingRow[];
}

/**
 * Sends one kind of thing. It looks first whether that is there already, because a server may be killed before it notes
 * what it sent. Throws what the forge throws.
 */
export type Sender = (context: SendContext) => Promise<ForgeSent | null>;

/** A text of this run among others: with its marker, by the user of the server’s token, as anyone may copy a marker. */
export async function ownText<T extends ForgeText>(
  texts: readonly T[],
  { run, self }: Pick<SendContext, 'run' | 'self'>,
): Promise<T | undefined> {
  const marked = texts.filter(({ body }) => body.includes(markerOf(run)));
  if (marked.length === 0) return undefined;
  const { id } = await self();
  return marked.find(({ author }) => author?.id === id);
}
