import { confinementOf, pluralText } from '@belay/protocol';
import { clientFor, serverUrl, type PrintOptions } from '../connection.js';
import { printResult } from '../output.js';
import { printList } from '../print-list.js';

/** `belay machines list`: the joined machines. */
export async function listMachines(options: PrintOptions): Promise<void> {
  printList(await clientFor(options).machines.list(), options, {
    empty: 'No machines have joined yet. Add one: belay machines add NAME',
    row: ({ name, host, os, arch, kind, connected, sessions }) => [
      name,
      connected ? 'connected' : 'away',
      `${confinementOf({ kind, host })} · ${host}, ${os}, ${arch} · ${pluralText(sessions.length, 'session')}`,
    ],
  });
}

/** `belay machines add`: a token with which one machine joins. */
export async function addMachine(name: string, options: PrintOptions): Promise<void> {
  const client = clientFor(options);
  const invitation = await client.machines.invite({ name });
  printResult(
    options,
    invitation,
    `Run this on ${name} within an hour; the token works once:`,
    `  belay join ${serverUrl(options)} --token ${invitation.token} --container`,
    'Without --container, agents have all permissions of the user who joins the machine.',
  );
}

/** `belay machines remove`: revokes a machine’s credential. */
export async function removeMachine(name: string, options: PrintOptions): Promise<void> {
  const client = clientFor(options);
  await client.machines.remove(name);
  printResult(options, { removed: name }, `Removed ${name}. Its agents end.`);
}
