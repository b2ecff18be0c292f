import {
  AppError,
  changeStatement,
  statementMediaType,
  type ChangeStatement,
  type PublishedKey,
  type SignedEnvelope,
} from '@belay/protocol';
import { canonicalDigest } from './canonical-json.js';
import { DoesNotHold } from './does-not-hold.js';
import { fromEnvelope } from './envelope.js';

/**
 * The statement in an envelope, signed by one of these keys and consistent in itself; nothing of it is read before its
 * signature. Throws `DoesNotHold`, or `AppError` for a statement of another kind and for an unknown signer.
 */
export function verifiedStatement(
  envelope: SignedEnvelope,
  keys: readonly PublishedKey[],
): { statement: ChangeStatement; key: PublishedKey } {
  const { payload, key } = fromEnvelope(envelope, keys);
  const value = envelope.payloadType === statementMediaType ? jsonOf(payload) : undefined;
  const { data: statement } = changeStatement.safeParse(value);
  if (!statement)
    throw new AppError(
      'invalid_input',
      'This is signed, but not a statement about a change that this version knows. Use a newer belay.',
    );
  const { record: _, ...said } = (value as { predicate: Record<string, unknown> }).predicate;
  if (canonicalDigest(said) !== statement.predicate.record.sha256)
    throw new DoesNotHold('The digest of the record is not the one that the statement gives.');
  const [, { digest }] = statement.subject;
  const { change, made } = statement.predicate;
  if (digest.gitTree !== change.tree.gitTree)
    throw new DoesNotHold('The statement is about one tree and says another one.');
  if (key.retired !== null && made > key.retired)
    throw new DoesNotHold(
      `The key was retired on ${key.retired}, before this was signed (kid ${key.kid}).`,
    );
  return { statement, key };
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
