import { DoesNotHold } from '@belay/proof';
import {
  AppError,
  errorFrom,
  pluralText,
  type ChangeStatement,
  type JudgedClaim,
  type RerunReport,
} from '@belay/protocol';
import { clientFor, type Where } from '../connection.js';
import { singleLine } from '../output.js';

/**
 * Has the user’s server judge the claims of a statement again. Returns what it found, as a sentence. Throws
 * `DoesNotHold` for the opposite verdict, and `AppError` where it cannot be said.
 */
export async function repeatClaims(
  { predicate: { reruns, record } }: ChangeStatement,
  where: Where,
): Promise<string> {
  if (!reruns)
    throw new AppError(
      'invalid_input',
      'The server ran nothing for this statement, so nothing can be run again. Leave out --rerun.',
    );
  const { proof } = clientFor(where);
  await proof.evidence(record.sha256).catch((error: unknown) => {
    const { code, message } = errorFrom(error);
    if (code !== 'not_found') throw error;
    throw new AppError(
      'not_found',
      `Your server cannot run it again: ${message} Name the server that made the statement with --url.`,
    );
  });
  const now = await proof.repeatReruns(record.sha256);
  const each = reruns.claims.map((said) => comparedClaim(said, now));
  const isSame = now.image.id === reruns.image.id;
  const image = isSame ? '' : ` The image ${singleLine(now.image.name)} is another one than then.`;
  return `Run again now, ${pluralText(each.length, 'claim')}: ${each.join(', ')}.${image}`;
}

function comparedClaim(said: JudgedClaim, now: RerunReport): string {
  const { claim } = said;
  const found = now.claims.find((one) => one.claim === claim);
  if (!found) throw new AppError('internal', `The server did not run the ${claim} again.`);
  const { verdict } = found;
  const why = singleLine(found.why, Infinity);
  if (verdict === said.verdict || said.verdict === 'inconclusive') return `${claim} ${verdict}`;
  if (verdict === 'inconclusive')
    throw new AppError('unavailable', `Run again now, the ${claim} is inconclusive: ${why}`);
  throw new DoesNotHold(`Run again now, the ${claim} is ${verdict}, not ${said.verdict}: ${why}`);
}
