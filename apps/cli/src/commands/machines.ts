import { confinementOf, pluralText, type Machine } from '@belay/protocol';
import { confirmed } from '../confirmed.js';
import { clientFor, serverUrl, type PrintOptions } from '../connection.js';
import { outputTo, printResult } from '../output.js';
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

/** `belay machines remove`: revokes a machine’s credential. Asks at a terminal if it runs agents. Returns the exit code. */
export async function removeMachine(
  name: string,
  options: PrintOptions & { yes?: boolean },
): Promise<number> {
  const client = clientFor(options);
  const machines = await client.machines.list();
  const machine = machines.find((one) => one.name === name || one.id === name);
  const question = machine && !options.yes && process.stdin.isTTY ? removalQuestion(machine) : null;
  if (question !== null && !(await confirmed(question, ''))) {
    outputTo(process.stderr).line('Nothing was removed.');
    return 1;
  }
  await client.machines.remove(name);
  printResult(
    options,
    { removed: name },
    `Removed ${name}. Its agents end; of their changes, the patches are kept here.`,
    `Files of sessions are still on ${name}. To remove them there: belay leave ${serverUrl(options)}`,
  );
  return 0;
}

/** Null if nothing is lost. */
function removalQuestion({ name, connected, sessions }: Machine): string | null {
  if (sessions.length === 0) return null;
  const kept = connected
    ? 'only the patches of their changes are kept'
    : 'it is not connected, so their latest changes cannot be fetched';
  return `${name} runs ${pluralText(sessions.length, 'session')}, which end: ${kept}. Remove it?`;
}
