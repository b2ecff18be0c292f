import { confinementOf } from '@belay/protocol';
import { clientFor, serverUrl, type Where } from '../connection.js';
import { outputTo } from '../output.js';
import { printList } from '../list.js';

type Options = Where & { json?: boolean };

/** `belay machines list`: the machines that joined. */
export async function listMachines(options: Options): Promise<void> {
  printList(await clientFor(options).machines.list(), options, {
    empty: 'No machines have joined yet. Add one: belay machines add NAME',
    row: ({ name, host, os, arch, kind, connected, sessions }) => [
      name,
      connected ? 'connected' : 'away',
      `${confinementOf({ kind, host })} · ${host}, ${os}, ${arch} · ${sessions.length} sessions`,
    ],
  });
}

/** `belay machines add`: a token with which one machine joins. */
export async function addMachine(name: string, options: Options): Promise<void> {
  const client = clientFor(options);
  const invitation = await client.machines.invite({ name });
  const output = outputTo(process.stdout);
  if (options.json) return output.json(invitation);
  output.line(`Run this on ${name} within an hour; the token works once:`);
  output.line(`  belay join ${serverUrl(options)} --token ${invitation.token} --container`);
  output.line(
    'Without --container, agents have all permissions of the user who joins the machine.',
  );
}

/** `belay machines remove`: revokes a machine’s credential. */
export async function removeMachine(name: string, options: Options): Promise<void> {
  const client = clientFor(options);
  await client.machines.remove(name);
  if (options.json) outputTo(process.stdout).json({ removed: name });
  else outputTo(process.stdout).line(`Removed ${name}. Its agents end.`);
}
