import { setTimeout as delay } from 'node:timers/promises';
import {
  AppError,
  bytesText,
  confinementOf,
  installedTexts,
  loadText,
  pluralText,
  type Machine,
  type PlaceCapacity,
} from '@belay/protocol';
import { confirmed } from '../confirmed.js';
import { clientFor, serverUrl, type PrintOptions } from '../connection.js';
import { labelsIn } from '../options.js';
import { outputTo, printResult } from '../output.js';
import { printList } from '../print-list.js';

/** `belay machines list`: the joined machines. */
export async function listMachines(options: PrintOptions): Promise<void> {
  const client = clientFor(options);
  const machines = await client.machines.list();
  printList(machines, options, {
    empty: 'No machines have joined yet. Add one: belay machines add NAME',
    row: ({ name, host, os, arch, kind, running, capacity, labels, ...machine }) => [
      name,
      stateOf(machine),
      [
        confinementOf({ kind, host }),
        loadWords(running, capacity),
        ...Object.entries(labels).map(([label, value]) => `${label}=${value}`),
        ...installedTexts({ capacity }),
        [...(kind === 'bare' ? [host] : []), os, arch].join(', '),
      ].join(' · '),
    ],
  });
  if (options.json || machines.length === 0) return;
  const own = await client.machines.own();
  const words = [loadWords(own.running, own.capacity), ...installedTexts(own)].join('; ');
  outputTo(process.stdout).line(`This server itself has ${words}.`);
}

const stateOf = ({ connected, draining }: Pick<Machine, 'connected' | 'draining'>): string =>
  `${connected ? 'connected' : 'away'}${draining ? ', draining' : ''}`;

const loadWords = (running: number, capacity: PlaceCapacity | null): string => {
  const { memoryMb = null, cpus = null } = capacity ?? {};
  return [
    loadText(running, capacity),
    ...(memoryMb === null ? [] : [bytesText(memoryMb * 2 ** 20)]),
    ...(cpus === null ? [] : [pluralText(cpus, 'CPU')]),
  ].join(', ');
};

/** `belay machines add`: a token with which one machine joins. */
export async function addMachine(
  name: string,
  options: PrintOptions & { label?: string[] },
): Promise<void> {
  const client = clientFor(options);
  const labels = labelsIn(options.label);
  const invitation = await client.machines.invite({ name, ...(labels && { labels }) });
  printResult(
    options,
    invitation,
    `Run this on ${name} within an hour; the token works once:`,
    `  belay join ${serverUrl(options)} --token ${invitation.token} --container`,
    'Without --container, agents have all permissions of the user who joins the machine.',
  );
}

/**
 * `belay machines drain`: moves the sessions of a machine, and says what became of each. Returns the exit code: 1 if some
 * could not move.
 */
export async function drainMachine(name: string, options: PrintOptions): Promise<number> {
  const client = clientFor(options);
  const output = outputTo(process.stdout);
  const { id, name: called } = await client.machines.change(name, { draining: true });
  if (!options.json) output.line(`No more sessions begin on ${called}.`);
  const told = new Map<string, string>();
  for (;;) {
    const machine = (await client.machines.list()).find((one) => one.id === id);
    if (!machine) throw new AppError('not_found', `The machine ${called} was removed.`);
    for (const { session, state, detail } of machine.moves) {
      if (options.json || told.get(session) === state) continue;
      told.set(session, state);
      output.line(`${session}  ${state}  ${detail}`);
    }
    if (machine.moves.some(({ state }) => state === 'moving')) {
      await delay(lookMs);
      continue;
    }
    const kept = machine.moves.filter(({ state }) => state === 'kept').length;
    const rest = kept === 0 ? 'It runs none now.' : `It still runs ${pluralText(kept, 'session')}.`;
    printResult(options, machine, rest, `To use it again: belay machines use ${called}`);
    return kept === 0 ? 0 : 1;
  }
}

/** Between two looks at the moves. */
const lookMs = 500;

/** `belay machines use`: lets a drained machine take sessions again. */
export async function useMachine(name: string, options: PrintOptions): Promise<void> {
  const machine = await clientFor(options).machines.change(name, { draining: false });
  printResult(options, machine, `${machine.name} takes sessions again.`);
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
