import { AppError, type PublishedKey } from '@belay/protocol';
import { clientFor, type PrintOptions } from '../connection.js';
import { confirmed } from '../confirmed.js';
import { printList } from '../print-list.js';
import { outputTo, printResult } from '../output.js';

/** `belay keys`: one line per signing key of the server, the newest last. */
export async function listKeys(options: PrintOptions): Promise<void> {
  const published = await clientFor(options).proof.keys();
  // As `belay verify --keys` reads them.
  if (options.json) return outputTo(process.stdout).json(published);
  printList(published.keys, options, {
    empty: 'No keys yet: the server makes one for the first change that it publishes.',
    row: (key) => [key.kid, `since ${key.created.slice(0, 10)}`, stateOf(key)],
  });
}

/** `belay keys rotate`. */
export async function rotateKey(options: PrintOptions): Promise<void> {
  const key = await clientFor(options).proof.rotateKey();
  printResult(options, key, `The server signs with ${key.kid} from now on.`);
}

/** `belay keys revoke`: asks first, because what the key signed stops holding. */
export async function revokeKey(
  name: string,
  { yes, ...options }: PrintOptions & { yes?: boolean },
): Promise<void> {
  const client = clientFor(options);
  const { keys } = await client.proof.keys();
  const [found, second] = keys.filter(({ kid }) => name !== '' && kid.startsWith(name));
  if (!found) throw new AppError('not_found', `There is no signing key ${name}. See: belay keys`);
  if (second)
    throw new AppError('invalid_input', `Several keys begin with ${name}. Type more of it.`);
  const question = `Nothing that ${found.kid} ever signed will hold any longer. Revoke it?`;
  if (
    !yes &&
    !(await confirmed(question, 'Confirm with --yes: what the key signed will not hold.'))
  )
    return;
  const key = await client.proof.revokeKey(found.kid);
  printResult(options, key, `Revoked ${key.kid}.`);
}

function stateOf({ retired, revoked }: PublishedKey): string {
  if (revoked !== null) return `revoked ${revoked.slice(0, 10)}`;
  return retired === null ? 'signs' : `retired ${retired.slice(0, 10)}`;
}
