import { confinementOf, visibleText, pluralText } from '@belay/protocol';
import { connect, type Where } from '../connection.js';
import { outputTo } from '../output.js';

type Options = Where & { json?: boolean };

/** `belay machines list`: the machines that joined. */
export async function listMachines(options: Options): Promise<void> {
  const { client, live } = connect(options);
  live.close();
  const machines = await client.machines.list();
  const output = outputTo(process.stdout);
  if (options.json) return output.json(machines);
  if (machines.length === 0) return output.line('No machine has joined. See: belay machines add');
  for (const { name, host, os, arch, kind, connected, sessions } of machines) {
    const state = connected ? 'connected' : 'away';
    const where = visibleText(confinementOf({ kind, host }));
    const what = visibleText(`${host}, ${os}, ${arch}`);
    output.line(
      `${name.padEnd(16)} ${state.padEnd(9)} ${where} · ${what} · ${pluralText(sessions.length, 'session')}`,
    );
  }
}

/** `belay machines add`: a token with which one machine joins. */
export async function addMachine(name: string, options: Options): Promise<void> {
  const { client, live, url } = connect(options);
  live.close();
  const invitation = await client.machines.invite({ name });
  const output = outputTo(process.stdout);
  if (options.json) return output.json(invitation);
  output.line(`Run on ${name}, once and within the hour:`);
  output.line(`  belay join ${url} --token ${invitation.token} --container`);
  output.line('Without --container agents have all rights of the user who joins the machine.');
}

/** `belay machines remove`: revokes a machine’s credential. */
export async function removeMachine(name: string, options: Options): Promise<void> {
  const { client, live } = connect(options);
  live.close();
  await client.machines.remove(name);
  if (options.json) outputTo(process.stdout).json({ removed: name });
  else outputTo(process.stdout).line(`Removed ${name}. Its agents end.`);
}
