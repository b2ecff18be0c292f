import { text } from 'node:stream/consumers';
import { AppError, type Scope, type UserInfo } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import {
  clientFor,
  clientOf,
  findServer,
  serverUrl,
  type PrintOptions,
  type Where,
} from '../connection.js';
import { outputTo } from '../output.js';
import { askHidden } from '../secret-input.js';
import { printList } from '../print-list.js';

/** `belay users`: one line per user. */
export async function listUsers(options: PrintOptions): Promise<void> {
  printList(await clientFor(options).users.list(), options, {
    empty:
      'No users yet: everyone logs in with a token. Add one: belay users add NAME --scope SCOPE',
    row: ({ name, scope, logsInBy, lastLogin }) => [
      name,
      scope,
      logsInBy,
      lastLogin ? `logged in ${lastLogin.slice(0, 10)}` : 'never logged in',
    ],
  });
}

/** `belay users add`. */
export async function addUser(name: string, options: Where & { scope: Scope }): Promise<void> {
  const client = clientFor(options);
  const password = await newPassword();
  const user = await client.users.create({ name, password, scope: options.scope });
  outputTo(process.stderr).line(`Added ${user.name}, who logs in at ${findServer(options).url}.`);
}

/** `belay users set`. */
export async function changeUser(
  name: string,
  options: Where & { scope?: Scope; password?: boolean },
): Promise<void> {
  if (!options.scope && !options.password)
    throw new AppError('invalid_input', 'Name what to change: --scope SCOPE or --password.');
  const client = clientFor(options);
  const { id } = await findUser(client, name);
  const password = options.password ? await newPassword() : undefined;
  await client.users.change(id, { scope: options.scope, password });
  outputTo(process.stderr).line(`Changed ${name}.`);
}

/** `belay users password`: changes the user’s own password, with the current one instead of a token. */
export async function changePassword(name: string, options: Where): Promise<void> {
  const client = clientOf({ url: serverUrl(options) });
  const isAsked = process.stdin.isTTY;
  const lines = isAsked ? [] : (await text(process.stdin)).split(/\r?\n/);
  const password = isAsked ? await askHidden('Current password: ') : (lines[0] ?? '');
  const newPassword = isAsked ? await askTwice('New password: ') : (lines[1] ?? '');
  await client.users.changePassword({ name, password, newPassword });
  outputTo(process.stderr).line(`Changed the password of ${name}.`);
}

/** `belay users remove`. */
export async function removeUser(name: string, options: Where): Promise<void> {
  const client = clientFor(options);
  const { id } = await findUser(client, name);
  await client.users.remove(id);
  outputTo(process.stderr).line(`Removed ${name}.`);
}

async function findUser(client: BelayClient, name: string): Promise<UserInfo> {
  const found = (await client.users.list()).find((user) => user.name === name.toLowerCase());
  if (found) return found;
  throw new AppError('not_found', `There is no user ${name}. See: belay users`);
}

/** Asked twice and hidden at a terminal; otherwise the first line of standard input. */
async function newPassword(): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).split(/\r?\n/)[0] ?? '';
  return askTwice('Password: ');
}

async function askTwice(prompt: string): Promise<string> {
  const first = await askHidden(prompt);
  if ((await askHidden('Repeat it: ')) === first) return first;
  throw new AppError('invalid_input', 'The two passwords differ. Try again.');
}
